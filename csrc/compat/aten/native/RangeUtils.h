// How many elements at::arange gives, for kernels of ranges written outside of the library.
#pragma once

#include <c10/core/Scalar.h>
#include <c10/util/Exception.h>
#include <c10/util/safe_numerics.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace at::native {

/// Throws unless bounds and step are finite, and the step leads from `start` to `end`.
inline void arange_check_bounds(const c10::Scalar& start, const c10::Scalar& end, const c10::Scalar& step) {
  const double first = start.to<double>();
  const double last = end.to<double>();
  const double by = step.to<double>();
  TORCH_CHECK(std::isfinite(by), "step must be finite but got ", by);
  TORCH_CHECK(by != 0, "step must be nonzero");
  TORCH_CHECK(std::isfinite(first) && std::isfinite(last), "unsupported range: ", first, " -> ", last);
  TORCH_CHECK(
      by > 0 ? last >= first : last <= first, "upper bound and lower bound inconsistent with step sign: ", first,
      " -> ", last, " by ", by);
}

/// Elements from `start` up to `end`, without it: whole numbers are counted exactly where `scalar_t` is int64_t, all
/// others in double, so that every device finds the same number.
template <typename scalar_t>
int64_t compute_arange_size(const c10::Scalar& start, const c10::Scalar& end, const c10::Scalar& step) {
  arange_check_bounds(start, end, step);
  if constexpr (std::is_same_v<scalar_t, int64_t>) {
    if (start.isIntegral(false) && end.isIntegral(false) && step.isIntegral(false)) {
      const int64_t by = step.to<int64_t>();
      int64_t span = 0;
      TORCH_CHECK_VALUE(by != 0, "step must be nonzero");
      TORCH_CHECK(
          !c10::sub_overflows(end.to<int64_t>(), start.to<int64_t>(), &span) &&
              !(span == std::numeric_limits<int64_t>::min() && by == -1),
          "invalid size, possible overflow? (arange from ", start, " to ", end, " by ", step, ")");
      return span / by + (span % by != 0 ? 1 : 0);
    }
  }
  const double count = std::ceil((end.to<double>() - start.to<double>()) / step.to<double>());
  // 2^63 itself is a double and no int64_t.
  TORCH_CHECK(
      count >= 0 && count < static_cast<double>(std::numeric_limits<int64_t>::max()),
      "invalid size, possible overflow? (arange of ", count, " elements)");
  return static_cast<int64_t>(count);
}

} // namespace at::native
