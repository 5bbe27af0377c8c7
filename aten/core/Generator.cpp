#include <aten/core/Generator.h>

#include <aten/core/Tensor.h>

namespace at {

void Generator::set_state(const Tensor& new_state) {
  TORCH_CHECK(new_state.defined(), "Undefined tensor is not allowed as a generator state");
  implementation().set_state(*new_state.unsafeGetTensorImpl());
}

Tensor Generator::get_state() const {
  return Tensor::wrap_tensor_impl(implementation().get_state());
}

void Generator::graphsafe_set_state(const Generator& new_state) {
  new_state.implementation(); // there must be one
  implementation().graphsafe_set_state(new_state.getIntrusivePtr());
}

Generator Generator::graphsafe_get_state() const {
  return Generator(implementation().graphsafe_get_state());
}

void Generator::report_undefined() {
  TORCH_CHECK(
      false,
      "Expected a generator with a state, but this at::Generator is default-constructed. Make one with "
      "at::make_generator or at::detail::createCPUGenerator, or take the default one of a device with "
      "at::globalContext().defaultGenerator(device)");
}

namespace detail {

void check_rng_state(const c10::TensorImpl& new_state) {
  TORCH_CHECK_TYPE(
      new_state.layout() == c10::kStrided && new_state.device().is_cpu() &&
          new_state.dtype() == caffe2::TypeMeta::Make<uint8_t>(),
      "RNG state must be a torch.ByteTensor");
  TORCH_CHECK(new_state.is_contiguous(), "RNG state must be contiguous");
}

} // namespace detail

} // namespace at
