#pragma once

#include <c10/util/complex_math.h>
#include <c10/util/complex_type.h>

#include <istream>

namespace c10 {

/// Reads real, (real) or (real,imag).
template <typename T>
std::istream& operator>>(std::istream& in, complex<T>& value) {
  std::complex<T> read;
  in >> read;
  value = read;
  return in;
}

} // namespace c10
