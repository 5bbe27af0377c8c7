#include <aten/native/cuda/pointwise_nextafter.h>

#include <aten/native/cuda/copy.h>
#include <aten/native/cuda/pointwise_loop.cuh>
#include <c10/util/complex.h>

#include <cmath>
#include <limits>

namespace at::native::cuda {

namespace {

// The neighbour of a 16-bit number, whose bit patterns are ordered like sign and magnitude. It must see the stored
// numbers: they come here as words.
template <class T>
struct NextReduced {
  HOST_DEVICE std::uint16_t operator()(std::uint16_t from, std::uint16_t to) const {
    const float x = T(from, T::from_bits()), y = T(to, T::from_bits());
    if (x != x || y != y) {
      return T(x + y).x;
    }
    if (x == y) {
      return to;
    }
    if (x == 0) {
      return y > 0 ? 0x0001 : 0x8001;
    }
    return static_cast<std::uint16_t>((x < y) == (x > 0) ? from + 1 : from - 1);
  }
};
struct NextAfter {
  template <class T>
  HOST_DEVICE T operator()(T from, T to) const {
    return ::nextafter(from, to);
  }
};

template <class Real>
struct NanToNum {
  HOST_DEVICE Real operator()(Real x) const {
    return x != x                                     ? nan
        : x == std::numeric_limits<Real>::infinity()  ? high
        : x == -std::numeric_limits<Real>::infinity() ? low
                                                      : x;
  }
  HOST_DEVICE c10::complex<Real> operator()(c10::complex<Real> z) const {
    return {(*this)(z.real()), (*this)(z.imag())};
  }
  Real nan, high, low;
};

struct Replacements {
  std::optional<double> nan, high, low;
};

template <class T, class Real>
bool replace_if(const PointwisePlan& plan, const Replacements& by) {
  if (plan.dtype != c10::CppTypeToScalarType<T>::value) {
    return false;
  }
  using Math = opmath_type<Real>;
  launch_pointwise<T, T>(
      plan,
      NanToNum<Math>{
          static_cast<Math>(by.nan.value_or(0.0)),
          by.high ? static_cast<Math>(*by.high) : static_cast<Math>(std::numeric_limits<Real>::max()),
          by.low ? static_cast<Math>(*by.low) : static_cast<Math>(std::numeric_limits<Real>::lowest())});
  return true;
}

} // namespace

void launch_nextafter(const PointwisePlan& plan) {
  switch (plan.dtype) {
    case c10::ScalarType::Half:
      return launch_pointwise<std::uint16_t, std::uint16_t, std::uint16_t>(plan, NextReduced<c10::Half>{});
    case c10::ScalarType::BFloat16:
      return launch_pointwise<std::uint16_t, std::uint16_t, std::uint16_t>(plan, NextReduced<c10::BFloat16>{});
    case c10::ScalarType::Float:
      return launch_pointwise<float, float, float>(plan, NextAfter{});
    default:
      return launch_pointwise<double, double, double>(plan, NextAfter{});
  }
}

void launch_nan_to_num(
    const PointwisePlan& plan, std::optional<double> nan, std::optional<double> posinf, std::optional<double> neginf) {
  const Replacements by{nan, posinf, neginf};
  const bool done = replace_if<c10::Half, c10::Half>(plan, by) || replace_if<c10::BFloat16, c10::BFloat16>(plan, by) ||
      replace_if<float, float>(plan, by) || replace_if<double, double>(plan, by) ||
      replace_if<c10::complex<float>, float>(plan, by) || replace_if<c10::complex<double>, double>(plan, by);
  if (!done) { // integers have nothing to replace
    launch_move(plan, c10::elementSize(plan.dtype));
  }
}

} // namespace at::native::cuda
