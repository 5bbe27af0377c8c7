#include <aten/core/dtype_dispatch.h>
#include <aten/native/random/integer_range.h>
#include <c10/core/ScalarTypeToTypeMeta.h>
#include <c10/util/BFloat16.h>
#include <c10/util/Exception.h>
#include <c10/util/Half.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

namespace at::native {
namespace {

/// What an integer becomes in T, if int64 holds that.
template <class T>
std::optional<int64_t> rounded(int64_t x) {
  const auto y = static_cast<double>(static_cast<T>(x));
  return std::abs(y) < std::ldexp(1.0, 63) ? std::optional(static_cast<int64_t>(y)) : std::nullopt;
}

/// The distance of neighbours in T about `x`, if they are further apart than 1.
template <class T>
int64_t spacing_about(int64_t x) {
  const uint64_t magnitude = x < 0 ? -static_cast<uint64_t>(x) : static_cast<uint64_t>(x);
  return int64_t{1} << std::max(0, static_cast<int>(std::bit_width(magnitude)) - std::numeric_limits<T>::digits);
}

template <class T>
int64_t first_that_stays(int64_t from) {
  if (from == std::numeric_limits<int64_t>::max()) {
    return from;
  }
  const std::optional<int64_t> next = rounded<T>(from + 1);
  return next && *next < from ? *next + spacing_about<T>(from + 1) : from;
}

template <class T>
int64_t end_that_is_not_reached(int64_t to) {
  const std::optional<int64_t> last = rounded<T>(to - 1);
  return last && *last >= to ? *last - spacing_about<T>(to - 1) : to;
}

template <class T>
void check_bound(int64_t value, const char* name) {
  const auto dtype = c10::scalarTypeToTypeMeta(c10::CppTypeToScalarType<T>::value).name();
  using Bound = std::conditional_t<std::is_integral_v<T>, int64_t, double>;
  constexpr bool is_wide = std::is_same_v<T, uint64_t>; // whose limit int64 does not hold
  const auto x = static_cast<Bound>(value);
  TORCH_CHECK(
      x >= static_cast<Bound>(std::numeric_limits<T>::lowest()) &&
          (is_wide || x <= static_cast<Bound>(std::numeric_limits<T>::max())),
      name, " is out of bounds for ", dtype);
  if constexpr (!std::is_integral_v<T>) {
    constexpr int digits = std::numeric_limits<T>::digits;
    if (std::abs(x) > std::ldexp(1.0, digits)) {
      TORCH_WARN(
          "random_: ", name, " = ", value, " is out of bounds [-(2^", digits, "), 2^", digits, "], between which ",
          dtype, " holds all integers");
    }
  }
}

} // namespace

IntegerRange random_integer_range(c10::ScalarType dtype, int64_t from, std::optional<int64_t> to) {
  if (!to && from == std::numeric_limits<int64_t>::lowest()) {
    return {};
  }
  TORCH_CHECK(
      !to || from < *to, "random_ expects 'from' to be less than 'to', but got from=", from, " >= to=", to.value_or(0));
  TORCH_CHECK(
      !c10::isComplexType(dtype), "check_random_bounds handles only integral, floating-point and boolean types; got ",
      dtype);
  IntegerRange range;
  dispatch("random_", dtype, at::kBooleans | at::kIntegral | at::kUnsigned | at::kFloating, [&]<class T> {
    int64_t first = from;
    int64_t last = 0;
    if constexpr (std::is_integral_v<T>) {
      last = to ? *to - 1
                : static_cast<int64_t>(
                      std::min<uint64_t>(std::numeric_limits<T>::max(), std::numeric_limits<int64_t>::max()));
    } else {
      first = first_that_stays<T>(from);
      const int64_t end = to ? end_that_is_not_reached<T>(*to) : (int64_t{1} << std::numeric_limits<T>::digits);
      TORCH_CHECK(
          first < end, "random_ expects 'from' casted to dtype to be less than ", to ? "'to'" : "or equal to 'to_inc'",
          " casted to dtype, but got from=", first, to ? " >= to=" : " > to_inc=", end);
      last = to ? end - 1 : end;
    }
    check_bound<T>(first, "from");
    check_bound<T>(last, "to - 1");
    range = {first, static_cast<uint64_t>(last) - static_cast<uint64_t>(first) + 1};
  });
  return range;
}

} // namespace at::native
