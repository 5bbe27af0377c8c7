#include <aten/core/TensorBase.h>

#include <aten/core/Tensor.h>
#include <aten/core/VariableHooksInterface.h>
#include <aten/ops/clone_ops.h>
#include <aten/ops/fill__ops.h>
#include <aten/ops/to_ops.h>
#include <aten/ops/zero__ops.h>

namespace at {

namespace detail {

void throw_wrong_scalar_type(c10::ScalarType expected, c10::ScalarType actual) {
  TORCH_CHECK(false, "expected scalar type ", expected, " but found ", actual);
}

void throw_wrong_accessor_rank(int64_t expected, int64_t actual) {
  TORCH_CHECK(false, "TensorAccessor expected ", expected, " dims but tensor has ", actual);
}

void throw_packed32_too_large() {
  TORCH_CHECK(false, "numel needs to be smaller than int32_t max; otherwise, please use packed_accessor64");
}

} // namespace detail

namespace {

/// Hooks speak of at::Tensor, which adds no data members to TensorBase.
const Tensor& as_tensor(const TensorBase& base) {
  return static_cast<const Tensor&>(base);
}

} // namespace

c10::MemoryFormat TensorBase::suggest_memory_format(bool channels_last_strides_exact_match) const {
  if (layout() == c10::kStrided) {
    const auto accepts = [&](c10::MemoryFormat format, c10::IntArrayRef exact) {
      return !channels_last_strides_exact_match || strides() == exact || !is_contiguous(format);
    };
    if (impl_->is_strides_like_channels_last() &&
        accepts(c10::MemoryFormat::ChannelsLast, c10::get_channels_last_strides_2d(sizes()))) {
      return c10::MemoryFormat::ChannelsLast;
    }
    if (impl_->is_strides_like_channels_last_3d() &&
        accepts(c10::MemoryFormat::ChannelsLast3d, c10::get_channels_last_strides_3d(sizes()))) {
      return c10::MemoryFormat::ChannelsLast3d;
    }
  }
  return c10::MemoryFormat::Contiguous;
}

TensorBase TensorBase::contiguous_copy(c10::MemoryFormat memory_format) const {
  TORCH_CHECK(
      memory_format != c10::MemoryFormat::Preserve, "preserve memory format is unsupported by the contiguous operator");
  return at::_ops::clone::call(as_tensor(*this), memory_format);
}

TensorBase TensorBase::to(
    c10::TensorOptions options, bool non_blocking, bool copy, std::optional<c10::MemoryFormat> memory_format) const {
  return at::_ops::to_dtype_layout::call(
      as_tensor(*this), options.scalar_type_opt(), options.layout_opt(), options.device_opt(),
      options.pinned_memory_opt(), non_blocking, copy, memory_format);
}

const TensorBase& TensorBase::fill_(const c10::Scalar& value) const {
  at::_ops::fill__Scalar::call(const_cast<Tensor&>(as_tensor(*this)), value);
  return *this;
}

const TensorBase& TensorBase::zero_() const {
  at::_ops::zero_::call(const_cast<Tensor&>(as_tensor(*this)));
  return *this;
}

bool TensorBase::is_leaf() const {
  return impl::GetVariableHooks()->is_leaf(*this);
}
int64_t TensorBase::output_nr() const {
  return impl::GetVariableHooks()->output_nr(*this);
}
void TensorBase::set_data(const TensorBase& new_data) const {
  impl::GetVariableHooks()->set_data(*this, new_data);
}
TensorBase TensorBase::data() const {
  return impl::GetVariableHooks()->data(*this);
}
int64_t TensorBase::_version() const {
  return impl::GetVariableHooks()->_version(*this);
}
void TensorBase::retain_grad() const {
  impl::GetVariableHooks()->retain_grad(*this);
}
bool TensorBase::retains_grad() const {
  return impl::GetVariableHooks()->retains_grad(*this);
}
const TensorBase& TensorBase::requires_grad_(bool requires_grad) const {
  impl::GetVariableHooks()->requires_grad_(*this, requires_grad);
  return *this;
}
TensorBase TensorBase::tensor_data() const {
  return impl::GetVariableHooks()->tensor_data(*this);
}
TensorBase TensorBase::variable_data() const {
  return impl::GetVariableHooks()->variable_data(*this);
}
const std::shared_ptr<torch::autograd::Node>& TensorBase::grad_fn() const {
  return impl::GetVariableHooks()->grad_fn(*this);
}
std::optional<DimnameList> TensorBase::opt_names() const {
  return impl::get_opt_names(impl_.get());
}
const std::string& TensorBase::name() const {
  return impl::GetVariableHooks()->name(*this);
}
bool TensorBase::is_view() const {
  return impl::GetVariableHooks()->is_view(*this);
}
const TensorBase& TensorBase::_base() const {
  return impl::GetVariableHooks()->base(*this);
}
void TensorBase::remove_hook(unsigned pos) const {
  impl::GetVariableHooks()->remove_hook(*this, pos);
}
const TensorBase& TensorBase::_fw_grad(uint64_t level) const {
  return impl_->_fw_grad(level, *this);
}
void TensorBase::_set_fw_grad(const TensorBase& new_grad, uint64_t level, bool is_inplace_op) const {
  TORCH_CHECK(defined(), "_set_fw_grad: an undefined tensor has no tangent");
  impl_->_set_fw_grad(new_grad, *this, level, is_inplace_op);
}
unsigned TensorBase::register_hook_impl(std::function<TensorBase(const TensorBase&)> hook) const {
  return impl::GetVariableHooks()->_register_hook(*this, std::move(hook));
}

} // namespace at
