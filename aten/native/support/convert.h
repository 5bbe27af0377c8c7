// Elements of one dtype into another, below the dispatcher.
#pragma once

#include <c10/core/ScalarType.h>
#include <c10/util/ArrayRef.h>
#include <c10/util/DimVector.h>

#include <cstdint>

namespace at {

class TensorBase;

namespace native {

/// dst[i] = src[i] for n elements at byte strides, converted like a C++ cast (complex to real drops the imaginary
/// part). The ranges must not overlap unless they are the same elements of one dtype. Throws for dtypes without a C++
/// type.
TORCH_API void convert_elements(
    c10::ScalarType dst_dtype,
    void* dst,
    std::int64_t dst_stride,
    c10::ScalarType src_dtype,
    const void* src,
    std::int64_t src_stride,
    std::int64_t n);

/// The same for whole CPU tensors of one shape, in parallel.
TORCH_API void convert_tensor(const TensorBase& dst, const TensorBase& src);

/// Strides of a dense tensor whose order of dimensions is that of the given strides, as empty_like(preserve_format)
/// has.
TORCH_API c10::DimVector dense_strides_like(c10::IntArrayRef sizes, c10::IntArrayRef strides, bool already_dense);

/// Whether the strides are those of a new tensor of these sizes. A tensor may be contiguous with others, in dimensions
/// of one element or without elements; its copies keep them.
TORCH_API bool has_strides_of_new(const TensorBase& tensor);

} // namespace native
} // namespace at
