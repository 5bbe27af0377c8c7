// `at::native::NAME` for code written against libtorch's kernel functions: the same as `at::NAME`, through the
// dispatcher.
#pragma once

#include <aten/Functions.h>
#include <aten/native/explicit/type_properties.h>
#include <aten/native/support/resize.h>

#include <optional>
#include <tuple>

namespace at::native {

using namespace at;
using at::result_type;

// Operators that are only methods elsewhere.
inline const Tensor& resize_(
    const Tensor& self, IntArrayRef size, std::optional<MemoryFormat> memory_format = std::nullopt) {
  return self.resize_(size, memory_format);
}
inline Tensor view(const Tensor& self, IntArrayRef size) {
  return self.view(size);
}
inline Tensor unfold(const Tensor& self, int64_t dimension, int64_t size, int64_t step) {
  return self.unfold(dimension, size, step);
}

// Kernels with names of their own that programs call: the operator chooses the kernel here.
inline bool cpu_equal(const Tensor& self, const Tensor& other) {
  return self.equal(other);
}
inline Tensor _stack_cpu(TensorList tensors, int64_t dim = 0) {
  return at::_stack(tensors, dim);
}
inline Tensor math_addr(
    const Tensor& self, const Tensor& vec1, const Tensor& vec2, const Scalar& beta = 1, const Scalar& alpha = 1) {
  return at::addr(self, vec1, vec2, beta, alpha);
}
inline Tensor math_silu_backward(const Tensor& grad_output, const Tensor& self) {
  return at::silu_backward(grad_output, self);
}
inline Tensor math_mish_backward(const Tensor& grad_output, const Tensor& self) {
  return at::mish_backward(grad_output, self);
}
/// The output, and the mean and the reciprocal standard deviation of each group.
inline std::tuple<Tensor, Tensor, Tensor> math_group_norm(
    const Tensor& input,
    const std::optional<Tensor>& weight,
    const std::optional<Tensor>& bias,
    int64_t N,
    int64_t C,
    int64_t HxW,
    int64_t group,
    double eps) {
  return at::native_group_norm(input, weight, bias, N, C, HxW, group, eps);
}
/// The output, and the mean and the reciprocal standard deviation of each row.
inline std::tuple<Tensor, Tensor, Tensor> math_native_layer_norm(
    const Tensor& input,
    IntArrayRef normalized_shape,
    const std::optional<Tensor>& weight,
    const std::optional<Tensor>& bias,
    double eps) {
  return at::native_layer_norm(input, normalized_shape, weight, bias, eps);
}

} // namespace at::native
