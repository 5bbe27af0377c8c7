// From the number of an element to its place in each of several strided operands. Host and device.
#pragma once

#include <aten/native/cuda/fast_division.h>

#include <cstdint>

namespace at::native::cuda {

/// Dimensions that one kernel launch handles; iterations of more are cut into several launches.
inline constexpr int kMaxDims = 12;

/// Byte offsets of `Operands` operands over a grid of up to 2^31 - 1 elements whose offsets fit 31 bits.
template <int Operands>
struct OffsetCalculator {
  struct Offsets {
    std::uint32_t of[Operands];
  };

  OffsetCalculator() = default;
  /// `sizes` from the fastest dimension on; `stride(dim, operand)` in bytes.
  template <class Sizes, class Stride>
  OffsetCalculator(int dims_, const Sizes& sizes, Stride stride) : dims(dims_) {
    for (int d = 0; d < dims; ++d) {
      size[d] = FastDivider(static_cast<std::uint32_t>(sizes[d]));
      for (int i = 0; i < Operands; ++i) {
        strides[d][i] = static_cast<std::uint32_t>(stride(d, i));
      }
    }
  }

  HOST_DEVICE Offsets get(std::uint32_t index) const {
    Offsets offsets = {};
    for (int d = 0; d < dims; ++d) {
      const std::uint32_t quotient = d + 1 == dims ? 0 : size[d].divide(index);
      const std::uint32_t rest = index - quotient * size[d].divisor;
      for (int i = 0; i < Operands; ++i) {
        offsets.of[i] += rest * strides[d][i];
      }
      index = quotient;
    }
    return offsets;
  }

  int dims;
  FastDivider size[kMaxDims];
  std::uint32_t strides[kMaxDims][Operands];
};

} // namespace at::native::cuda
