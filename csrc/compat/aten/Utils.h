#pragma once

#include <c10/util/ArrayRef.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace at {

/// The N numbers of argument `name` at place `pos`; a single number stands for N equal ones.
template <size_t N>
std::array<int64_t, N> check_intlist(ArrayRef<int64_t> list, const char* name, int pos) {
  std::array<int64_t, N> result{};
  if (list.size() == 1 && N > 1) {
    result.fill(list[0]);
    return result;
  }
  TORCH_CHECK(
      list.size() == N, "Expected a list of ", N, " ints but got ", list.size(), " for argument #", pos, " '", name,
      "'");
  std::copy(list.begin(), list.end(), result.begin());
  return result;
}

} // namespace at
