// From the number of an element to its place in each of several strided tensors of one shape, for kernels of one's own.
#pragma once

#include <aten/iterator/TensorIterator.h>
#include <c10/macros/Macros.h>
#include <csrc/compat/aten/cuda/detail/IntegerDivider.cuh>

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

  /// The sizes of `count` dimensions, and each tensor's strides over them in bytes.
  OffsetCalculator(
      int count, const int64_t* sizes, const int64_t* const* strides, const int64_t* element_sizes = nullptr)
      : dims(count) {
    TORCH_CHECK(count <= MAX_DIMS, "tensor has too many (>", MAX_DIMS, ") dims");
    const auto unit = [element_sizes](int tensor) {
      return element_sizes != nullptr ? element_sizes[tensor] : int64_t{1};
    };
    for (int tensor = 0; tensor < NARGS; ++tensor) {
      for (int d = 0; d < count; ++d) {
        strides_[d][tensor] = static_cast<stride_t>(strides[tensor][d] / unit(tensor));
      }
    }
    for (int d = 0; d < count; ++d) {
      sizes_[d] = at::cuda::detail::IntDivider<index_t>(static_cast<index_t>(sizes[d]));
    }
  }

  C10_HOST_DEVICE offset_type get(index_t number) const {
    offset_type offsets = {};
    // What is left of the number after all dimensions but the last is the coordinate there.
    for (int d = 0; d < dims - 1; ++d) {
      const auto [rest, coordinate] = sizes_[d].divmod(number);
      add(offsets, d, coordinate);
      number = rest;
    }
    if (dims > 0) {
      add(offsets, dims - 1, number);
    }
    return offsets;
  }

  int dims;
  at::cuda::detail::IntDivider<index_t> sizes_[MAX_DIMS];
  stride_t strides_[MAX_DIMS][kCount];

 private:
  C10_HOST_DEVICE void add(offset_type& offsets, int d, index_t coordinate) const {
#pragma unroll
    for (int tensor = 0; tensor < NARGS; ++tensor) {
      offsets[tensor] += static_cast<stride_t>(coordinate) * strides_[d][tensor];
    }
  }
};

/// For dense tensors: the number itself.
template <int NARGS, typename index_t = uint32_t>
struct TrivialOffsetCalculator {
  using offset_type = std::array<index_t, (NARGS > 0 ? NARGS : 1)>;

  C10_HOST_DEVICE offset_type get(index_t number) const {
    offset_type offsets;
    for (index_t& offset : offsets) {
      offset = number;
    }
    return offsets;
  }
};

namespace at::cuda::detail {

/// Of the iterator's first N operands, in bytes or in elements.
template <int N, bool signed_strides>
OffsetCalculator<N, uint32_t, signed_strides> offsets_of(const TensorIteratorBase& iter, bool in_elements) {
  TORCH_INTERNAL_ASSERT(N <= iter.ntensors());
  struct Operand {
    const int64_t* strides[N + 1];
    int64_t element_size[N + 1];
  } operand;
  for (int i = 0; i < N; ++i) {
    operand.strides[i] = iter.strides(i).data();
    operand.element_size[i] = in_elements ? iter.element_size(i) : 1;
  }
  return {iter.ndim(), iter.shape().data(), operand.strides, operand.element_size};
}

} // namespace at::cuda::detail

/// Byte offsets of the iterator's first N operands.
template <int N, bool signed_strides = false>
OffsetCalculator<N, uint32_t, signed_strides> make_offset_calculator(const at::TensorIteratorBase& iter) {
  return at::cuda::detail::offsets_of<N, signed_strides>(iter, /*in_elements=*/false);
}

/// The same counted in elements.
template <int N, bool signed_strides = false>
OffsetCalculator<N, uint32_t, signed_strides> make_element_offset_calculator(const at::TensorIteratorBase& iter) {
  return at::cuda::detail::offsets_of<N, signed_strides>(iter, /*in_elements=*/true);
}
