// Allocation below the dispatcher, for backends: `at::detail::empty_generic` in a kernel for aten::empty.
#pragma once

#include <aten/core/TensorBase.h>
#include <c10/core/Allocator.h>
#include <c10/core/DispatchKeySet.h>

#include <optional>

namespace at::detail {

/// Throws "Trying to create tensor with negative dimension ...".
TORCH_API void check_size_nonnegative(c10::IntArrayRef size);

/// Bytes that a storage needs for a tensor. Throws when that overflows.
TORCH_API size_t computeStorageNbytesContiguous(c10::IntArrayRef sizes, size_t itemsize, size_t storage_offset = 0);
TORCH_API size_t
computeStorageNbytes(c10::IntArrayRef sizes, c10::IntArrayRef strides, size_t itemsize, size_t storage_offset = 0);

/// An uninitialised tensor of memory from `allocator` with the keys of a backend. Throws on negative sizes, on
/// overflow, and for the memory format Preserve.
TORCH_API TensorBase empty_generic(
    c10::IntArrayRef size,
    c10::Allocator* allocator,
    c10::DispatchKeySet ks,
    c10::ScalarType scalar_type,
    std::optional<c10::MemoryFormat> memory_format_opt);
TORCH_API TensorBase empty_strided_generic(
    c10::IntArrayRef size,
    c10::IntArrayRef stride,
    c10::Allocator* allocator,
    c10::DispatchKeySet ks,
    c10::ScalarType scalar_type);

/// Tensors in memory of the CPU, pinned where asked for, and without data: what aten::empty and aten::empty_strided do
/// for them.
TORCH_API TensorBase empty_cpu(
    c10::IntArrayRef size,
    c10::ScalarType dtype,
    bool pin_memory = false,
    std::optional<c10::MemoryFormat> memory_format_opt = std::nullopt);
TORCH_API TensorBase empty_cpu(
    c10::IntArrayRef size,
    std::optional<c10::ScalarType> dtype_opt,
    std::optional<c10::Layout> layout_opt,
    std::optional<c10::Device> device_opt,
    std::optional<bool> pin_memory_opt,
    std::optional<c10::MemoryFormat> memory_format_opt);
TORCH_API TensorBase empty_cpu(c10::IntArrayRef size, const c10::TensorOptions& options);
TORCH_API TensorBase
empty_strided_cpu(c10::IntArrayRef size, c10::IntArrayRef stride, c10::ScalarType dtype, bool pin_memory = false);
TORCH_API TensorBase empty_strided_cpu(
    c10::IntArrayRef size,
    c10::IntArrayRef stride,
    std::optional<c10::ScalarType> dtype_opt,
    std::optional<c10::Layout> layout_opt,
    std::optional<c10::Device> device_opt,
    std::optional<bool> pin_memory_opt);
TORCH_API TensorBase
empty_strided_cpu(c10::IntArrayRef size, c10::IntArrayRef stride, const c10::TensorOptions& options);
TORCH_API TensorBase empty_meta(
    c10::IntArrayRef size, c10::ScalarType dtype, std::optional<c10::MemoryFormat> memory_format_opt = std::nullopt);
TORCH_API TensorBase empty_meta(c10::IntArrayRef size, const c10::TensorOptions& options);
TORCH_API TensorBase empty_strided_meta(c10::IntArrayRef size, c10::IntArrayRef stride, c10::ScalarType dtype);
TORCH_API TensorBase
empty_strided_meta(c10::IntArrayRef size, c10::IntArrayRef stride, const c10::TensorOptions& options);

} // namespace at::detail
