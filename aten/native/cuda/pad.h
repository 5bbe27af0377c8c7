// Launches of padding. With what is inside: each position of the padded image shows one position of the input. With a
// constant: each position has an element of the input or the constant.
#pragma once

#include <aten/native/cuda/OffsetCalculator.h>
#include <aten/native/cuda/image.h>
#include <c10/core/ScalarType.h>

#include <cstddef>
#include <cstdint>

struct CUstream_st;

namespace at::native::cuda {

struct PadDim {
  std::int32_t size = 1, padded = 1, before = 0;
  bool reflects = false;

  /// What position j of the padded dimension shows.
  HOST_DEVICE std::int32_t shown(std::int32_t j) const {
    const std::int32_t i = j - before;
    if (reflects) {
      return i < 0 ? -i : i < size ? i : size - 1 - (i - (size - 1)); // in an order that stays within 31 bits
    }
    return i < 0 ? 0 : i < size ? i : size - 1;
  }

  /// Positions that may show i: `count` of them, position k by showing(i, k), which is negative for none.
  HOST_DEVICE std::int32_t count(std::int32_t i) const {
    return reflects ? 3 : last(i) - first(i) + 1;
  }
  HOST_DEVICE std::int32_t showing(std::int32_t i, std::int32_t k) const {
    if (!reflects) {
      return first(i) + k;
    }
    const std::int32_t j = k == 0 ? i + before : k == 1 ? before - i : before + 2 * (size - 1) - i;
    const bool own = k == 0 || (k == 1 ? i > 0 : i < size - 1); // the edge is not repeated
    return own && j < padded ? j : -1;
  }

 private:
  HOST_DEVICE std::int32_t first(std::int32_t i) const {
    const std::int32_t j = i == 0 ? 0 : i + before;
    return j < 0 ? 0 : j;
  }
  HOST_DEVICE std::int32_t last(std::int32_t i) const {
    const std::int32_t j = i == size - 1 ? padded - 1 : i + before;
    return j < padded ? j : padded - 1;
  }
};

struct Padding {
  PadDim dim[3];
  Image inner, padded;
  CUstream_st* stream;
  std::int64_t most = kMostPixels; // of one launch
};
/// Elements of `size` bytes.
void launch_pad(const Padding& p, std::size_t size, const void* inner, void* padded);
/// Floating or complex gradients.
void launch_pad_backward(const Padding& p, c10::ScalarType dtype, const void* padded, void* inner);

/// A tensor with a constant around it, numbered in the order of its memory, which has no gaps. Dimensions fastest
/// first.
struct ConstantPadding {
  struct Dim {
    FastDivider size; // of the padded tensor
    std::int64_t before, inside, stride; // where the inside begins, its size, and the stride there
  };

  std::uint32_t n; // elements of the padded tensor: below 2^31
  int dims;
  Dim dim[kMaxDims];
  CUstream_st* stream;

  /// Where the inside has element i of the padded tensor; negative where the constant is.
  HOST_DEVICE std::int64_t inner_place(std::uint32_t i) const {
    bool inside = true;
    std::int64_t from = 0;
    for (int d = 0; d < dims; ++d) {
      const std::uint32_t quotient = dim[d].size.divide(i);
      const std::int64_t place = static_cast<std::int64_t>(i - quotient * dim[d].size.divisor) - dim[d].before;
      inside = inside && place >= 0 && place < dim[d].inside;
      from += place * dim[d].stride;
      i = quotient;
    }
    return inside ? from : -1;
  }
};
/// Elements of `size` bytes; `value` points to one.
void launch_constant_pad(
    const ConstantPadding& p, std::size_t size, const void* value, const void* inner, void* padded);

} // namespace at::native::cuda
