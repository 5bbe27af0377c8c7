#pragma once

#include <c10/util/Exception.h>

#include <cstdint>
#include <functional>
#include <iterator>
#include <numeric>
#include <type_traits>

namespace c10 {

/// Sum of integers, in int64_t.
template <typename It, std::enable_if_t<std::is_integral_v<typename std::iterator_traits<It>::value_type>, int> = 0>
int64_t sum_integers(It begin, It end) {
  return std::accumulate(begin, end, int64_t{0});
}
template <typename C, std::enable_if_t<std::is_integral_v<typename C::value_type>, int> = 0>
int64_t sum_integers(const C& container) {
  return sum_integers(container.begin(), container.end());
}

/// Product of integers, in int64_t; 1 for none.
template <typename It, std::enable_if_t<std::is_integral_v<typename std::iterator_traits<It>::value_type>, int> = 0>
int64_t multiply_integers(It begin, It end) {
  return std::accumulate(begin, end, int64_t{1}, std::multiplies<>());
}
template <typename C, std::enable_if_t<std::is_integral_v<typename C::value_type>, int> = 0>
int64_t multiply_integers(const C& container) {
  return multiply_integers(container.begin(), container.end());
}

/// Product of the dimensions from `k` on.
template <typename C, std::enable_if_t<std::is_integral_v<typename C::value_type>, int> = 0>
int64_t numelements_from_dim(int k, const C& dims) {
  TORCH_INTERNAL_ASSERT_DEBUG_ONLY(k >= 0);
  if (k > static_cast<int>(dims.size())) {
    return 1;
  }
  return multiply_integers(std::next(dims.cbegin(), k), dims.cend());
}
/// Product of the dimensions before `k`.
template <typename C, std::enable_if_t<std::is_integral_v<typename C::value_type>, int> = 0>
int64_t numelements_to_dim(int k, const C& dims) {
  TORCH_INTERNAL_ASSERT(0 <= k && k <= static_cast<int>(dims.size()));
  return multiply_integers(dims.cbegin(), std::next(dims.cbegin(), k));
}
/// Product of the dimensions between `k` and `l`, the larger one excluded.
template <typename C, std::enable_if_t<std::is_integral_v<typename C::value_type>, int> = 0>
int64_t numelements_between_dim(int k, int l, const C& dims) {
  const int first = k < l ? k : l, last = k < l ? l : k;
  TORCH_INTERNAL_ASSERT(0 <= first && last <= static_cast<int>(dims.size()));
  return multiply_integers(std::next(dims.cbegin(), first), std::next(dims.cbegin(), last));
}

} // namespace c10
