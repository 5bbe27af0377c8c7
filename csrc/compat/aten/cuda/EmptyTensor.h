// Uninitialized tensors on a CUDA device.
#pragma once

#include <aten/core/Tensor.h>
#include <aten/ops/empty.h>
#include <aten/ops/empty_strided.h>

#include <optional>

namespace at::detail {

inline TensorBase empty_cuda(IntArrayRef size, const TensorOptions& options) {
  return at::empty(size, options.device().is_cuda() ? options : options.device(c10::kCUDA));
}
inline TensorBase empty_cuda(
    IntArrayRef size,
    ScalarType dtype,
    std::optional<Device> device_opt,
    std::optional<c10::MemoryFormat> memory_format_opt) {
  return at::empty(size, TensorOptions(dtype).device(device_opt.value_or(Device(c10::kCUDA))), memory_format_opt);
}
inline TensorBase empty_cuda(
    IntArrayRef size,
    std::optional<ScalarType> dtype_opt,
    std::optional<Layout> layout_opt,
    std::optional<Device> device_opt,
    std::optional<bool> pin_memory_opt,
    std::optional<c10::MemoryFormat> memory_format_opt) {
  return at::empty(
      size, dtype_opt, layout_opt, device_opt.value_or(Device(c10::kCUDA)), pin_memory_opt, memory_format_opt);
}

inline TensorBase empty_strided_cuda(IntArrayRef size, IntArrayRef stride, const TensorOptions& options) {
  return at::empty_strided(size, stride, options.device().is_cuda() ? options : options.device(c10::kCUDA));
}
inline TensorBase empty_strided_cuda(
    IntArrayRef size, IntArrayRef stride, ScalarType dtype, std::optional<Device> device_opt) {
  return at::empty_strided(size, stride, TensorOptions(dtype).device(device_opt.value_or(Device(c10::kCUDA))));
}
inline TensorBase empty_strided_cuda(
    IntArrayRef size,
    IntArrayRef stride,
    std::optional<ScalarType> dtype_opt,
    std::optional<Layout> layout_opt,
    std::optional<Device> device_opt,
    std::optional<bool> pin_memory_opt) {
  return at::empty_strided(
      size, stride, dtype_opt, layout_opt, device_opt.value_or(Device(c10::kCUDA)), pin_memory_opt);
}

} // namespace at::detail
