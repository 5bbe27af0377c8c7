#pragma once

#include <c10/macros/Macros.h>

#include <cstdint>

namespace c10 {

/// An unsigned 8-bit number of a quantized tensor.
struct alignas(1) quint8 {
  using underlying = uint8_t;
  uint8_t val_;
  quint8() = default;
  C10_HOST_DEVICE explicit quint8(uint8_t value) : val_(value) {}
};

} // namespace c10
