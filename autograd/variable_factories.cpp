#include <autograd/variable_factories.h>

namespace torch {

at::Tensor tensor(detail::TensorDataContainer data, const at::TensorOptions& options) {
  return detail::as_variable([&] { return data.convert_to_tensor(options); }, options.requires_grad());
}

at::Tensor from_blob(void* data, at::IntArrayRef sizes, at::IntArrayRef strides, const at::TensorOptions& options) {
  return detail::as_variable(
      [&] { return at::from_blob(data, sizes, strides, at::TensorOptions(options).requires_grad(std::nullopt)); },
      options.requires_grad());
}
at::Tensor from_blob(void* data, at::IntArrayRef sizes, const at::TensorOptions& options) {
  return detail::as_variable(
      [&] { return at::from_blob(data, sizes, at::TensorOptions(options).requires_grad(std::nullopt)); },
      options.requires_grad());
}

} // namespace torch
