#pragma once

#include <c10/macros/Macros.h>

#include <cstdint>

namespace c10 {

/// Two unsigned 4-bit numbers of a quantized tensor in one byte.
struct alignas(1) quint4x2 {
  using underlying = uint8_t;
  uint8_t val_;
  quint4x2() = default;
  C10_HOST_DEVICE explicit quint4x2(uint8_t value) : val_(value) {}
};

} // namespace c10
