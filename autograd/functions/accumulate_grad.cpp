#include <autograd/autograd_meta_extras.h>
#include <autograd/functions/accumulate_grad.h>

#include <aten/Functions.h>
#include <aten/core/TensorOperators.h>
#include <autograd/functions/utils.h>
#include <c10/util/Exception.h>

namespace torch::autograd {

AccumulateGrad::AccumulateGrad(Variable variable_) : Node(UINT64_MAX), variable(std::move(variable_)) {
  add_input_metadata(variable);
}

namespace {

bool is_strided(const at::Tensor& t) {
  return t.layout() == at::kStrided;
}

// A gradient becomes `.grad()` itself, without a copy, if nobody else has it, it has the right strides, and it will not
// be differentiated. A pending post-hook of the accumulator keeps one more reference. Members of sparse gradients may
// be those of a tensor that somebody has.
bool may_take(const at::Tensor& new_grad, const at::Tensor& variable, size_t references) {
  return !GradMode::is_enabled() && new_grad.use_count() <= references && is_strided(new_grad) &&
      is_strided(variable) && utils::obeys_layout_contract(new_grad, variable);
}

// A gradient that may be taken as a tensor without history. Most have none, and nobody else can tell the tensor itself
// from a detached one.
at::Tensor taken(at::Tensor&& new_grad) {
  const c10::TensorImpl& impl = *new_grad.unsafeGetTensorImpl();
  const bool plain = impl.autograd_meta() == nullptr && !impl.is_python_dispatch() && new_grad.use_count() == 1;
  return plain ? std::move(new_grad) : new_grad.detach();
}

} // namespace

variable_list AccumulateGrad::apply(variable_list&& grads) {
  check_input_variables("AccumulateGrad", grads, 1, 0);
  if (!grads[0].defined()) {
    return {};
  }
  TORCH_CHECK(!variable.grad_fn(), "leaf variable has been moved into the graph interior");
  if (!variable.requires_grad()) {
    return {};
  }
  at::Tensor new_grad = std::move(grads[0]);
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    at::Tensor& grad = variable.mutable_grad();
    if (!grad.defined()) {
      const size_t references = 1 + (!std::as_const(*this).post_hooks().empty() ? 1 : 0);
      grad = may_take(new_grad, variable, references)    ? taken(std::move(new_grad))
          : is_strided(new_grad) && is_strided(variable) ? utils::clone_obey_contract(new_grad, variable)
                                                         : new_grad.clone();
    } else if (!is_strided(grad) && is_strided(new_grad)) {
      grad = new_grad + grad; // the sum is strided, and the other order is not there
    } else if (GradMode::is_enabled()) {
      grad = grad + new_grad;
    } else {
      grad.add_(new_grad);
    }
  }
  if (const auto& hook = tensor_post_acc_grad_hooks()) {
    (*hook)(variable);
  }
  return {};
}

Node::PreHooks& AccumulateGrad::tensor_pre_hooks() {
  return impl::hooks(variable);
}

std::unique_ptr<PostAccumulateGradHook>& AccumulateGrad::tensor_post_acc_grad_hooks() const noexcept {
  static std::unique_ptr<PostAccumulateGradHook> none;
  const AutogradMeta* meta = impl::get_autograd_meta(variable);
  return meta && meta->extras_ ? meta->extras_->post_acc_grad_hook : none;
}

bool AccumulateGrad::has_hooks() const noexcept {
  const AutogradMeta* meta = impl::get_autograd_meta(variable);
  return Node::has_hooks() || (meta && meta->extras_ && !meta->extras_->hooks.empty());
}

namespace utils {

bool obeys_layout_contract(const at::Tensor& grad, const at::Tensor& variable) {
  if (grad.layout() != variable.layout()) {
    return false;
  }
  if (!variable.is_non_overlapping_and_dense()) {
    return grad.is_contiguous();
  }
  const c10::IntArrayRef sizes = grad.sizes();
  const c10::IntArrayRef got = grad.strides();
  const c10::IntArrayRef wanted = variable.strides();
  if (got.size() != wanted.size()) {
    return false;
  }
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] != 1 && got[i] != wanted[i]) {
      return false;
    }
  }
  return true;
}

at::Tensor clone_obey_contract(const at::Tensor& new_grad, const at::Tensor& variable) {
  if (!variable.is_non_overlapping_and_dense()) {
    return new_grad.clone(at::MemoryFormat::Contiguous);
  }
  if (GradMode::is_enabled()) {
    return new_grad.new_empty_strided(variable.sizes(), variable.strides()).copy_(new_grad);
  }
  at::Tensor copy = at::empty_strided(variable.sizes(), variable.strides(), new_grad.options());
  copy.copy_(new_grad);
  return copy;
}

} // namespace utils

} // namespace torch::autograd
