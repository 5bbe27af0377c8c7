#include <aten/native/cuda/choice.h>

#include <aten/native/cuda/copy.h>
#include <aten/native/cuda/pointwise_loop.cuh>
#include <c10/util/complex.h>

#include <cmath>
#include <limits>

namespace at::native::cuda {

namespace {

struct alignas(16) Word16 {
  std::uint64_t parts[2];
};

// Masks are bytes: uint8 conditions hold other values than 0 and 1.
struct Choose {
  static constexpr bool kMoves = true;
  template <class W>
  HOST_DEVICE W operator()(std::uint8_t condition, W a, W b) const {
    return condition != 0 ? a : b;
  }
};

template <class T>
bool where_if(const PointwisePlan& plan) {
  if (plan.dtype != c10::CppTypeToScalarType<T>::value) {
    return false;
  }
  launch_pointwise_mixed<T, std::uint8_t, T, T>(plan, Choose{});
  return true;
}
template <class... Ts>
void where_one_of(const PointwisePlan& plan) {
  static_cast<void>((where_if<Ts>(plan) || ...));
}

template <class W>
struct FillMasked {
  static constexpr bool kMoves = true;
  HOST_DEVICE W operator()(std::uint8_t mask, W x) const {
    return mask != 0 ? value : x;
  }
  W value;
};

template <class W>
void launch_fill(const PointwisePlan& plan, const void* value) {
  FillMasked<W> fill;
  std::memcpy(&fill.value, value, sizeof(W));
  launch_pointwise<W, std::uint8_t, W>(plan, fill);
}

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
    return x != x ? nan
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

void launch_where(const PointwisePlan& plan, std::size_t size) {
  switch (size) {
    case 1:
      return launch_pointwise<std::uint8_t, std::uint8_t, std::uint8_t, std::uint8_t>(plan, Choose{});
    case 2:
      return launch_pointwise<std::uint16_t, std::uint8_t, std::uint16_t, std::uint16_t>(plan, Choose{});
    case 4:
      return launch_pointwise<std::uint32_t, std::uint8_t, std::uint32_t, std::uint32_t>(plan, Choose{});
    case 8:
      return launch_pointwise<std::uint64_t, std::uint8_t, std::uint64_t, std::uint64_t>(plan, Choose{});
    default:
      return launch_pointwise<Word16, std::uint8_t, Word16, Word16>(plan, Choose{});
  }
}

void launch_where_mixed(const PointwisePlan& plan) {
  where_one_of<
      bool, std::uint8_t, std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint16_t, std::uint32_t, std::uint64_t,
      c10::Half, c10::BFloat16, float, double, c10::complex<c10::Half>, c10::complex<float>, c10::complex<double>>(plan);
}

void launch_masked_fill(const PointwisePlan& plan, std::size_t size, const void* value) {
  switch (size) {
    case 1:
      return launch_fill<std::uint8_t>(plan, value);
    case 2:
      return launch_fill<std::uint16_t>(plan, value);
    case 4:
      return launch_fill<std::uint32_t>(plan, value);
    case 8:
      return launch_fill<std::uint64_t>(plan, value);
    default:
      return launch_fill<Word16>(plan, value);
  }
}

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
