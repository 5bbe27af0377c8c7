#pragma once

#include <c10/macros/Macros.h>

#include <cstdint>

namespace c10 {

/// A signed 32-bit number of a quantized tensor.
struct alignas(4) qint32 {
  using underlying = int32_t;
  int32_t val_;
  qint32() = default;
  C10_HOST_DEVICE explicit qint32(int32_t value) : val_(value) {}
};

} // namespace c10
