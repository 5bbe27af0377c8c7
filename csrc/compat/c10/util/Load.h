#pragma once

#include <c10/macros/Macros.h>

namespace c10 {

/// Reads a value from memory. A bool is read as a byte: tensors made elsewhere may hold bytes other than 0 and 1, which
/// a plain bool load may not see.
template <typename T>
C10_HOST_DEVICE inline T load(const void* src) {
  return *reinterpret_cast<const T*>(src);
}
template <>
C10_HOST_DEVICE inline bool load<bool>(const void* src) {
  return *reinterpret_cast<const unsigned char*>(src) != 0;
}
template <typename scalar_t>
C10_HOST_DEVICE inline scalar_t load(const scalar_t* src) {
  return load<scalar_t>(static_cast<const void*>(src));
}

} // namespace c10
