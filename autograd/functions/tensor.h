#pragma once

#include <aten/core/TensorGeometry.h>
#include <autograd/function.h>
#include <autograd/variable.h>
#include <c10/macros/Export.h>

#include <memory>

namespace torch::autograd {

/// The backward of `dst.copy_(src)`: nothing for dst, the gradient in src's dtype and device for src.
struct TORCH_API CopyBackwards : public Node {
  variable_list apply(variable_list&& grads) override;

  at::TensorOptions src_options;
};

/// The new history of a base tensor after one of its views was changed in place by an operator with node `fn`: the
/// part of the gradient under the view goes through `fn`, the rest passes by.
struct TORCH_API CopySlices : public Node {
  /// `view_fn`: how the view is made from the base; by as_strided when empty.
  CopySlices(
      const Variable& base_var, at::TensorGeometry view, std::unique_ptr<ViewFunc> view_fn, std::shared_ptr<Node> fn);

  variable_list apply(variable_list&& inputs) override;
  void release_variables() override;

  at::TensorGeometry base;
  at::TensorGeometry view;
  std::unique_ptr<ViewFunc> view_fn;
  std::shared_ptr<Node> fn;
};

/// The history of a view whose base was changed in place after the view was made.
struct AsStridedFromBase : public TraceableFunction {
  AsStridedFromBase(const Variable& base_var, const at::TensorBase& view_var);
  std::string name() const override {
    return "AsStridedBackward0";
  }
  variable_list apply(variable_list&& grads) override;

  at::TensorGeometry base;
  at::TensorGeometry view;
};

} // namespace torch::autograd
