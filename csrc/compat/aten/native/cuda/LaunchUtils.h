#pragma once

namespace at::native {

/// The greatest power of two that is not above n; 1 for 0.
inline int lastPow2(unsigned int n) {
  unsigned int power = 1;
  while (n >>= 1) {
    power <<= 1;
  }
  return static_cast<int>(power);
}

} // namespace at::native
