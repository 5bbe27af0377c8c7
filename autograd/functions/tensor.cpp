#include <autograd/functions/tensor.h>

#include <aten/Functions.h>
#include <autograd/engine.h>
#include <autograd/formulas/shared.h>
#include <autograd/functions/utils.h>
#include <autograd/saved_variable.h>

namespace torch::autograd {

variable_list CopyBackwards::apply(variable_list&& grads) {
  check_input_variables("CopyBackwards", grads, 1, -1, /*allow_undefined=*/true);
  at::Tensor grad = std::move(grads[0]);
  variable_list grad_inputs(2);
  if (!grad.defined()) {
    return grad_inputs;
  }
  if (task_should_compute_output(0)) {
    grad_inputs[0] = at::zeros_like(grad, at::MemoryFormat::Preserve);
  }
  if (task_should_compute_output(1)) {
    const bool src_is_complex = c10::isComplexType(c10::typeMetaToScalarType(src_options.dtype()));
    if (!src_is_complex && grad.is_complex()) {
      grad = at::real(grad);
    }
    grad_inputs[1] = grad.to(src_options);
  }
  return grad_inputs;
}

CopySlices::CopySlices(
    const Variable& base_var, at::TensorGeometry view_, std::unique_ptr<ViewFunc> view_fn_, std::shared_ptr<Node> fn_)
    : base(base_var), view(std::move(view_)), view_fn(std::move(view_fn_)), fn(std::move(fn_)) {
  // The edges are fn's, but for the first, which went to the view and must go to the base.
  add_input_metadata(base_var);
  const size_t num_outputs = fn->num_outputs();
  next_edges_.reserve(num_outputs);
  add_next_edge(impl::gradient_edge(base_var));
  for (size_t i = 1; i < num_outputs; ++i) {
    add_next_edge(fn->next_edge(i));
  }
}

namespace {

// The part of the gradient of a base that belongs to its view.
at::Tensor part_under_view(const CopySlices& node, const at::Tensor& grad) {
  const at::TensorGeometry& base = node.base;
  const at::TensorGeometry& view = node.view;
  if (!node.view_fn) {
    return grad.as_strided(view.sizes(), view.strides(), view.storage_offset() - base.storage_offset());
  }
  at::Tensor slice = (*node.view_fn)(grad);
  if (slice.sizes() != view.sizes() || slice.strides() != view.strides()) {
    // The view's sizes were changed in place after it was made. Its elements may be of another size than the base's.
    const int64_t offset_of_base = base.storage_offset() * grad.element_size() / slice.element_size();
    slice = slice.as_strided(view.sizes(), view.strides(), view.storage_offset() - offset_of_base);
  }
  return slice;
}

} // namespace

variable_list CopySlices::apply(variable_list&& inputs) {
  check_input_variables("CopySlices", inputs, 1, -1, /*allow_undefined=*/true);
  const at::Tensor grad = std::move(inputs[0]);
  variable_list grad_inputs(num_outputs());
  if (!grad.defined()) {
    return grad_inputs;
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  TORCH_CHECK(fn, ERR_BACKWARD_TWICE);

  at::Tensor result = grad.new_empty_strided(base.sizes(), base.strides());
  result.copy_(grad);
  at::Tensor grad_slice = part_under_view(*this, result);

  variable_list grads;
  {
    // fn's own first edge leads to the view, which this backward pass does not know.
    const ComputeAllOutputsGuard guard;
    // A copy, because grad_slice is written below and fn may keep what it gets.
    grads = (*fn)({grad_slice.clone(at::MemoryFormat::Contiguous)});
  }
  for (size_t i = 0; i < grads.size() && i < grad_inputs.size(); ++i) {
    if (!task_should_compute_output(i)) {
      continue;
    }
    if (i != 0) {
      grad_inputs[i] = std::move(grads[i]);
      continue;
    }
    // The view's new contents may not depend on the old ones at all.
    if (grads[0].defined()) {
      grad_slice.copy_(grads[0]);
    } else {
      grad_slice.zero_();
    }
    grad_inputs[0] = std::move(result);
  }
  return grad_inputs;
}

void CopySlices::release_variables() {
  const std::lock_guard<std::mutex> lock(mutex_);
  fn = nullptr;
}

AsStridedFromBase::AsStridedFromBase(const Variable& base_var, const at::TensorBase& view_var)
    : TraceableFunction(collect_next_edges(base_var)), base(base_var), view(view_var) {
  add_input_metadata(at::Tensor(view_var));
}

variable_list AsStridedFromBase::apply(variable_list&& grads) {
  variable_list grad_inputs(1);
  if (grads[0].defined() && task_should_compute_output(0)) {
    grad_inputs[0] =
        formulas::as_strided_backward(std::move(grads[0]), base, view.sizes(), view.strides(), view.storage_offset());
  }
  return grad_inputs;
}

} // namespace torch::autograd
