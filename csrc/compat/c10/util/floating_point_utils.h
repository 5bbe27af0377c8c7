#pragma once

#include <c10/macros/Macros.h>

#include <cstdint>

namespace c10::detail {

C10_HOST_DEVICE inline float fp32_from_bits(uint32_t w) {
  float value;
  __builtin_memcpy(&value, &w, sizeof(value));
  return value;
}
C10_HOST_DEVICE inline uint32_t fp32_to_bits(float f) {
  uint32_t bits;
  __builtin_memcpy(&bits, &f, sizeof(bits));
  return bits;
}

} // namespace c10::detail
