// Circular and hyperbolic functions and their inverses of Vec<float>, some of Vec<double> too; erfinv, hypot and fmod.
//
// Largest error in ulp, as in math.h:
//
//               float    double
//   tan         2.37     1.93     (huge arguments: libm)
//   asin, acos  1.97     2.03
//   atan        1.47     1.25
//   atan2       1.77
//   sinh, cosh  1.76
//   asinh       1.63
//   acosh       1.83
//   atanh       1.90
//   erfinv      2.92
//   hypot       0.51
//   fmod        0        0
#pragma once

#include <aten/native/vec/math.h>

namespace at::vec {
inline namespace CPU_CAPABILITY {

namespace detail {

// s / c, or -c / s in odd quadrants.
template <class T, int N>
VEC_INLINE Vec<T, N> tan_of(Vec<T, N> s, Vec<T, N> c, Vec<int_same<T>, N> quadrant) {
  using I = Vec<int_same<T>, N>;
  const I even = (quadrant & I(1)) == I(0);
  const Vec<T, N> quotient = select(even, s, c) / select(even, c, s);
  const I odd_sign = (quadrant & I(1)) << (8 * int(sizeof(T)) - 1);
  return bit_cast<T>(bit_cast<int_same<T>>(quotient) ^ odd_sign);
}

// asin(x) / x - 1 for |x| <= 1/2, z = x^2
template <int N>
VEC_INLINE Vec<float, N> asin_series(Vec<float, N> z) {
  return z * polynomial(z, 0.1666675401f, 0.07495237321f, 0.04547784866f, 0.02414297216f, 0.0422278788f);
}

template <int N>
VEC_INLINE Vec<double, N> asin_series(Vec<double, N> z) {
  return z *
      polynomial(
             z, 0.1666666666666537797, 0.07500000000344162469, 0.04464285682254132164, 0.03038195937183187396,
             0.02237175249662066522, 0.0173597874683088735, 0.01388442797268516301, 0.01217445700615732773,
             0.006505512091795996081, 0.0195891849781453351, -0.01631905709251389126, 0.03197675897835533126);
}

// atan(x) / x - 1 for |x| <= 1, z = x^2
template <int N>
VEC_INLINE Vec<float, N> atan_series(Vec<float, N> z) {
  return z *
      polynomial_by_pairs(
             z, -0.3333329909f, 0.199985484f, -0.1426424279f, 0.1095219099f, -0.08403463907f, 0.05795780188f,
             -0.03117803354f, 0.01091469768f, -0.001793640602f);
}

template <int N>
VEC_INLINE Vec<double, N> atan_series(Vec<double, N> z) {
  return z *
      polynomial_by_pairs(
             z, -0.333333333333330926, 0.1999999999995544206, -0.1428571428280266953, 0.1111111101366425849,
             -0.09090907119486178577, 0.07692281189291786295, -0.06666415016733607351, 0.05880592661347024547,
             -0.05253805999991827476, 0.04723294791085465341, -0.04221721338357148799, 0.03669359367285975904,
             -0.02998566679654775808, 0.02208525941787998509, -0.01399508293021734789, 0.007263423466569375232,
             -0.002919375503862665399, 0.0008434965650356944898, -0.0001547996903298655101, 0.00001348954966661268635);
}

// pi/2 and what is left of it.
template <class T>
inline constexpr T kHalfPi = static_cast<T>(1.57079632679489661923);
template <class T>
inline constexpr T kHalfPiRest =
    sizeof(T) == 4 ? static_cast<T>(-4.37113882867e-08) : static_cast<T>(6.12323399573676603587e-17);

} // namespace detail

template <int N>
VEC_INLINE Vec<double, N> tan(Vec<double, N> x) {
  const auto near = [](Vec<double, N> a) {
    const auto parts = detail::trig_reduce(a);
    return select(
        a == Vec<double, N>(0.0), a,
        detail::tan_of(detail::sine_of(parts), detail::cosine_of(parts), parts.quadrant)); // keeps -0
  };
  return detail::near_or_far(x, detail::kTrigLimit, near, [](double a) { return std::tan(a); });
}

template <int N>
VEC_INLINE Vec<float, N> tan(Vec<float, N> x) {
#ifdef __FMA__
  const auto near = [](Vec<float, N> a) {
    const auto parts = detail::trig_reduce(a);
    return select(
        a == Vec<float, N>(0.0f), a, detail::tan_of(detail::sine_of(parts), detail::cosine_of(parts), parts.quadrant));
  };
  return detail::near_or_far(x, detail::kShortTrigLimit, near, [](float a) { return std::tan(a); });
#else
  return detail::each_lane(x, [](float a) { return std::tan(a); });
#endif
}

/// From 1/2 on by the half angle: pi/2 - 2 asin(sqrt((1 - x) / 2)).
template <class T, int N>
VEC_INLINE Vec<T, N> asin(Vec<T, N> x) {
  using V = Vec<T, N>;
  const V a = abs(x), half(T(0.5));
  const auto far = a > half;
  const V z = select(far, half * (V(T(1)) - a), a * a);
  const V s = select(far, sqrt(z), a);
  const V rest = s * detail::asin_series(z);
  const V y = select(far, (V(detail::kHalfPi<T>) - (s + s)) - ((rest + rest) - V(detail::kHalfPiRest<T>)), s + rest);
  return copysign(y, x);
}

template <class T, int N>
VEC_INLINE Vec<T, N> acos(Vec<T, N> x) {
  using V = Vec<T, N>;
  const V a = abs(x), half(T(0.5)), zero(T(0));
  const auto far = a > half;
  const V z = select(far, half * (V(T(1)) - a), a * a);
  const V s = select(far, sqrt(z), x);
  const V rest = s * detail::asin_series(z);
  const V y = s + rest;
  const V wide = y + y;
  const V near_one = select(x < zero, (V(2 * detail::kHalfPi<T>) - wide) + V(2 * detail::kHalfPiRest<T>), wide);
  // The sum that cancels little last.
  return select(far, near_one, V(detail::kHalfPi<T>) - (s - (V(detail::kHalfPiRest<T>) - rest)));
}

template <class T, int N>
VEC_INLINE Vec<T, N> atan(Vec<T, N> x) {
  using V = Vec<T, N>;
  const V a = abs(x), one(T(1));
  const auto far = a > one;
  const V t = select(far, one / a, a);
  const V rest = t * detail::atan_series(t * t);
  const V y = select(far, V(detail::kHalfPi<T>) - (t - (V(detail::kHalfPiRest<T>) - rest)), t + rest);
  return copysign(y, x);
}

template <int N>
VEC_INLINE Vec<float, N> atan2(Vec<float, N> y, Vec<float, N> x) {
  using V = Vec<float, N>;
  using I = Vec<std::int32_t, N>;
  const V zero(0.0f), one(1.0f);
  const V ax = abs(x), ay = abs(y);
  const auto steep = ay > ax;
  V large = select(steep, ay, ax), small = select(steep, ax, ay);
  // Both far up or down: their quotient must neither overflow nor lose the digits of denormals.
  const V scale = select(large < V(0x1p-100f), V(0x1p40f), select(large > V(0x1p100f), V(0x1p-40f), one));
  large = large * scale;
  small = small * scale;
  V t = small / large;
  t = select(small == large, one, t); // both infinite
  t = select(large == zero, zero, t);
  V angle = t + t * detail::atan_series(t * t);
  const I left = bit_cast<std::int32_t>(x) >> 31; // of -0 too
  const V flat = select(left, (V(2 * detail::kHalfPi<float>) - angle) + V(2 * detail::kHalfPiRest<float>), angle);
  const V turned = select(left, -angle, angle);
  angle = select(steep, (V(detail::kHalfPi<float>) - turned) + V(detail::kHalfPiRest<float>), flat);
  angle = select((x != x) | (y != y), x + y, angle);
  return copysign(angle, y);
}

namespace detail {

// e^a / 2 for a >= 0; it overflows where sinh and cosh do.
template <int N>
VEC_INLINE Vec<float, N> half_exp(Vec<float, N> a) {
  constexpr int bits = kExpFractionBits<float, N>;
  return exp_join<bits>(exp_reduce<bits>(min(Vec<float, N>(90.0f), a)), Vec<float, N>(0.5f));
}

// log1p of a plus sqrt of something can overflow under the root: from here on it is the logarithm of twice the
// argument.
inline constexpr float kHugeRoot = 1e9f, kLn2 = 0.693147181f;

} // namespace detail

template <int N>
VEC_INLINE Vec<float, N> sinh(Vec<float, N> x) {
  using V = Vec<float, N>;
  const V a = abs(x), z = x * x;
  const V near_zero =
      x + x * (z * detail::polynomial(z, 0.1666666649f, 0.008333350594f, 0.0001983606666f, 2.817438498e-6f));
  const V h = detail::half_exp(a);
  const V y = select(a < V(1.0f), near_zero, copysign(h - V(0.25f) / h, x));
  return select(x == x, y, x);
}

template <int N>
VEC_INLINE Vec<float, N> cosh(Vec<float, N> x) {
  using V = Vec<float, N>;
  const V h = detail::half_exp(abs(x));
  return select(x == x, h + V(0.25f) / h, x);
}

template <int N>
VEC_INLINE Vec<float, N> asinh(Vec<float, N> x) {
  using V = Vec<float, N>;
  const V a = abs(x), one(1.0f);
  const auto huge = a > V(detail::kHugeRoot);
  const V aa = a * a;
  const V y = log1p(select(huge, a, a + aa / (one + sqrt(one + aa))));
  return copysign(select(huge, y + V(detail::kLn2), y), x);
}

template <int N>
VEC_INLINE Vec<float, N> acosh(Vec<float, N> x) {
  using V = Vec<float, N>;
  const V t = x - V(1.0f);
  const auto huge = x > V(detail::kHugeRoot);
  const V y = log1p(select(huge, x, t + sqrt((t + t) + t * t)));
  return select(huge, y + V(detail::kLn2), select(x >= V(1.0f), y, V(std::numeric_limits<float>::quiet_NaN())));
}

template <int N>
VEC_INLINE Vec<float, N> atanh(Vec<float, N> x) {
  using V = Vec<float, N>;
  const V a = abs(x), one(1.0f);
  return copysign(V(0.5f) * log1p((a + a) / (one - a)), x);
}

/// x times a polynomial in -log(1 - x^2), or in its root far out.
template <int N>
VEC_INLINE Vec<float, N> erfinv(Vec<float, N> x) {
  using V = Vec<float, N>;
  const V one(1.0f), inf(std::numeric_limits<float>::infinity()), a = abs(x);
  const V w = -log((one - a) * (one + a));
  const V t = w - V(2.5f);
  V p = detail::polynomial(
      t, 1.501409359f, 0.2466402862f, -0.004177386796f, -0.001252741918f, 0.0002183444437f, -4.963323406e-6f,
      -3.462705124e-6f, 4.661651939e-7f, 2.323264844e-8f, -8.790656134e-9f);
  const auto far = w > V(5.0f);
  if (any(far)) {
    const V u = sqrt(w) - V(3.0f);
    p = select(
        far,
        detail::polynomial(
            u, 2.832976806f, 1.001674912f, 0.00944500758f, -0.007636389859f, 0.005689406345f, -0.003601643542f,
            0.001478651384f, -4.867318226e-5f, -0.0003043639987f, 0.0001100991062f),
        p);
  }
  return select(a == one, copysign(inf, x), x * p); // NaN beyond 1, from the logarithm
}

/// sqrt(x^2 + y^2)
template <int N>
VEC_INLINE Vec<float, N> hypot(Vec<float, N> x, Vec<float, N> y) {
  using V = Vec<float, N>;
  const auto half = [](auto a, auto b) {
    const auto p = convert<double>(a), q = convert<double>(b);
    return convert<float>(sqrt(p * p + q * q));
  };
  const V r = detail::join(half(detail::low(x), detail::low(y)), half(detail::high(x), detail::high(y)));
  const V inf(std::numeric_limits<float>::infinity());
  return select((abs(x) == inf) | (abs(y) == inf), inf, r); // beside a NaN too
}

/// x - trunc(x / y) y, exact, with the sign of x.
template <class T, int N>
VEC_INLINE Vec<T, N> fmod(Vec<T, N> x, Vec<T, N> y) {
#ifdef __FMA__
  using V = Vec<T, N>;
  const V a = abs(x), b = abs(y), zero(T(0));
  // A quotient that is off by one at most, so that the rest is exact; not where it is long, or a rest could be
  // denormal.
  constexpr int kDigits = std::numeric_limits<T>::digits;
  const V longest(static_cast<T>(int_same<T>{1} << (kDigits - 2)));
  const V smallest(std::numeric_limits<T>::min() * static_cast<T>(int_same<T>{1} << kDigits));
  const V inf(std::numeric_limits<T>::infinity());
  const V quotient = a / b;
  if (__builtin_expect(!any(!((quotient < longest) & (b >= smallest) & (b < inf) & (a < inf))), 1)) {
    V rest = detail::fused(-trunc(quotient), b, a);
    rest = select(rest < zero, rest + b, rest);
    rest = select(rest >= b, rest - b, rest);
    return copysign(rest, x);
  }
#endif
  return detail::each_lane(x, y, [](T p, T q) { return std::fmod(p, q); });
}

} // namespace CPU_CAPABILITY
} // namespace at::vec
