// The flight recorder's entries, and their forms.
#pragma once

#include <c10/core/ScalarType.h>
#include <csrc/distributed/c10d/Work.h>

#include <map>
#include <string>
#include <vector>

namespace c10d::detail {

/// Sizes and dtypes of some tensors.
struct TraceTensors {
  static constexpr size_t kKept = 2;
  static constexpr int64_t kDims = 4;
  struct One {
    c10::ScalarType dtype = c10::ScalarType::Undefined;
    uint8_t dims = 0;
    int64_t sizes[kDims] = {};
  };
  size_t count = 0;
  uint8_t kept = 0;
  One tensors[kKept];
};

struct TraceEntry {
  uint64_t id = 0;
  size_t group = 0;
  uint64_t number = 0;
  OpType type = OpType::UNKNOWN;
  const char* title = "";
  int64_t timeout_ms = 0;
  int64_t created = 0; // nanoseconds since 1970; 0: not yet
  int64_t started = 0;
  int64_t completed = 0;
  TraceTensors inputs;
  TraceTensors outputs;
};

struct TraceGroup {
  std::string engine;
  std::string name;
  std::string description;
  int rank = 0;
  int size = 0;
  uint64_t enqueued = 0;
  uint64_t started = 0;
  uint64_t completed = 0;
};

struct Trace {
  std::vector<TraceEntry> entries;
  std::map<size_t, TraceGroup> groups;
};

/// A copy of what is recorded.
Trace snapshot_of_trace();
/// "allreduce number 3 of [16, 16] Float: completed in 0.2 ms".
std::string words_of(const TraceEntry& entry);

} // namespace c10d::detail
