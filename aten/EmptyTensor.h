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
TORCH_API size_t computeStorageNbytes(
    c10::IntArrayRef sizes, c10::IntArrayRef strides, size_t itemsize, size_t storage_offset = 0);

/// An uninitialised tensor of memory from `allocator` with the keys of a backend. Throws on negative sizes, on overflow,
/// and for the memory format Preserve.
TORCH_API TensorBase empty_generic(
    c10::IntArrayRef size, c10::Allocator* allocator, c10::DispatchKeySet ks, c10::ScalarType scalar_type,
    std::optional<c10::MemoryFormat> memory_format_opt);
TORCH_API TensorBase empty_strided_generic(
    c10::IntArrayRef size, c10::IntArrayRef stride, c10::Allocator* allocator, c10::DispatchKeySet ks,
    c10::ScalarType scalar_type);

} // namespace at::detail
