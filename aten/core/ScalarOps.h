// Numbers as tensors.
#pragma once

#include <aten/core/Tensor.h>
#include <aten/ops/scalar_tensor.h>
#include <c10/core/Scalar.h>

namespace at::detail {

/// A 0-dim CPU tensor, without the dispatcher. Any other device is an error.
TORCH_API Tensor
scalar_tensor_static(const Scalar& s, std::optional<ScalarType> dtype_opt, std::optional<Device> device_opt);

} // namespace at::detail

namespace c10 {

/// A 0-dim tensor with the number's own dtype: bool, int64, double or complex double.
inline at::Tensor scalar_to_tensor(const Scalar& s, const Device device = at::kCPU) {
  return device == at::kCPU ? at::detail::scalar_tensor_static(s, s.type(), at::kCPU)
                            : at::scalar_tensor(s, at::TensorOptions(s.type()).device(device));
}

} // namespace c10

namespace at::native {

/// The same, marked as a number, so that it yields to tensors in type promotion.
inline Tensor wrapped_scalar_tensor(const Scalar& scalar, const Device device = at::kCPU) {
  Tensor tensor = scalar_to_tensor(scalar, device);
  tensor.unsafeGetTensorImpl()->set_wrapped_number(true);
  return tensor;
}

} // namespace at::native
