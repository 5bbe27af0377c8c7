#include <aten/core/ScalarOps.h>

#include <aten/ops/scalar_tensor_ops.h>

namespace at::detail {

Tensor scalar_tensor_static(const Scalar& s, std::optional<ScalarType> dtype_opt, std::optional<Device> device_opt) {
  TORCH_CHECK(
      !device_opt || device_opt->is_cpu(), "scalar_tensor_static: makes CPU tensors only, got device ",
      device_opt.value_or(kCPU), "; use at::scalar_tensor for other devices");
  return at::_ops::scalar_tensor::redispatch(
      c10::DispatchKeySet(c10::DispatchKey::CPU), s, dtype_opt, std::nullopt, kCPU, std::nullopt);
}

} // namespace at::detail
