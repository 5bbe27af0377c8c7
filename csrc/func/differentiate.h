// Gradients of one call of a function, whatever transforms are around it.
#pragma once

#include <aten/core/Tensor.h>
#include <c10/core/GradMode.h>
#include <c10/macros/Export.h>
#include <csrc/func/levels.h>
#include <csrc/func/tree.h>

#include <string>
#include <vector>

// Note [Gradients inside of transforms]
// grad() and vjp() use the graph that autograd records anyway. Each differentiated input is given to the function as an
// alias with a node of its own (FuncInput) in its history, so that gradients of nested transforms do not mix: each one
// asks for the gradient at its own nodes.
//
// Inside of vmap the alias is made of the value below all active levels, in which the batch of each level is a
// dimension: an input that is the same for all samples is expanded to have its own gradient for each. As samples do not
// mix, the gradient of the sum over all samples holds that of each one. The cotangents of vjp may be batched at levels
// that came later (jacrev maps over the rows of a unit matrix): then the nodes' formulas work on batched gradients.
//
// Results are part of the graph around if they depend on anything else that requires grad: captured parameters, or the
// inputs of a transform around this one. Otherwise nothing is recorded of the backward pass.

namespace torch::func::detail {

/// Records one call of a function, see Note [Gradients inside of transforms].
class TORCH_API Recording {
 public:
  /// Throws for inputs that have no gradients: integers.
  Recording(const std::vector<at::Tensor>& inputs, const char* transform);

  /// What the function is called with, in the place of the inputs.
  const std::vector<at::Tensor>& aliases() const {
    return aliases_;
  }
  /// What it gave. To be called once.
  void set_outputs(const std::vector<at::Tensor>& outputs);
  /// The outputs as the caller gets them.
  std::vector<at::Tensor> results() const;
  /// Other results of the function, as the caller gets them.
  std::vector<at::Tensor> outside(const std::vector<at::Tensor>& tensors) const;

  /// Gradients of the inputs for those of the outputs. An input that plays no part gets zeros.
  std::vector<at::Tensor> pullback(const std::vector<at::Tensor>& cotangents, bool keeps_graph) const;
  /// The same, and the gradients depend on the cotangents by the graph around.
  std::vector<at::Tensor> recorded_pullback(const std::vector<at::Tensor>& cotangents) const;
  /// The gradients of the only output, which is a number.
  std::vector<at::Tensor> gradients() const;

 private:
  std::vector<at::Tensor> gradients_at_inputs(
      const std::vector<at::Tensor>& cotangents, bool keeps_graph, bool create_graph) const;
  bool depends_on_others() const;

  Levels levels_;
  std::vector<at::Tensor> inputs_; // below all levels, with the history that begins here
  std::vector<at::Tensor> aliases_;
  std::vector<at::Tensor> outputs_; // below all levels
  bool is_recorded_around_;
};

/// Gradients are recorded while the function runs.
template <class Function, class Arguments>
decltype(auto) call_recorded(Function& function, Arguments& arguments) {
  const at::AutoGradMode enabled(true);
  return std::apply(function, arguments);
}

/// Throws unless `output` is a number.
TORCH_API void check_is_number(const at::Tensor& output, const char* transform);
/// Throws unless each cotangent (or tangent) has the sizes of what it belongs to.
TORCH_API void check_like(
    const std::vector<at::Tensor>& given, const std::vector<at::Tensor>& like, const char* transform, const char* what);

} // namespace torch::func::detail
