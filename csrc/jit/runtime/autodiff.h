// Derivatives of graphs as graphs: for programs that look at them, or compile them. What runs here is recorded by
// autograd, operator by operator.
#pragma once

#include <csrc/jit/ir/ir.h>

#include <cstddef>
#include <memory>
#include <vector>

namespace torch::jit {

using value_list = std::vector<Value*>;

/// A graph f and the graph df that multiplies gradients of its outputs by its Jacobian, with what joins them.
///
/// df takes, in this order: gradients of the outputs of f in df_input_vjps, the inputs of f in
/// df_input_captured_inputs, the outputs of f in df_input_captured_outputs. It gives one tuple of gradients: of the
/// inputs of f in df_output_vjps. A gradient may be an undefined tensor, which stands for zeros.
struct Gradient {
  explicit operator bool() const {
    return df != nullptr;
  }
  std::shared_ptr<Graph> f;
  std::shared_ptr<Graph> df;
  /// Outputs of f that its caller gets; the others are kept for df.
  size_t f_real_outputs = 0;
  /// Outputs of f that df takes gradients of. One that is only kept has a gradient as well, where df is differentiated.
  std::vector<size_t> df_input_vjps;
  std::vector<size_t> df_input_captured_inputs;
  std::vector<size_t> df_input_captured_outputs;
  std::vector<size_t> df_output_vjps;
};

/// Takes the graph, which is null afterwards, and makes it compute what its derivatives need, too. Throws if a node of
/// it is not differentiable. Values count as requiring gradients unless their type says that they do not.
TORCH_API Gradient differentiate(std::shared_ptr<Graph>& graph);

/// Whether differentiate() knows the node's operator: see csrc/jit/runtime/gradient_table.cpp.
TORCH_API bool isDifferentiable(const Node* n);
/// Whether it knows all of the graph's.
TORCH_API bool isDifferentiable(Graph& g);
/// Whether the value is the gradient of nothing: an undefined tensor.
TORCH_API bool isZero(Value* v);

} // namespace torch::jit
