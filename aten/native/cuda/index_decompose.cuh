// Numbers written with several digits, as kernels walk through images: an image, a depth, a row and a column.
#pragma once

#include <cstdint>

namespace at::native::cuda {

/// A number written with four digits, the last of which is the fastest.
struct Digits {
  int x[4];
};

/// How many values each digit has.
struct Radix {
  int of[4];

  __device__ Digits digits(std::int64_t i) const {
    Digits d;
#pragma unroll
    for (int k = 3; k > 0; --k) {
      const std::int64_t q = i <= INT32_MAX ? static_cast<std::uint32_t>(i) / static_cast<std::uint32_t>(of[k])
                                            : i / of[k]; // 64 bits are slow
      d.x[k] = static_cast<int>(i - q * of[k]);
      i = q;
    }
    d.x[0] = static_cast<int>(i);
    return d;
  }
  /// d += by
  __device__ void advance(Digits& d, const Digits& by) const {
    int carry = 0;
#pragma unroll
    for (int k = 3; k > 0; --k) {
      const int sum = d.x[k] + by.x[k] + carry;
      carry = sum >= of[k] ? 1 : 0;
      d.x[k] = carry != 0 ? sum - of[k] : sum;
    }
    d.x[0] += by.x[0] + carry;
  }
  __device__ bool contains(const Digits& d) const {
    return d.x[0] < of[0];
  }
};

} // namespace at::native::cuda
