#include <aten/core/Generator.h>

#include <aten/core/Tensor.h>

namespace at {

void Generator::set_state(const Tensor& new_state) {
  TORCH_CHECK(new_state.defined(), "Undefined tensor is not allowed as a generator state");
  impl_->set_state(*new_state.unsafeGetTensorImpl());
}

Tensor Generator::get_state() const {
  return Tensor::wrap_tensor_impl(impl_->get_state());
}

void Generator::graphsafe_set_state(const Generator& new_state) {
  impl_->graphsafe_set_state(new_state.getIntrusivePtr());
}

Generator Generator::graphsafe_get_state() const {
  return Generator(impl_->graphsafe_get_state());
}

namespace detail {

void check_rng_state(const c10::TensorImpl& new_state) {
  TORCH_CHECK_TYPE(new_state.layout() == c10::kStrided && new_state.device().is_cpu() &&
          new_state.dtype() == caffe2::TypeMeta::Make<uint8_t>(),
      "RNG state must be a torch.ByteTensor");
  TORCH_CHECK(new_state.is_contiguous(), "RNG state must be contiguous");
}

} // namespace detail

} // namespace at
