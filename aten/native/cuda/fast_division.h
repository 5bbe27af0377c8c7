// Division of 32-bit numbers by a divisor that a whole kernel shares, as a multiplication and a shift.
//
// With s = ceil(log2 d) and m = floor(2^32 (2^s - d) / d) + 1, n / d is (mulhi(n, m) + n) >> s for all n < 2^31
// (Granlund and Montgomery 1994); the sum cannot overflow below that bound.
#pragma once

#include <c10/macros/Macros.h>

#include <cstdint>

namespace at::native::cuda {

struct FastDivider {
  FastDivider() = default;
  explicit FastDivider(std::uint32_t d) : divisor(d) {
    for (shift = 0; shift < 32 && (std::uint64_t{1} << shift) < divisor; ++shift) {
    }
    const std::uint64_t one = 1;
    magic = static_cast<std::uint32_t>(((one << 32) * ((one << shift) - divisor)) / divisor + 1);
  }

  HOST_DEVICE std::uint32_t divide(std::uint32_t n) const {
#if defined(__CUDA_ARCH__)
    return (__umulhi(n, magic) + n) >> shift;
#else
    return static_cast<std::uint32_t>(((std::uint64_t{n} * magic >> 32) + n) >> shift);
#endif
  }

  std::uint32_t divisor;
  std::uint32_t magic;
  std::uint32_t shift;
};

} // namespace at::native::cuda
