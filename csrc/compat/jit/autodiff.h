// Derivatives of graphs: for programs that include libtorch's header. Here autograd records what runs, and no graph has
// a graph of its derivatives.
#pragma once

#include <csrc/jit/ir/ir.h>

#include <cstddef>
#include <memory>
#include <vector>

namespace torch::jit {

using value_list = std::vector<Value*>;

/// A graph and the graph of its derivatives, with what joins them.
struct Gradient {
  explicit operator bool() const {
    return df != nullptr;
  }
  std::shared_ptr<Graph> f;
  std::shared_ptr<Graph> df;
  /// Outputs of f that its caller gets; the others are kept for df.
  size_t f_real_outputs = 0;
  /// Outputs of f that df takes gradients of.
  std::vector<size_t> df_input_vjps;
  /// Inputs and outputs of f that df takes behind these.
  std::vector<size_t> df_input_captured_inputs;
  std::vector<size_t> df_input_captured_outputs;
  /// Inputs of f that df gives gradients of.
  std::vector<size_t> df_output_vjps;
};

/// False: no derivative is a graph.
inline bool isDifferentiable(const Node* /*node*/) {
  return false;
}
inline bool isDifferentiable(Graph& /*graph*/) {
  return false;
}

/// Throws, as it does in libtorch for graphs that are not differentiable.
inline Gradient differentiate(std::shared_ptr<Graph>& graph) {
  TORCH_CHECK(
      false,
      "differentiate: graphs are not differentiated, autograd records what runs; run the graph on tensors that "
      "require gradients and call backward(). The graph was:\n",
      *graph);
}

} // namespace torch::jit
