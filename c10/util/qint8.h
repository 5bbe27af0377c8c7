#pragma once

#include <c10/macros/Macros.h>

#include <cstdint>

namespace c10 {

/// A signed 8-bit number of a quantized tensor.
struct alignas(1) qint8 {
  using underlying = int8_t;
  int8_t val_;
  qint8() = default;
  C10_HOST_DEVICE explicit qint8(int8_t value) : val_(value) {}
};

} // namespace c10
