// Elementary functions of Vec<float> and Vec<double>.
//
// Largest error in ulp over a sweep of all floats (float column) and over millions of random values (double column),
// against long double libm, the worst of the three instruction sets; test/aten/vec_math_test.cpp repeats it. `libm`
// marks a loop over the lanes.
//
//               float    double
//   exp, exp2   1.02     1.05 (exp2: libm)
//   expm1       1.65     2.3
//   log         0.76     0.82
//   log1p       0.76     0.85
//   log2, log10 1.49     0.71
//   sin, cos    0.88     0.78     (huge arguments: libm)
//   tanh        1.29     2.6
//   erf         1.36     1.81 (v2: libm)
//   erfc        5.8      libm
//   pow         0.51     libm
//
// All are right at 0, infinities, NaN and denormals. Polynomials are Chebyshev fits of the stated remainder, except the
// fdlibm sets for log and sin/cos in double.
#pragma once

#include <aten/native/vec/Vec.h>
#include <aten/native/vec/erf_table.h>
#include <aten/native/vec/normal_table.h>
#include <aten/native/vec/tanh_table.h>

#include <cmath>
#include <limits>

namespace at::vec {
inline namespace CPU_CAPABILITY {

namespace detail {

template <class V>
VEC_INLINE V polynomial(V, typename V::value_type c) {
  return V(c);
}
// c0 + c1 x + c2 x^2 + ...
template <class V, class... C>
VEC_INLINE V polynomial(V x, typename V::value_type c0, C... rest) {
  return polynomial(x, static_cast<typename V::value_type>(rest)...) * x + V(c0);
}

// The same by pairs of terms (Estrin's scheme): a chain of log2(terms) steps, where the plain one is as long as the
// polynomial.
template <int Count, class V>
VEC_INLINE V join_pairs(V x, V* terms) {
  if constexpr (Count == 1) {
    return terms[0];
  } else {
    for (int i = 0; i + 1 < Count; i += 2) {
      terms[i / 2] = terms[i + 1] * x + terms[i];
    }
    if constexpr (Count % 2 != 0) {
      terms[Count / 2] = terms[Count - 1];
    }
    return join_pairs<(Count + 1) / 2>(x * x, terms);
  }
}
template <class V, class... C>
VEC_INLINE V polynomial_by_pairs(V x, C... coefficients) {
  V terms[] = {V(static_cast<typename V::value_type>(coefficients))...};
  return join_pairs<sizeof...(C)>(x, terms);
}

template <class T>
struct Traits;
template <>
struct Traits<float> {
  static constexpr int mantissa = 23;
  static constexpr int bias = 127;
  // ln 2 in two parts; the first has trailing zeros so that products with small integers are exact.
  static constexpr float ln2_hi = 0x1.62e4p-1f, ln2_lo = 0x1.7f7d1cp-20f;
  static constexpr float exp_low = -104.0f, exp_high = 89.0f;
};
template <>
struct Traits<double> {
  static constexpr int mantissa = 52;
  static constexpr int bias = 1023;
  static constexpr double ln2_hi = 6.93147180369123816490e-01, ln2_lo = 1.90821492927058770002e-10;
  static constexpr double exp_low = -746.0, exp_high = 710.0;
};

// Adding 1.5 * 2^mantissa leaves a whole number in the low bits: double has no vector conversion to int64 before
// AVX-512.
template <class T>
inline constexpr T kMagic = static_cast<T>(int_same<T>{3} << (Traits<T>::mantissa - 1));

// 2^n for whole n that is in the range of normal exponents.
template <class T, int N>
VEC_INLINE Vec<T, N> power_of_two(Vec<T, N> n) {
  using I = int_same<T>;
  const Vec<T, N> magic(kMagic<T>);
  const Vec<I, N> whole = bit_cast<I>(n + magic) - bit_cast<I>(magic);
  return bit_cast<T>((whole + Vec<I, N>(Traits<T>::bias)) << Traits<T>::mantissa);
}

// e^r - 1 - r for |r| <= ln(2) / 2
template <int N>
VEC_INLINE Vec<float, N> exp_rest(Vec<float, N> r) {
  return polynomial(r, 0.5f, 0.1666657599f, 0.04166655336f, 0.008363345811f, 0.00139263919f) * (r * r);
}
template <int N>
VEC_INLINE Vec<double, N> exp_rest(Vec<double, N> r) {
  return polynomial(
             r, 0.5000000000000001051, 0.1666666666666666747, 0.04166666666662317038, 0.0083333333333299882,
             0.001388888891769060354, 0.0001984126986342035026, 0.0000248015205570178279, 2.755726789174553036e-6,
             2.762043894863441865e-7, 2.510065503606659005e-8) *
      (r * r);
}

#ifdef __FMA__
// a b + c, rounded once. Where it must be: the compiler fuses this, and may otherwise not.
template <class T, int N>
VEC_INLINE Vec<T, N> fused(Vec<T, N> a, Vec<T, N> b, Vec<T, N> c) {
#ifdef VEC_AVX512
  if constexpr (sizeof(T) * N == 64) {
    if constexpr (sizeof(T) == 4) {
      return Vec<T, N>((typename Vec<T, N>::raw)_mm512_fmadd_ps((__m512)a.v, (__m512)b.v, (__m512)c.v));
    } else {
      return Vec<T, N>((typename Vec<T, N>::raw)_mm512_fmadd_pd((__m512d)a.v, (__m512d)b.v, (__m512d)c.v));
    }
  } else
#endif
      if constexpr (sizeof(T) * N == 32 && sizeof(T) == 4) {
    return Vec<T, N>((typename Vec<T, N>::raw)_mm256_fmadd_ps((__m256)a.v, (__m256)b.v, (__m256)c.v));
  } else if constexpr (sizeof(T) * N == 32) {
    return Vec<T, N>((typename Vec<T, N>::raw)_mm256_fmadd_pd((__m256d)a.v, (__m256d)b.v, (__m256d)c.v));
  } else {
    Vec<T, N> r;
    for (int i = 0; i < N; ++i) {
      if constexpr (sizeof(T) == 4) {
        r.v[i] = __builtin_fmaf(a.v[i], b.v[i], c.v[i]);
      } else {
        r.v[i] = __builtin_fma(a.v[i], b.v[i], c.v[i]);
      }
    }
    return r;
  }
}
#endif

// x = n ln 2 + r, where n is a multiple of 2^-FractionBits whose bits are the lowest ones of `shifted`.
template <class T, int N>
struct ExpParts {
  Vec<T, N> shifted, n, r;
};
template <int FractionBits, class T, int N>
VEC_INLINE ExpParts<T, N> exp_reduce(Vec<T, N> x) {
  using V = Vec<T, N>;
  const V magic(kMagic<T> / (1 << FractionBits));
  const V shifted = x * V(static_cast<T>(1.44269504088896340736)) + magic;
  const V n = shifted - magic;
#ifdef __FMA__
  return {shifted, n, fused(n, V(-Traits<T>::ln2_lo), fused(n, V(-Traits<T>::ln2_hi), x))};
#else
  return {shifted, n, x - n * V(Traits<T>::ln2_hi) - n * V(Traits<T>::ln2_lo)};
#endif
}

#ifdef __AVX2__
// 2^(i / 8) from a register, as r is then so small that a short polynomial does. More powers would be rounded worse.
inline constexpr float kPowersOfTwo[8] = {1.0f,       1.0905077f, 1.1892071f, 1.2968396f,
                                          1.4142135f, 1.5422108f, 1.6817929f, 1.8340081f};
template <class T, int N>
inline constexpr int kExpFractionBits = std::is_same_v<T, float> && N == Vec<float>::size() ? 3 : 0;

// table[index mod 8]
VEC_INLINE Vec<float> look_up(const float (&table)[8], Vec<std::int32_t> index) {
  const __m256 entries = _mm256_loadu_ps(table);
#ifdef VEC_AVX512
  return (Vec<float>::raw)_mm512_permutexvar_ps((__m512i)index.v, _mm512_broadcast_f32x8(entries));
#else
  return (Vec<float>::raw)_mm256_permutevar8x32_ps(entries, (__m256i)index.v);
#endif
}
#else
template <class T, int N>
inline constexpr int kExpFractionBits = 0;
#endif
#ifdef VEC_AVX512
// table[index mod 32]
VEC_INLINE Vec<float> look_up(const float (&table)[32], Vec<std::int32_t> index) {
  return (Vec<float>::raw)_mm512_permutex2var_ps(_mm512_loadu_ps(table), (__m512i)index.v, _mm512_loadu_ps(table + 16));
}
#endif

// e^r - 1 for |r| <= ln(2) / 2^(FractionBits + 1)
template <int FractionBits, class T, int N>
VEC_INLINE Vec<T, N> expm1_short(Vec<T, N> r) {
  if constexpr (FractionBits == 3) {
    return polynomial(r, T(0.5), T(0.16666667), T(0.041666668)) * (r * r) + r;
  } else {
    return r + exp_rest(r);
  }
}

// 2^n e^r, times a factor if there is one. Right also where the result is denormal or 2^n alone would overflow, unless
// `Normal` promises that it is not so.
template <int FractionBits, bool Normal = false, class T, int N, class... Factor>
VEC_INLINE Vec<T, N> exp_join(const ExpParts<T, N>& parts, Factor... factor) {
  using I = int_same<T>;
  using V = Vec<T, N>;
  using VI = Vec<I, N>;
  const V rest = expm1_short<FractionBits>(parts.r);
  const VI bits = bit_cast<I>(parts.shifted);
  V fraction(T(1)); // 2 to the fraction of n
#ifdef __AVX2__
  if constexpr (FractionBits != 0) {
    fraction = look_up(kPowersOfTwo, bits);
  }
#endif
#ifdef VEC_AVX512
  if constexpr (sizeof(T) * N == 64) {
    const V y = ((fraction * rest + fraction) * ... * factor);
    // 2 to the floor of n
    if constexpr (sizeof(T) == 4) {
      return V((typename V::raw)_mm512_scalef_ps((__m512)y.v, (__m512)parts.n.v));
    } else {
      return V((typename V::raw)_mm512_scalef_pd((__m512d)y.v, (__m512d)parts.n.v));
    }
  } else
#endif
  {
    // 2 to the floor of n in two factors, made of exponent fields.
    constexpr int mantissa = Traits<T>::mantissa;
    const VI field(-(I{1} << mantissa));
    const VI half = Normal ? VI(I(0)) : (bits << (mantissa - 1 - FractionBits)) & field;
    const VI whole = (bits << (mantissa - FractionBits)) & field;
    const V first = bit_cast<T>(bit_cast<I>(fraction) + (whole - half));
    const V y = ((first * rest + first) * ... * factor);
    return Normal ? y : y * bit_cast<T>(half + bit_cast<I>(V(T(1))));
  }
}

// Keeps NaN, which min and max take from their second operand.
template <class T, int N>
VEC_INLINE Vec<T, N> clamp_exp(Vec<T, N> x) {
  return max(Vec<T, N>(Traits<T>::exp_low), min(Vec<T, N>(Traits<T>::exp_high), x));
}

// x = m * 2^e with m in [sqrt(1/2), sqrt(2)); x positive and normal or denormal.
template <class T, int N>
struct LogParts {
  Vec<T, N> m, e;
};
template <class T, int N>
VEC_INLINE LogParts<T, N> log_reduce(Vec<T, N> x) {
  using I = int_same<T>;
  using U = std::make_unsigned_t<I>;
  using VI = Vec<I, N>;
  constexpr int mantissa = Traits<T>::mantissa;
  const auto denormal = x < Vec<T, N>(std::numeric_limits<T>::min());
  x = select(denormal, x * Vec<T, N>(static_cast<T>(I{1} << (mantissa + 1))), x);
  constexpr I sqrt_half = sizeof(T) == 4 ? I(0x3f3504f3) : static_cast<I>(0x3fe6a09e667f3bcdLL);
  const VI bits = bit_cast<I>(x);
  // Counting from sqrt(1/2), the exponent field of the difference is e and its mantissa field that of m.
  const VI shifted = bits - VI(sqrt_half);
  const VI e = shifted >> mantissa;
  const Vec<T, N> m = bit_cast<T>(bits - (e << mantissa));
  // To floating point without a conversion instruction.
  const Vec<T, N> magic(kMagic<T>);
  Vec<T, N> fe = bit_cast<T>(e + bit_cast<I>(magic)) - magic;
  fe -= select(denormal, Vec<T, N>(T(mantissa + 1)), Vec<T, N>(T(0)));
  static_assert(sizeof(U) == sizeof(T));
  return {m, fe};
}

// log at the ends of its domain: log(0) = -inf, log(x < 0) = NaN, log(inf) = inf, log(NaN) = NaN.
template <class T, int N>
VEC_INLINE Vec<T, N> log_edges(Vec<T, N> x, Vec<T, N> y) {
  const Vec<T, N> inf(std::numeric_limits<T>::infinity());
  y = select(x < inf, y, x); // inf and NaN
  y = select(x == Vec<T, N>(T(0)), -inf, y);
  return select(x < Vec<T, N>(T(0)), Vec<T, N>(std::numeric_limits<T>::quiet_NaN()), y);
}

// log(1 + f) = f - (f^2/2 - s (f^2/2 + R)) with s = f / (2 + f); gives R (fdlibm's minimax set, cut short for float).
template <int N>
VEC_INLINE Vec<double, N> log_series(Vec<double, N> z) {
  return z *
      polynomial(
             z, 6.666666666666735130e-01, 3.999999999940941908e-01, 2.857142874366239149e-01, 2.222219843214978396e-01,
             1.818357216161805012e-01, 1.531383769920937332e-01, 1.479819860511658591e-01);
}
template <int N>
VEC_INLINE Vec<float, N> log_series(Vec<float, N> z) {
  return z * polynomial(z, 0.66666662693f, 0.40000972152f, 0.28498786688f, 0.24279078841f);
}

template <class T, int N, class F>
VEC_INLINE Vec<T, N> each_lane(Vec<T, N> x, F f) {
  T lanes[N];
  x.store(lanes);
  for (int i = 0; i < N; ++i) {
    lanes[i] = f(lanes[i]);
  }
  return Vec<T, N>::load(lanes);
}
template <class T, int N, class F>
VEC_INLINE Vec<T, N> each_lane(Vec<T, N> x, Vec<T, N> y, F f) {
  T a[N], b[N];
  x.store(a);
  y.store(b);
  for (int i = 0; i < N; ++i) {
    a[i] = f(a[i], b[i]);
  }
  return Vec<T, N>::load(a);
}

// Float lanes through a function of double lanes, rounded once.
template <int N, class F>
VEC_INLINE Vec<float, N> through_double(Vec<float, N> x, F f) {
  return join(convert<float>(f(convert<double>(low(x)))), convert<float>(f(convert<double>(high(x)))));
}

// x = quadrant * pi/2 + r + tail, |r| <= pi/4.
template <class T, int N>
struct TrigParts {
  Vec<T, N> r, tail;
  Vec<int_same<T>, N> quadrant;
};
// For |x| < 2^20 * pi/2: pi/2 in three parts of 33 bits, as in fdlibm.
template <int N>
VEC_INLINE TrigParts<double, N> trig_reduce(Vec<double, N> x) {
  using V = Vec<double, N>;
  const V magic(0x1.8p52);
  const V shifted = x * V(0.636619772367581343076) + magic;
  const V n = shifted - magic;
  // Each product with n is exact (33 + 20 bits); the differences lose bits only where the next part brings them back.
  const V r1 = x - n * V(1.57079632673412561417e+00);
  const V w2 = n * V(6.07710050630396597660e-11);
  const V r2 = r1 - w2;
  const V w3 = n * V(2.02226624871116645580e-21) - ((r1 - r2) - w2);
  const V r3 = r2 - w3;
  const V tail = (r2 - r3) - w3;
  return {r3, tail - n * V(8.47842766036889956997e-32), bit_cast<std::int64_t>(shifted)};
}

inline constexpr double kTrigLimit = 1.6e6;

template <int N>
VEC_INLINE Vec<double, N> sine_of(const TrigParts<double, N>& parts) {
  using V = Vec<double, N>;
  const auto& [r, tail, quadrant] = parts;
  const V z = r * r;
  const V v = z * r;
  const V ps = polynomial(
      z, 8.33333333332248946124e-03, -1.98412698298579493134e-04, 2.75573137070700676789e-06,
      -2.50507602534068634195e-08, 1.58969099521155010221e-10);
  return r - ((z * (V(0.5) * tail - v * ps) - tail) - v * V(-1.66666666666666324348e-01));
}
template <int N>
VEC_INLINE Vec<double, N> cosine_of(const TrigParts<double, N>& parts) {
  using V = Vec<double, N>;
  const auto& [r, tail, quadrant] = parts;
  const V z = r * r;
  const V pc = z *
      polynomial(z, 4.16666666666666019037e-02, -1.38888888888741095749e-03, 2.48015872894767294178e-05,
                 -2.75573143513906633035e-07, 2.08757232129817482790e-09, -1.13596475577881948265e-11);
  const V half_z = V(0.5) * z;
  const V one_less = V(1.0) - half_z;
  return one_less + (((V(1.0) - one_less) - half_z) + (z * pc - r * tail));
}

// Sine and cosine of the rest, combined by the quadrant.
template <bool Cosine, class T, int N>
VEC_INLINE Vec<T, N> sin_or_cos(const TrigParts<T, N>& parts) {
  using I = int_same<T>;
  using VI = Vec<I, N>;
  const VI q = parts.quadrant + VI(I(Cosine ? 1 : 0));
  const Vec<T, N> value = select((q & VI(I(1))) == VI(I(0)), sine_of(parts), cosine_of(parts));
  return bit_cast<T>(bit_cast<I>(value) ^ ((q & VI(I(2))) << (8 * int(sizeof(T)) - 2)));
}

// near(x) for |x| below `limit`, and far() of each other lane: what a lane gives depends on no lane beside it.
template <class T, int N, class Near, class Far>
VEC_INLINE Vec<T, N> near_or_far(Vec<T, N> x, T limit, const Near& near, const Far& far) {
  const auto is_far = !(abs(x) < Vec<T, N>(limit));
  if (__builtin_expect(!any(is_far), 1)) {
    return near(x);
  }
  return select(is_far, each_lane(x, far), near(select(is_far, Vec<T, N>(T(0)), x)));
}

template <bool Cosine, int N>
VEC_INLINE Vec<double, N> sin_or_cos(Vec<double, N> x) {
  return near_or_far(
      x, kTrigLimit, [](auto a) { return sin_or_cos<Cosine>(trig_reduce(a)); },
      [](double a) { return Cosine ? std::cos(a) : std::sin(a); });
}

#ifdef __FMA__
// The same of floats: pi/2 in three parts. The first product with n is exact in a fused multiply-add, the second is
// kept with its rounding error, since what is left near a multiple of pi is far smaller than either.
inline constexpr float kShortTrigLimit = 1e5f;

template <int N>
VEC_INLINE TrigParts<float, N> trig_reduce(Vec<float, N> x) {
  using V = Vec<float, N>;
  const V magic(kMagic<float>);
  const V shifted = x * V(0.636619772f) + magic;
  const V n = shifted - magic;
  const V r1 = fused(-n, V(0x1.921fb6p0f), x);
  const V second(-0x1.777a5cp-25f);
  const V w2 = n * second;
  const V r2 = r1 - w2;
  const V rest = ((r1 - r2) - w2) - fused(n, second, -w2) - n * V(-0x1.ee59dap-50f);
  const V r = r2 + rest;
  return {r, (r2 - r) + rest, bit_cast<std::int32_t>(shifted)};
}
template <int N>
VEC_INLINE Vec<float, N> sine_of(const TrigParts<float, N>& parts) {
  using V = Vec<float, N>;
  const V r = parts.r, z = r * r;
  return r + (r * z * polynomial(z, -0.1666665494f, 0.008332177719f, -0.0001951722937f) + parts.tail);
}
template <int N>
VEC_INLINE Vec<float, N> cosine_of(const TrigParts<float, N>& parts) {
  using V = Vec<float, N>;
  const V r = parts.r, z = r * r, half_z = V(0.5f) * z;
  const V one_less = V(1.0f) - half_z;
  const V rest = ((V(1.0f) - one_less) - half_z) - r * parts.tail;
  return one_less + (z * z * polynomial(z, 0.0416666457f, -0.001388731672f, 2.443318556e-5f) + rest);
}
#else
// The same for arguments that were floats: the result needs 24 bits only.
template <bool Cosine, int N>
VEC_INLINE Vec<double, N> sin_or_cos_short(Vec<double, N> x) {
  using V = Vec<double, N>;
  using VI = Vec<std::int64_t, N>;
  const V magic(0x1.8p52);
  const V shifted = x * V(0.636619772367581343076) + magic;
  const V n = shifted - magic;
  const V r = x - n * V(1.57079632673412561417e+00) - n * V(6.07710050650619224932e-11);
  const V z = r * r;
  const V sine =
      r + r * z * polynomial(z, -0.16666666663741, 0.0083333318306294, -0.00019840063040804, 2.7246868722878e-6);
  const V cosine = V(1.0) - V(0.5) * z +
      z * z * polynomial(z, 0.041666666664226, -0.0013888887635228, 2.4800580601355e-5, -2.7298407652795e-7);
  const VI q = bit_cast<std::int64_t>(shifted) + VI(Cosine ? 1 : 0);
  const V value = select((q & VI(1)) == VI(0), sine, cosine);
  return bit_cast<double>(bit_cast<std::int64_t>(value) ^ ((q & VI(2)) << 62));
}
#endif

template <bool Cosine, int N>
VEC_INLINE Vec<float, N> sin_or_cos(Vec<float, N> x) {
#ifdef __FMA__
  const float limit = kShortTrigLimit;
  const auto near = [](Vec<float, N> a) {
    const Vec<float, N> y = sin_or_cos<Cosine>(trig_reduce(a));
    return Cosine ? y : select(a == Vec<float, N>(0.0f), a, y); // keeps -0
  };
#else
  const float limit = 1e6f;
  const auto near = [](Vec<float, N> a) {
    const Vec<float, N> y = through_double(a, [](auto d) { return sin_or_cos_short<Cosine>(d); });
    return Cosine ? y : select(a == Vec<float, N>(0.0f), a, y); // keeps -0
  };
#endif
  return near_or_far(x, limit, near, [](float a) { return Cosine ? std::cos(a) : std::sin(a); });
}

// erfc(z) for z >= 0.9, with full relative accuracy: exp(-z^2) times a polynomial in 1 / (z + 2).
template <int N>
VEC_INLINE Vec<float, N> erfc_tail(Vec<float, N> z);

} // namespace detail

template <class T, int N>
VEC_INLINE Vec<typename Vec<T, N>::mask::value_type, N> operator!(Vec<T, N> m) {
  return ~m;
}

template <class T, int N>
VEC_INLINE Vec<T, N> exp(Vec<T, N> x) {
  constexpr int bits = detail::kExpFractionBits<T, N>;
  return detail::exp_join<bits>(detail::exp_reduce<bits>(detail::clamp_exp(x)));
}

template <class T, int N>
VEC_INLINE Vec<T, N> exp2(Vec<T, N> x) {
  if constexpr (std::is_same_v<T, double>) {
    return detail::each_lane(x, [](double a) { return std::exp2(a); });
  } else {
    using V = Vec<T, N>;
    constexpr int bits = detail::kExpFractionBits<T, N>;
    const V magic(detail::kMagic<T> / (1 << bits));
    x = max(V(T(-151)), min(V(T(129)), x));
    const V shifted = x + magic;
    const V n = shifted - magic;
    const V r = (x - n) * V(T(0.693147180559945309417)); // x - n is exact
    return detail::exp_join<bits>(detail::ExpParts<T, N>{shifted, n, r});
  }
}

template <class T, int N>
VEC_INLINE Vec<T, N> expm1(Vec<T, N> x) {
  using V = Vec<T, N>;
  const V one(T(1));
  const auto [shifted, n, r] = detail::exp_reduce<0>(detail::clamp_exp(x));
  const V t = r + detail::exp_rest(r); // e^r - 1
  // One power less and doubled at the end: 2^n itself overflows where the result does not yet.
  const V less = n - select(n > V(T(64)), one, V(T(0)));
  const V low = select(less < V(T(-64)), V(T(-64)), less);
  const V s = detail::power_of_two(low);
  V y = select(n == V(T(0)), t, s * t + (s - select(n > V(T(64)), V(T(0.5)), one)));
  y = select(n > V(T(64)), y + y, y);
  return select(x == V(T(0)), x, y); // keeps -0
}

namespace detail {

// log(x) = e log(2) + f + rest with f = m - 1 and a small rest.
template <int N>
struct ShortLog {
  Vec<float, N> f, rest, e;
};
template <int N>
VEC_INLINE ShortLog<N> short_log(Vec<float, N> x) {
  using V = Vec<float, N>;
#ifdef VEC_AVX512
  if constexpr (N == 16) {
    // m in [3/4, 3/2). At the ends of the domain e or m are infinite or NaN, and so is the sum: it needs no log_edges.
    const __m512 m = _mm512_getmant_ps((__m512)x.v, _MM_MANT_NORM_p75_1p5, _MM_MANT_SIGN_nan);
    const V e((typename V::raw)_mm512_sub_ps(_mm512_getexp_ps((__m512)x.v), _mm512_getexp_ps(m)));
    const V f = V((typename V::raw)m) - V(1.0f), ff = f * f;
    const V q = polynomial(
        f, 0.3333333706f, -0.2500016633f, 0.1999984664f, -0.1665555129f, 0.1427044141f, -0.1271483476f, 0.1173681677f,
        -0.09254290693f, 0.03881617504f);
    return {f, f * ff * q - V(0.5f) * ff, e};
  } else
#endif
  {
    const auto [m, e] = log_reduce(x);
    const V f = m - V(1.0f), ff = f * f;
    const V q = polynomial(
        f, 0.3333333118f, -0.2499999696f, 0.2000071575f, -0.1666780232f, 0.1424905765f, -0.1242568733f, 0.1168541992f,
        -0.1147973385f, 0.06971611471f);
    return {f, f * ff * q - V(0.5f) * ff, e};
  }
}
template <int N>
VEC_INLINE Vec<float, N> short_log_edges(Vec<float, N> x, Vec<float, N> y) {
#ifdef VEC_AVX512
  if constexpr (N == 16) {
    return y;
  }
#endif
  return log_edges(x, y);
}

// Logarithms of other bases in double: log(m) as the sum of a short number and its rest, so that the product with the
// first part of the factor is exact (as in fdlibm).
template <int N>
VEC_INLINE Vec<double, N> log_of_base(
    Vec<double, N> x, double high_factor, double low_factor, double high_two, double low_two) {
  using V = Vec<double, N>;
  const auto [m, e] = log_reduce(x);
  const V f = m - V(1.0);
  const V s = f / (V(2.0) + f);
  const V half = V(0.5) * f * f;
  const V r = s * (half + log_series(s * s));
  const V high = bit_cast<double>(bit_cast<std::int64_t>(f - half) & Vec<std::int64_t, N>(std::int64_t(-1) << 32));
  const V low = ((f - high) - half) + r;
  const V whole = e * V(high_two), product = high * V(high_factor), y = whole + product;
  const V rest = e * V(low_two) + ((low + high) * V(low_factor) + low * V(high_factor));
  return log_edges(x, y + (rest + ((whole - y) + product)));
}

} // namespace detail

template <int N>
VEC_INLINE Vec<float, N> log(Vec<float, N> x) {
  using V = Vec<float, N>;
  const auto [f, rest, e] = detail::short_log(x);
  const V y = rest + e * V(detail::Traits<float>::ln2_lo);
  return detail::short_log_edges(x, (f + y) + e * V(detail::Traits<float>::ln2_hi));
}

template <int N>
VEC_INLINE Vec<double, N> log(Vec<double, N> x) {
  using V = Vec<double, N>;
  const auto [m, e] = detail::log_reduce(x);
  const V f = m - V(1.0);
  const V s = f / (V(2.0) + f);
  const V half = V(0.5) * f * f;
  const V r = detail::log_series(s * s);
  const V y =
      e * V(detail::Traits<double>::ln2_hi) - ((half - (s * (half + r) + e * V(detail::Traits<double>::ln2_lo))) - f);
  return detail::log_edges(x, y);
}

template <class T, int N>
VEC_INLINE Vec<T, N> log1p(Vec<T, N> x) {
  using V = Vec<T, N>;
  const V one(T(1));
  const V u = one + x;
  const auto [m, e] = detail::log_reduce(u);
  // What rounding 1 + x lost, relative to u.
  const V lost = select(x > one, one - (u - x), x - (u - one)) / u;
  const auto whole = e == V(T(0));
  const V f = select(whole, x, m - one);
  const V c = select(whole, V(T(0)), lost);
  const V s = f / (V(T(2)) + f);
  const V half = V(T(0.5)) * f * f;
  const V r = detail::log_series(s * s);
  V y = e * V(detail::Traits<T>::ln2_hi) - ((half - (s * (half + r) + (e * V(detail::Traits<T>::ln2_lo) + c))) - f);
  y = detail::log_edges(u, y);
  return select(abs(x) < V(std::numeric_limits<T>::min()), x, y); // also keeps -0
}

template <class T, int N>
VEC_INLINE Vec<T, N> log2(Vec<T, N> x) {
  if constexpr (std::is_same_v<T, double>) {
    return detail::log_of_base(x, 1.44269504072144627571e+00, 1.67517131648865118353e-10, 1.0, 0.0);
  } else {
#ifdef __FMA__
    using V = Vec<T, N>;
    const auto [f, rest, e] = detail::short_log(x);
    const V low = f * V(0x1.4ae0cp-26f) + rest * V(0x1.715476p0f); // log2(e) in two parts
    return detail::short_log_edges(x, (f * V(0x1.715476p0f) + low) + e);
#else
    return detail::through_double(x, [](auto d) { return log(d) * decltype(d)(1.44269504088896340736); });
#endif
  }
}

template <class T, int N>
VEC_INLINE Vec<T, N> log10(Vec<T, N> x) {
  if constexpr (std::is_same_v<T, double>) {
    return detail::log_of_base(
        x, 4.34294481878168880939e-01, 2.50829467116452752298e-11, 3.01029995663611771306e-01,
        3.69423907715893078616e-13);
  } else {
#ifdef __FMA__
    using V = Vec<T, N>;
    const auto [f, rest, e] = detail::short_log(x);
    // log10(e) and log10(2) in two parts.
    const V low = f * V(-0x1.5b235ep-27f) + (rest * V(0x1.bcb7b2p-2f) + e * V(0x1.3509f8p-18f));
    return detail::short_log_edges(x, (f * V(0x1.bcb7b2p-2f) + low) + e * V(0x1.344p-2f));
#else
    return detail::through_double(x, [](auto d) { return log(d) * decltype(d)(0.434294481903251827651); });
#endif
  }
}

template <class T, int N>
VEC_INLINE Vec<T, N> sin(Vec<T, N> x) {
  return detail::sin_or_cos<false>(x);
}
template <class T, int N>
VEC_INLINE Vec<T, N> cos(Vec<T, N> x) {
  return detail::sin_or_cos<true>(x);
}

// Floats: a polynomial around the middle of each quarter of a power of two where a register holds 32 coefficients, else
// an odd one near 0 and exp beyond.
template <class T, int N>
VEC_INLINE Vec<T, N> tanh(Vec<T, N> x) {
  using V = Vec<T, N>;
  const V a = abs(x);
  if constexpr (std::is_same_v<T, float>) {
#ifdef VEC_AVX512
    if constexpr (N == 16) {
      using VI = Vec<std::int32_t, N>;
      const V held = min(V(15.99f), a);
      const VI quarter = max((bit_cast<std::int32_t>(held) >> 21) - VI(detail::kTanhFirst), VI(0));
      const V t = held - detail::look_up(detail::kTanhCenters, quarter);
      V y = detail::look_up(detail::kTanhCoefficients[6], quarter);
      for (int i = 5; i >= 0; --i) {
        y = y * t + detail::look_up(detail::kTanhCoefficients[i], quarter);
      }
      return copysign(y, x);
    } else
#endif
    {
      constexpr int bits = detail::kExpFractionBits<T, N>;
      const V z = x * x;
      const V small =
          x + x * z * detail::polynomial(z, -0.33333328f, 0.13332583f, -0.053823758f, 0.02087346f, -0.005923726f);
      const V e = detail::exp_join<bits, true>(detail::exp_reduce<bits>(min(V(20.0f), a + a)));
      const V large = V(1.0f) - V(2.0f) / (e + V(1.0f));
      return copysign(select(a < V(0.65f), small, large), x); // of -0 as well
    }
  } else {
    const V two(T(2));
    const V t = expm1(select(a < V(T(1)), -(a + a), a + a));
    const V y = select(a < V(T(1)), -t / (t + two), V(T(1)) - two / (t + two));
    return copysign(y, x);
  }
}

namespace detail {

template <int N>
VEC_INLINE Vec<float, N> erfc_tail(Vec<float, N> z) {
  using V = Vec<float, N>;
  const V t = V(1.0f) / (z + V(2.0f));
  const V w = t *
      polynomial(t, 0.5641895863f, 1.128377567f, 1.974822648f, 2.81463561f, 2.810229943f, -1.857060063f, 4.429387645f,
                 -66.79205326f, 133.7734822f, -82.90215504f);
  // z^2 = h^2 + (z - h)(z + h) with h short enough that h^2 is exact: the rounding of z^2 would be magnified by exp.
  const V h = bit_cast<float>(bit_cast<std::int32_t>(z) & Vec<std::int32_t, N>(static_cast<std::int32_t>(0xfffff000)));
  const V d = (h - z) * (z + h);
  // As a factor: exp(-h^2) alone is denormal before erfc is.
  constexpr int bits = kExpFractionBits<float, N>;
  return exp_join<bits>(exp_reduce<bits>(-(h * h)), w + w * (d + exp_rest(d)));
}

template <int N>
VEC_INLINE Vec<float, N> erf_small(Vec<float, N> x) {
  // x + x * (2 / sqrt(pi) - 1 + ...): the large part is exact.
  return x +
      x *
      polynomial(
          x * x, 0.1283791664f, -0.3761263172f, 0.1128366466f, -0.02685770518f, 0.005196888912f, -0.0008096477723f,
          8.178395868e-5f);
}

} // namespace detail

// 1 - 2^p(|x|) where erf is large: of erfc, which is small there, few digits count. Beyond 4 it rounds to 1.
template <int N>
VEC_INLINE Vec<float, N> erf(Vec<float, N> x) {
  using V = Vec<float, N>;
  using I = Vec<std::int32_t, N>;
  const V a = abs(x);
  const V p = detail::polynomial_by_pairs(
      min(V(4.0f), a), -0.000282300665f, -1.62689209f, -0.919259667f, -0.149941593f, 0.0320666656f, -0.00439043436f,
      0.000282677647f);
  // Adding 1.5 * 2^23 leaves the nearest integer in the low bits, from where it is added to the exponent.
  const V magic(0x1.8p23f);
  const V shifted = p + magic;
  const V power = detail::polynomial_by_pairs(
      p - (shifted - magic), 1.0f, 0.693147182f, 0.240226462f, 0.0555032864f, 0.00961848907f, 0.00133999309f,
      0.000153458124f);
  const V tail = bit_cast<float>(bit_cast<std::int32_t>(power) + (bit_cast<std::int32_t>(shifted) << 23));
  const I sign = bit_cast<std::int32_t>(x) & I(std::numeric_limits<std::int32_t>::min());
  const V large = bit_cast<float>(bit_cast<std::int32_t>(V(1.0f) - tail) | sign);
  return select(a >= V(0.92f), large, detail::erf_small(x)); // NaN goes to the right
}
#ifdef __AVX2__
namespace detail {
// table[index], 0 <= index < 16
template <int N>
VEC_INLINE Vec<double, N> look_up(const double (&table)[16], Vec<std::int64_t, N> index) {
#ifdef VEC_AVX512
  if constexpr (N == 8) {
    return (typename Vec<double, N>::raw)_mm512_permutex2var_pd(
        _mm512_loadu_pd(table), (__m512i)index.v, _mm512_loadu_pd(table + 8));
  } else
#endif
  {
    Vec<double, N> r;
    for (int i = 0; i < N; ++i) {
      r.v[i] = table[index.v[i]];
    }
    return r;
  }
}
} // namespace detail
#endif

/// Doubles: a polynomial around the middle of each piece (erf_table.h). From 5.8125 on it is 1.
template <int N>
VEC_INLINE Vec<double, N> erf(Vec<double, N> x) {
#ifdef __AVX2__
  using V = Vec<double, N>;
  const V a = abs(x), held = min(V(5.9), a);
  const V magic(detail::kMagic<double>);
  const V shifted = select(a == a, held, V(0.0)) * V(1 / detail::kErfStep) + magic;
  const auto piece = bit_cast<std::int64_t>(shifted) & Vec<std::int64_t, N>(detail::kErfPieces - 1);
  const auto last =
      bit_cast<std::int64_t>(shifted) - bit_cast<std::int64_t>(magic) >= Vec<std::int64_t, N>(detail::kErfPieces);
  const V t = held - (shifted - magic) * V(detail::kErfStep);
  V y = detail::look_up(detail::kErfCoefficients[detail::kErfTerms - 1], piece);
  for (int i = detail::kErfTerms - 2; i >= 0; --i) {
    y = y * t + detail::look_up(detail::kErfCoefficients[i], piece);
  }
  return copysign(select(last, V(1.0), y), x);
#else
  return detail::each_lane(x, [](double a) { return std::erf(a); });
#endif
}

template <int N>
VEC_INLINE Vec<float, N> erfc(Vec<float, N> x) {
  using V = Vec<float, N>;
  const V a = abs(x);
  const V tail = detail::erfc_tail(select(a > V(10.5f), V(10.5f), a));
  const V y = select(x < V(0.0f), V(2.0f) - tail, tail);
  return select(a < V(0.92f), V(1.0f) - detail::erf_small(x), select(x == x, y, x));
}
template <int N>
VEC_INLINE Vec<double, N> erfc(Vec<double, N> x) {
  return detail::each_lane(x, [](double a) { return std::erfc(a); });
}

template <int N>
VEC_INLINE Vec<double, N> pow(Vec<double, N> x, Vec<double, N> y) {
  return detail::each_lane(x, y, [](double a, double b) { return std::pow(a, b); });
}

template <int N>
VEC_INLINE Vec<float, N> pow(Vec<float, N> x, Vec<float, N> y) {
  using V = Vec<float, N>;
  using I = Vec<std::int32_t, N>;
  const V a = abs(x);
  const auto half = [](auto base, auto exponent) {
    return convert<float>(exp(convert<double>(exponent) * log(convert<double>(base))));
  };
  V r = detail::join(half(detail::low(a), detail::low(y)), half(detail::high(a), detail::high(y)));
  const V one(1.0f), zero(0.0f), inf(std::numeric_limits<float>::infinity());
  const auto whole = trunc(y) == y; // true for infinities
  const V halved = y * V(0.5f);
  const auto odd = whole & (trunc(halved) != halved);
  const I sign = bit_cast<std::int32_t>(x) & odd & I(std::numeric_limits<std::int32_t>::min());
  r = bit_cast<float>(bit_cast<std::int32_t>(r) ^ sign);
  const auto undefined = (x < zero) & (x > -inf) & ~whole;
  r = select(undefined, V(std::numeric_limits<float>::quiet_NaN()), r);
  // (-1)^inf, 1^anything (NaN too), anything^0
  return select((y == zero) | (x == one) | ((a == one) & (abs(y) == inf)), one, r);
}

#ifdef VEC_AVX512
/// P(normal variable < x), by pieces (normal_table.h).
VEC_INLINE Vec<float> normal_cdf_by_pieces(Vec<float> x) {
  using V = Vec<float>;
  constexpr float kStep = detail::kNormalStep;
  const V held = min(V(31 * kStep), abs(x)); // NaN stays
  const V magic(detail::kMagic<float>);
  const V shifted = held * V(1 / kStep) + magic;
  const auto piece = bit_cast<std::int32_t>(shifted);
  const V t = held - (shifted - magic) * V(kStep);
  V y = detail::look_up(detail::kNormalCoefficients[6], piece);
  for (int i = 5; i >= 0; --i) {
    y = y * t + detail::look_up(detail::kNormalCoefficients[i], piece);
  }
  return select(x > V(0.0f), V(1.0f) - y, y);
}
#endif

} // namespace CPU_CAPABILITY
} // namespace at::vec
