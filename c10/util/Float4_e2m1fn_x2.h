#pragma once

#include <c10/macros/Macros.h>

#include <cstdint>

namespace c10 {

/// Two 4-bit floats (2 exponent bits, 1 mantissa bit) in one byte, as raw bits.
struct alignas(1) Float4_e2m1fn_x2 {
  using underlying = uint8_t;
  uint8_t val_;
  Float4_e2m1fn_x2() = default;
  C10_HOST_DEVICE explicit constexpr Float4_e2m1fn_x2(uint8_t value) : val_(value) {}
  friend constexpr bool operator==(Float4_e2m1fn_x2 a, Float4_e2m1fn_x2 b) {
    return a.val_ == b.val_;
  }
  friend constexpr bool operator!=(Float4_e2m1fn_x2 a, Float4_e2m1fn_x2 b) {
    return a.val_ != b.val_;
  }
};

} // namespace c10
