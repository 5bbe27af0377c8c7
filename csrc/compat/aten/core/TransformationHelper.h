// Random bits, and uniform or normal numbers, as samples of other distributions: for generators of one's own.
#pragma once

#include <c10/macros/Macros.h>
#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>
#include <csrc/compat/aten/core/DistributionsHelper.h>
#include <csrc/compat/c10/util/MathConstants.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace at::transformation {

/// Integers from `base` on, `range` of them.
template <typename T, typename V>
C10_HOST_DEVICE T uniform_int_from_to(V val, uint64_t range, int64_t base) {
  return static_cast<T>(static_cast<int64_t>(static_cast<uint64_t>(val % range) + static_cast<uint64_t>(base)));
}
/// All integers of 64 bits.
template <typename T, typename V>
C10_HOST_DEVICE T uniform_int_full_range(V val) {
  return static_cast<T>(static_cast<int64_t>(val));
}
/// The integers from 0 on that T holds, of a floating type those that it holds exactly.
template <typename T, typename V>
C10_HOST_DEVICE T uniform_int(V val) {
  if constexpr (std::is_same_v<T, bool>) {
    return (val & 1) != 0;
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(val % (static_cast<uint64_t>(std::numeric_limits<T>::max()) + 1));
  } else {
    return static_cast<T>(val % ((uint64_t{1} << std::numeric_limits<T>::digits) + 1));
  }
}

/// Numbers from `from` to below `to`.
template <typename T, typename V>
C10_HOST_DEVICE dist_acctype<T> uniform_real(V val, T from, T to) {
  constexpr uint64_t kSteps = uint64_t{1} << std::numeric_limits<T>::digits;
  const auto unit =
      static_cast<dist_acctype<T>>(val & static_cast<V>(kSteps - 1)) * (static_cast<dist_acctype<T>>(1) / kSteps);
  return unit * (to - from) + from;
}

// From here on `val` is uniform in [0, 1), but for normal and log_normal, which take a normal number.

template <typename T>
C10_HOST_DEVICE T normal(T val, T mean, T std) {
  return val * std + mean;
}
/// Without the ends in types where the tangent is not finite there.
template <typename T>
C10_HOST_DEVICE T cauchy(T val, T median, T sigma) {
  if constexpr (!std::is_same_v<T, double>) {
    constexpr T kEps = std::numeric_limits<T>::epsilon();
    val = val > T(1) - kEps ? T(1) - kEps : val < kEps ? kEps : val;
  }
  return median + sigma * static_cast<T>(std::tan(c10::pi<T> * (val - static_cast<T>(0.5))));
}
template <typename T>
C10_HOST_DEVICE T exponential(T val, T lambda) {
#if defined(__CUDACC__)
  // GPUs draw from (0, 1]; the result is never 0.
  constexpr T kHalfEps = std::numeric_limits<T>::epsilon() / 2;
  return T(-1) / lambda * (val >= T(1) - kHalfEps ? -kHalfEps : static_cast<T>(std::log(val)));
#else
  return T(-1) / lambda * static_cast<T>(std::log1p(-val));
#endif
}
template <typename T>
C10_HOST_DEVICE T geometric(T val, T p) {
  return static_cast<T>(std::ceil(std::log(val) / std::log1p(-p)));
}
template <typename T>
C10_HOST_DEVICE T log_normal(T val) {
  return static_cast<T>(std::exp(val));
}
template <typename T>
C10_HOST_DEVICE T bernoulli(T val, T p) {
  return val < p;
}

} // namespace at::transformation
