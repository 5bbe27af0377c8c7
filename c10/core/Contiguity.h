#pragma once

#include <c10/macros/Export.h>
#include <c10/util/ArrayRef.h>
#include <c10/util/safe_numerics.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

namespace c10 {

// Facts about a tensor's strides. A dimension of size 1 may have any stride, and so may a tensor without elements.

/// Row-major without gaps.
template <typename T>
inline bool _compute_contiguous(ArrayRef<T> sizes, ArrayRef<T> strides, T numel) {
  if (numel == 0) {
    return true;
  }
  T expected = 1;
  for (size_t d = sizes.size(); d-- > 0;) {
    if (sizes[d] != 1) {
      if (strides[d] != expected) {
        return false;
      }
      expected = impl::multiply_wrapping(expected, sizes[d]);
    }
  }
  return true;
}

namespace impl {

// Whether the dimensions, from the fastest to the slowest in `order`, lie without gaps.
template <typename T, size_t N>
inline bool dense_in_order(ArrayRef<T> sizes, ArrayRef<T> strides, const int (&order)[N]) {
  T expected = 1;
  for (const int d : order) {
    if (sizes[static_cast<size_t>(d)] != 1) {
      if (strides[static_cast<size_t>(d)] != expected) {
        return false;
      }
      expected = impl::multiply_wrapping(expected, sizes[static_cast<size_t>(d)]);
    }
  }
  return true;
}

} // namespace impl

/// NHWC without gaps; false unless there are four dimensions.
template <typename T>
inline bool _compute_channels_last_contiguous_2d(ArrayRef<T> sizes, ArrayRef<T> strides) {
  return sizes.size() == 4 && impl::dense_in_order(sizes, strides, {1, 3, 2, 0});
}

/// NDHWC without gaps; false unless there are five dimensions.
template <typename T>
inline bool _compute_channels_last_contiguous_3d(ArrayRef<T> sizes, ArrayRef<T> strides) {
  return sizes.size() == 5 && impl::dense_in_order(sizes, strides, {1, 4, 3, 2, 0});
}

/// Whether the elements fill their memory once, in some order of the dimensions.
template <typename T>
inline bool _compute_non_overlapping_and_dense(ArrayRef<T> sizes, ArrayRef<T> strides) {
  const size_t dim = sizes.size();
  if (dim == 1) {
    return sizes[0] < 2 || strides[0] == 1;
  }
  // Insertion sort of the dimensions by stride; those of size 0 and 1 go last.
  constexpr size_t kInline = 8;
  size_t inline_order[kInline];
  std::vector<size_t> heap_order(dim > kInline ? dim : 0);
  size_t* order = dim > kInline ? heap_order.data() : inline_order;
  const auto before = [&](size_t a, size_t b) {
    if (sizes[a] < 2) {
      return false;
    }
    return sizes[b] < 2 || strides[a] < strides[b];
  };
  for (size_t i = 0; i < dim; ++i) {
    size_t at = i;
    for (; at > 0 && before(i, order[at - 1]); --at) {
      order[at] = order[at - 1];
    }
    order[at] = i;
  }
  T expected = 1;
  for (size_t i = 0; i < dim; ++i) {
    const size_t d = order[i];
    if (sizes[d] < 2) {
      return true;
    }
    if (strides[d] != expected) {
      return false;
    }
    expected = impl::multiply_wrapping(expected, sizes[d]);
  }
  return true;
}

/// The facts that TensorImpl keeps, in one pass.
struct ContiguityFlags {
  bool contiguous;
  bool channels_last_contiguous;
  bool channels_last_3d_contiguous;
  bool channels_last;
  bool channels_last_3d;
  bool non_overlapping_and_dense;
};

/// Sizes are not negative and their product is `numel`, so the strides of a tensor with elements are compared exactly.
C10_API ContiguityFlags compute_contiguity(IntArrayRef sizes, IntArrayRef strides, int64_t numel);

/// Product of the sizes. Throws if one is negative or the product does not fit into 63 bits.
C10_API int64_t checked_numel(IntArrayRef sizes);

/// Bytes that a contiguous tensor needs, with `storage_offset` elements in front. Throws if a size is negative or 64
/// bits do not hold the number ("Storage size calculation overflowed...").
C10_API size_t checked_storage_nbytes_contiguous(IntArrayRef sizes, size_t itemsize, size_t storage_offset = 0);

/// Bytes from the start of the storage to the end of the last element; zero for a tensor without elements. Throws as
/// checked_storage_nbytes_contiguous does; strides must not be negative.
C10_API size_t
checked_storage_nbytes(IntArrayRef sizes, IntArrayRef strides, size_t itemsize, size_t storage_offset = 0);

} // namespace c10
