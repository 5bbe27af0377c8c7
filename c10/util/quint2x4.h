#pragma once

#include <c10/macros/Macros.h>

#include <cstdint>

namespace c10 {

/// Four unsigned 2-bit numbers of a quantized tensor in one byte.
struct alignas(1) quint2x4 {
  using underlying = uint8_t;
  uint8_t val_;
  quint2x4() = default;
  C10_HOST_DEVICE explicit quint2x4(uint8_t value) : val_(value) {}
};

} // namespace c10
