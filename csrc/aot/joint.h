// Forward and backward pass of a recorded function as one graph.
#pragma once

#include <csrc/aot/call_inputs.h>
#include <csrc/functionalize/functionalize.h>
#include <csrc/functionalize/meta_call.h>

#include <cstdint>
#include <vector>

namespace torch::aot {

/// A joint graph. It takes the inputs of the function and then tangents, the gradients of what it made.
struct Joint {
  functionalize::Functional functional;
  size_t num_inputs = 0;
  /// The results of the function, of `roots` and inputs.
  std::vector<functionalize::ResultSpec> results;
  /// Which results of the graph are the memories that the results lie in, and whether each requires grad.
  std::vector<size_t> roots;
  std::vector<bool> root_requires_grad;
  /// Inputs that were written to and have a history by that; positions in `functional.written`.
  std::vector<size_t> tracked_writes;
  /// Numbers of the inputs of the graph that are tangents: of roots that require grad, then of tracked writes.
  std::vector<size_t> tangents;
  /// Inputs that get gradients, and the gradients, of results and inputs of the graph.
  std::vector<size_t> grad_inputs;
  std::vector<functionalize::ResultSpec> grads;
  /// By id of a node of the graph: whether the backward pass made it, and the checkpoint that it is in (0 for none).
  std::vector<bool> is_backward;
  std::vector<uint32_t> checkpoints;

  bool has_backward() const {
    return !tangents.empty();
  }
};

/// Runs the function and its backward pass without data. `histories` are those of the inputs before the function ran,
/// `checkpoints` those of the recording. Throws c10::Error, saying why, where that cannot be.
Joint trace_joint(
    const CallInputs& inputs,
    const std::vector<functionalize::History>& histories,
    const std::vector<uint32_t>& checkpoints);

} // namespace torch::aot
