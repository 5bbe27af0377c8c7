// What a profile found. Private to the sources of the profiler.
#pragma once

#include <csrc/profiler/profile.h>
#include <csrc/profiler/session.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace torch::profiler {

struct Profile::Results {
  /// Takes what the threads have recorded so far. Calls that still run end now.
  explicit Results(const Session& session);

  std::vector<ProfileEvent> events;
  /// With the thread.
  std::vector<std::pair<uint64_t, MemoryEvent>> memory;
  int64_t outside_cpu_bytes = 0;
  size_t dropped = 0;
  bool has_shapes = false;
  bool has_memory = false;

 private:
  void link_forward();
  void compute_self_times();
};

/// "[[2, 3], []]".
std::string text_of_shapes(const std::vector<std::vector<int64_t>>& shapes);

} // namespace torch::profiler
