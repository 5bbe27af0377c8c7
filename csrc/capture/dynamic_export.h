// Traces at several sizes, for export_().
#pragma once

#include <csrc/capture/export.h>
#include <csrc/capture/recorder.h>
#include <csrc/capture/unify.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace torch::capture {

/// One run of the function, recorded.
struct Trace {
  std::vector<c10::IValue> inputs;
  std::shared_ptr<fx::Graph> graph; // empty where the function threw
  std::vector<std::pair<std::string, at::Tensor>> references;
  std::vector<std::pair<std::string, c10::IValue>> objects; // of bound classes, which are attributes too
  Shape results;
  // What it threw, and where.
  std::string error;
  std::string failed_operator;
  std::vector<int64_t> failed_sizes;
};

/// Runs the function on inputs, of which it changes nothing that remains. Throws what cannot be captured.
using Tracer = std::function<Trace(const std::vector<c10::IValue>& inputs)>;

/// A size that is to be dynamic.
struct WantedSize {
  size_t input;
  int64_t dim;
  std::string name; // for messages: "size 0 of 'x'"
  std::optional<int64_t> min, max;
};

/// The sizes that the options name. Throws where there is no such argument or size, or where it cannot be dynamic.
std::vector<WantedSize> wanted_sizes(const std::vector<DynamicDim>& dynamic, const Leaves& inputs);

/// The graph for all sizes, from `first` and further runs at other sizes. Throws c10::Error naming the operator that
/// fixes a size.
std::shared_ptr<fx::Graph> trace_dynamic(
    const Trace& first, const std::vector<WantedSize>& wanted, const Tracer& tracer);

} // namespace torch::capture
