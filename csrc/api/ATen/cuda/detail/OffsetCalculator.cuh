// From the number of an element to its place in each of several strided tensors of one shape, for kernels of one's own.
#pragma once

#include <ATen/cuda/detail/IntegerDivider.cuh>
#include <ATen/native/TensorIterator.h>
#include <c10/macros/Macros.h>

#include <array>
#include <cstdint>
#include <type_traits>

constexpr int MAX_DIMS = 25;

/// The first dimension is the fastest. Offsets count bytes, or elements where `element_sizes` are given.
template <int NARGS, typename index_t = uint32_t, bool signed_strides = false>
struct OffsetCalculator {
  using stride_t = std::conditional_t<signed_strides, std::make_signed_t<index_t>, index_t>;
  /// One for each tensor; there is one too many where there are none.
  static constexpr int kCount = NARGS > 0 ? NARGS : 1;
  using offset_type = std::array<stride_t, kCount>;

  OffsetCalculator(
      int dims, const int64_t* sizes, const int64_t* const* strides, const int64_t* element_sizes = nullptr)
      : dims(dims) {
    TORCH_CHECK(dims <= MAX_DIMS, "tensor has too many (>", MAX_DIMS, ") dims");
    for (int d = 0; d < dims; ++d) {
      sizes_[d] = at::cuda::detail::IntDivider<index_t>(static_cast<index_t>(sizes[d]));
      for (int arg = 0; arg < NARGS; ++arg) {
        strides_[d][arg] = static_cast<stride_t>(strides[arg][d] / (element_sizes == nullptr ? 1 : element_sizes[arg]));
      }
    }
  }

  C10_HOST_DEVICE offset_type get(index_t linear_idx) const {
    offset_type offsets = {};
#pragma unroll
    for (int d = 0; d < MAX_DIMS; ++d) {
      if (d == dims) {
        break;
      }
      const auto place = sizes_[d].divmod(linear_idx);
      linear_idx = place.div;
#pragma unroll
      for (int arg = 0; arg < NARGS; ++arg) {
        offsets[arg] += place.mod * strides_[d][arg];
      }
    }
    return offsets;
  }

  int dims;
  at::cuda::detail::IntDivider<index_t> sizes_[MAX_DIMS];
  stride_t strides_[MAX_DIMS][kCount];
};

/// For dense tensors: the number itself.
template <int NARGS, typename index_t = uint32_t>
struct TrivialOffsetCalculator {
  using offset_type = std::array<index_t, (NARGS > 0 ? NARGS : 1)>;

  C10_HOST_DEVICE offset_type get(index_t linear_idx) const {
    offset_type offsets = {};
#pragma unroll
    for (int arg = 0; arg < NARGS; ++arg) {
      offsets[arg] = linear_idx;
    }
    return offsets;
  }
};

/// Byte offsets of the iterator's first N operands.
template <int N, bool signed_strides = false>
OffsetCalculator<N, uint32_t, signed_strides> make_offset_calculator(const at::TensorIteratorBase& iter) {
  TORCH_INTERNAL_ASSERT(N <= iter.ntensors());
  const int64_t* strides[N > 0 ? N : 1];
  for (int i = 0; i < N; ++i) {
    strides[i] = iter.strides(i).data();
  }
  return OffsetCalculator<N, uint32_t, signed_strides>(iter.ndim(), iter.shape().data(), strides);
}

/// The same counted in elements.
template <int N, bool signed_strides = false>
OffsetCalculator<N, uint32_t, signed_strides> make_element_offset_calculator(const at::TensorIteratorBase& iter) {
  TORCH_INTERNAL_ASSERT(N <= iter.ntensors());
  const int64_t* strides[N > 0 ? N : 1];
  int64_t element_sizes[N > 0 ? N : 1];
  for (int i = 0; i < N; ++i) {
    strides[i] = iter.strides(i).data();
    element_sizes[i] = iter.element_size(i);
  }
  return OffsetCalculator<N, uint32_t, signed_strides>(iter.ndim(), iter.shape().data(), strides, element_sizes);
}
