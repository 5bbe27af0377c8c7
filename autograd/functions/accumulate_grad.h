#pragma once

#include <autograd/function.h>
#include <autograd/variable.h>
#include <c10/macros/Export.h>

#include <memory>

namespace torch::autograd {

/// The end of the graph: adds the gradient to `.grad()` of a leaf.
struct TORCH_API AccumulateGrad : public Node {
  explicit AccumulateGrad(Variable variable);

  variable_list apply(variable_list&& grads) override;

  /// The hooks of a leaf belong to the tensor, whichever accumulator it has.
  PreHooks& tensor_pre_hooks() override;
  std::unique_ptr<PostAccumulateGradHook>& tensor_post_acc_grad_hooks() const noexcept override;
  bool has_hooks() const noexcept override;

  Variable variable;
};

namespace utils {

/// Whether a gradient has the strides that `.grad()` of `variable` should have: the variable's own where they are
/// dense, else contiguous ones.
TORCH_API bool obeys_layout_contract(const at::Tensor& grad, const at::Tensor& variable);

/// A copy of `new_grad` with those strides.
TORCH_API at::Tensor clone_obey_contract(const at::Tensor& new_grad, const at::Tensor& variable);

} // namespace utils

} // namespace torch::autograd
