// Vec<T>: a native vector of T, written on GCC/Clang vector extensions.
//
// Include it only from sources that are compiled once per instruction set (aten/native/cpu/*.cpp): everything here
// lives in the inline namespace CPU_CAPABILITY and is always inlined, because the linker would otherwise keep one copy
// of a function, possibly the AVX-512 one, for every processor.
//
// a * b + c is fused where the instruction set can (v3, v4); do not write fma(), which is a library call for v2.
#pragma once

#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>

#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#if defined(__AVX2__)
// GCC 12 takes the deliberately undefined pass-through operand of its AVX-512 intrinsics for a mistake.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#include <immintrin.h>
#pragma GCC diagnostic pop
#elif defined(__SSE4_1__)
#include <smmintrin.h>
#endif

#ifndef CPU_CAPABILITY
#define CPU_CAPABILITY v2
#endif

#define VEC_INLINE inline __attribute__((always_inline))

namespace at::vec {
inline namespace CPU_CAPABILITY {

#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__)
#define VEC_AVX512 1
inline constexpr int kVecBytes = 64;
#elif defined(__AVX2__)
inline constexpr int kVecBytes = 32;
#else
inline constexpr int kVecBytes = 16;
#endif

namespace detail {

template <int Bytes>
struct IntOfSize;
template <>
struct IntOfSize<1> {
  using type = std::int8_t;
};
template <>
struct IntOfSize<2> {
  using type = std::int16_t;
};
template <>
struct IntOfSize<4> {
  using type = std::int32_t;
};
template <>
struct IntOfSize<8> {
  using type = std::int64_t;
};

// vector_size is ignored on dependent types by some compilers when written in place; a member alias is taken by all.
template <class T, int N>
struct Raw {
  typedef T type __attribute__((vector_size(N * sizeof(T))));
  typedef T unaligned __attribute__((vector_size(N * sizeof(T)), aligned(alignof(T)), may_alias));
};

// Vectors that sums, differences and products of T are taken in: integers wrap, which signed ones may not do by
// themselves.
template <class T, int N, bool Integer = std::is_integral_v<T>>
struct Wrapping {
  using type = typename Raw<std::make_unsigned_t<T>, N>::type;
};
template <class T, int N>
struct Wrapping<T, N, false> {
  using type = typename Raw<T, N>::type;
};

} // namespace detail

/// The signed integer as wide as T: lanes of comparison results (-1 or 0) and of bit patterns.
template <class T>
using int_same = typename detail::IntOfSize<sizeof(T)>::type;

/// N lanes of T (a native vector by default), with the operators of T.
template <class T, int N = kVecBytes / static_cast<int>(sizeof(T))>
struct Vec {
  static_assert(std::is_arithmetic_v<T> && !std::is_same_v<T, bool>);
  using value_type = T;
  using raw = typename detail::Raw<T, N>::type;
  using mask = Vec<int_same<T>, N>;
  using wrapping = typename detail::Wrapping<T, N>::type;

  raw v;

  static constexpr int size() {
    return N;
  }

  Vec() = default;
  VEC_INLINE Vec(raw x) : v(x) {}
  /// All lanes x.
  VEC_INLINE Vec(T x) : v(x - raw{}) {}

  VEC_INLINE T operator[](int i) const {
    return v[i];
  }
  VEC_INLINE void set(int i, T x) {
    v[i] = x;
  }

  /// Lanes 0, 1, 2, ...
  static VEC_INLINE Vec iota() {
    raw r;
    for (int i = 0; i < N; ++i) {
      r[i] = static_cast<T>(i);
    }
    return r;
  }

  static VEC_INLINE Vec load(const T* p) {
    return Vec(static_cast<raw>(*reinterpret_cast<const typename detail::Raw<T, N>::unaligned*>(p)));
  }
  VEC_INLINE void store(T* p) const {
    *reinterpret_cast<typename detail::Raw<T, N>::unaligned*>(p) = v;
  }

  /// The first n lanes (0 <= n <= size) from memory, the rest 0; nothing beyond them is touched.
  static VEC_INLINE Vec load(const T* p, int n) {
#ifdef VEC_AVX512
    if constexpr (sizeof(T) == 4 && N == 16) {
      return Vec((raw)_mm512_maskz_loadu_epi32(static_cast<__mmask16>((1u << n) - 1), p));
    } else if constexpr (sizeof(T) == 8 && N == 8) {
      return Vec((raw)_mm512_maskz_loadu_epi64(static_cast<__mmask8>((1u << n) - 1), p));
    } else
#endif
    {
      raw r = {};
      for (int i = 0; i < n; ++i) {
        r[i] = p[i];
      }
      return r;
    }
  }
  VEC_INLINE void store(T* p, int n) const {
#ifdef VEC_AVX512
    if constexpr (sizeof(T) == 4 && N == 16) {
      _mm512_mask_storeu_epi32(p, static_cast<__mmask16>((1u << n) - 1), (__m512i)v);
      return;
    } else if constexpr (sizeof(T) == 8 && N == 8) {
      _mm512_mask_storeu_epi64(p, static_cast<__mmask8>((1u << n) - 1), (__m512i)v);
      return;
    } else
#endif
    {
      for (int i = 0; i < n; ++i) {
        p[i] = v[i];
      }
    }
  }

  friend VEC_INLINE Vec operator+(Vec a, Vec b) {
    return (raw)((wrapping)a.v + (wrapping)b.v);
  }
  friend VEC_INLINE Vec operator-(Vec a, Vec b) {
    return (raw)((wrapping)a.v - (wrapping)b.v);
  }
  friend VEC_INLINE Vec operator*(Vec a, Vec b) {
    return (raw)((wrapping)a.v * (wrapping)b.v);
  }
  friend VEC_INLINE Vec operator/(Vec a, Vec b) {
    return a.v / b.v;
  }
  friend VEC_INLINE Vec operator-(Vec a) {
    return (raw)(-(wrapping)a.v);
  }
  VEC_INLINE Vec& operator+=(Vec b) {
    return *this = *this + b;
  }
  VEC_INLINE Vec& operator-=(Vec b) {
    return *this = *this - b;
  }
  VEC_INLINE Vec& operator*=(Vec b) {
    return *this = *this * b;
  }
  VEC_INLINE Vec& operator/=(Vec b) {
    v /= b.v;
    return *this;
  }

  // Integer lanes only.
  friend VEC_INLINE Vec operator&(Vec a, Vec b) {
    return a.v & b.v;
  }
  friend VEC_INLINE Vec operator|(Vec a, Vec b) {
    return a.v | b.v;
  }
  friend VEC_INLINE Vec operator^(Vec a, Vec b) {
    return a.v ^ b.v;
  }
  friend VEC_INLINE Vec operator~(Vec a) {
    return ~a.v;
  }
  friend VEC_INLINE Vec operator<<(Vec a, int bits) {
    return a.v << bits;
  }
  friend VEC_INLINE Vec operator>>(Vec a, int bits) {
    return a.v >> bits;
  }

  friend VEC_INLINE mask operator==(Vec a, Vec b) {
    return mask((typename mask::raw)(a.v == b.v));
  }
  friend VEC_INLINE mask operator!=(Vec a, Vec b) {
    return mask((typename mask::raw)(a.v != b.v));
  }
  friend VEC_INLINE mask operator<(Vec a, Vec b) {
    return mask((typename mask::raw)(a.v < b.v));
  }
  friend VEC_INLINE mask operator<=(Vec a, Vec b) {
    return mask((typename mask::raw)(a.v <= b.v));
  }
  friend VEC_INLINE mask operator>(Vec a, Vec b) {
    return mask((typename mask::raw)(a.v > b.v));
  }
  friend VEC_INLINE mask operator>=(Vec a, Vec b) {
    return mask((typename mask::raw)(a.v >= b.v));
  }
};

template <class T>
inline constexpr bool is_vec_v = false;
template <class T, int N>
inline constexpr bool is_vec_v<Vec<T, N>> = true;

/// The same bits seen as lanes of To.
template <class To, class From, int N>
VEC_INLINE Vec<To, N * sizeof(From) / sizeof(To)> bit_cast(Vec<From, N> x) {
  return Vec<To, N * sizeof(From) / sizeof(To)>((typename detail::Raw<To, N * sizeof(From) / sizeof(To)>::type) x.v);
}

/// Lane by lane as static_cast does.
template <class To, class From, int N>
VEC_INLINE Vec<To, N> convert(Vec<From, N> x) {
  return Vec<To, N>(__builtin_convertvector(x.v, typename detail::Raw<To, N>::type));
}

/// Lanes of a where the mask is set, else of b.
template <class T, int N>
VEC_INLINE Vec<T, N> select(Vec<int_same<T>, N> m, Vec<T, N> a, Vec<T, N> b) {
  return Vec<T, N>(m.v ? a.v : b.v);
}

/// The lower of two values; the second when one is NaN (as the x86 instruction does, which GCC does not find by
/// itself).
template <class T, int N>
VEC_INLINE Vec<T, N> min(Vec<T, N> a, Vec<T, N> b) {
#if defined(VEC_AVX512)
  if constexpr (std::is_same_v<T, float> && N == 16) {
    return Vec<T, N>((typename Vec<T, N>::raw)_mm512_min_ps((__m512)a.v, (__m512)b.v));
  } else if constexpr (std::is_same_v<T, double> && N == 8) {
    return Vec<T, N>((typename Vec<T, N>::raw)_mm512_min_pd((__m512d)a.v, (__m512d)b.v));
  } else
#elif defined(__AVX2__)
  if constexpr (std::is_same_v<T, float> && N == 8) {
    return Vec<T, N>((typename Vec<T, N>::raw)_mm256_min_ps((__m256)a.v, (__m256)b.v));
  } else if constexpr (std::is_same_v<T, double> && N == 4) {
    return Vec<T, N>((typename Vec<T, N>::raw)_mm256_min_pd((__m256d)a.v, (__m256d)b.v));
  } else
#endif
  {
    return Vec<T, N>(a.v < b.v ? a.v : b.v);
  }
}
template <class T, int N>
VEC_INLINE Vec<T, N> max(Vec<T, N> a, Vec<T, N> b) {
#if defined(VEC_AVX512)
  if constexpr (std::is_same_v<T, float> && N == 16) {
    return Vec<T, N>((typename Vec<T, N>::raw)_mm512_max_ps((__m512)a.v, (__m512)b.v));
  } else if constexpr (std::is_same_v<T, double> && N == 8) {
    return Vec<T, N>((typename Vec<T, N>::raw)_mm512_max_pd((__m512d)a.v, (__m512d)b.v));
  } else
#elif defined(__AVX2__)
  if constexpr (std::is_same_v<T, float> && N == 8) {
    return Vec<T, N>((typename Vec<T, N>::raw)_mm256_max_ps((__m256)a.v, (__m256)b.v));
  } else if constexpr (std::is_same_v<T, double> && N == 4) {
    return Vec<T, N>((typename Vec<T, N>::raw)_mm256_max_pd((__m256d)a.v, (__m256d)b.v));
  } else
#endif
  {
    return Vec<T, N>(a.v > b.v ? a.v : b.v);
  }
}

template <class T, int N>
VEC_INLINE Vec<T, N> abs(Vec<T, N> x) {
  if constexpr (std::is_floating_point_v<T>) {
    using I = int_same<T>;
    return bit_cast<T>(bit_cast<I>(x) & Vec<I, N>(std::numeric_limits<I>::max()));
  } else {
    return Vec<T, N>(x.v < 0 ? -x.v : x.v);
  }
}

/// The magnitude of x with the sign of s.
template <class T, int N>
VEC_INLINE Vec<T, N> copysign(Vec<T, N> x, Vec<T, N> s) {
  using I = int_same<T>;
  const Vec<I, N> sign(std::numeric_limits<I>::min());
  return bit_cast<T>((bit_cast<I>(x) & ~sign) | (bit_cast<I>(s) & sign));
}

/// True when some lane of a mask is set.
template <class I, int N>
VEC_INLINE bool any(Vec<I, N> m) {
#if defined(VEC_AVX512)
  if constexpr (sizeof(I) * N == 64) {
    return _mm512_test_epi64_mask((__m512i)m.v, (__m512i)m.v) != 0;
  } else
#elif defined(__AVX2__)
  if constexpr (sizeof(I) * N == 32) {
    return !_mm256_testz_si256((__m256i)m.v, (__m256i)m.v);
  } else
#elif defined(__SSE4_1__)
  if constexpr (sizeof(I) * N == 16) {
    return !_mm_testz_si128((__m128i)m.v, (__m128i)m.v);
  } else
#endif
  {
    I joined = 0;
    for (int i = 0; i < N; ++i) {
      joined |= m.v[i];
    }
    return joined != 0;
  }
}

namespace detail {

template <class T, int N>
VEC_INLINE Vec<T, N / 2> low(Vec<T, N> x) {
  Vec<T, N / 2> r;
  std::memcpy(&r.v, &x.v, sizeof(r.v));
  return r;
}
template <class T, int N>
VEC_INLINE Vec<T, N / 2> high(Vec<T, N> x) {
  Vec<T, N / 2> r;
  std::memcpy(&r.v, reinterpret_cast<const char*>(&x.v) + sizeof(r.v), sizeof(r.v));
  return r;
}
template <class T, int N>
VEC_INLINE Vec<T, 2 * N> join(Vec<T, N> a, Vec<T, N> b) {
  Vec<T, 2 * N> r;
  std::memcpy(&r.v, &a.v, sizeof(a.v));
  std::memcpy(reinterpret_cast<char*>(&r.v) + sizeof(a.v), &b.v, sizeof(b.v));
  return r;
}

} // namespace detail

/// Combines all lanes with op (Vec, Vec) -> Vec, pairwise by halves.
template <class T, int N, class Op>
VEC_INLINE T reduce(Vec<T, N> x, Op op) {
  if constexpr (N == 1) {
    return x.v[0];
  } else if constexpr (N == 2) {
    return op(Vec<T, 2>(x.v), Vec<T, 2>(typename Vec<T, 2>::raw{x.v[1], x.v[0]}))[0];
  } else {
    return reduce(op(detail::low(x), detail::high(x)), op);
  }
}
template <class T, int N>
VEC_INLINE T reduce_add(Vec<T, N> x) {
  return reduce(x, [](auto a, auto b) { return a + b; });
}
template <class T, int N>
VEC_INLINE T reduce_max(Vec<T, N> x) {
  return reduce(x, [](auto a, auto b) { return max(a, b); });
}
template <class T, int N>
VEC_INLINE T reduce_min(Vec<T, N> x) {
  return reduce(x, [](auto a, auto b) { return min(a, b); });
}

// ---- rounding, square root ---------------------------------------------------------------------------------------

namespace detail {

// `mode` as in roundps: 0 nearest even, 1 down, 2 up, 3 to zero; 8 silences inexact.
template <int Mode, class T, int N>
VEC_INLINE Vec<T, N> round_mode(Vec<T, N> x) {
#if defined(VEC_AVX512)
  if constexpr (sizeof(T) * N == 64) {
    if constexpr (sizeof(T) == 4) {
      return Vec<T, N>((typename Vec<T, N>::raw)_mm512_roundscale_ps((__m512)x.v, Mode | 8));
    } else {
      return Vec<T, N>((typename Vec<T, N>::raw)_mm512_roundscale_pd((__m512d)x.v, Mode | 8));
    }
  } else
#endif
#if defined(__AVX2__)
      if constexpr (sizeof(T) * N == 32) {
    if constexpr (sizeof(T) == 4) {
      return Vec<T, N>((typename Vec<T, N>::raw)_mm256_round_ps((__m256)x.v, Mode | 8));
    } else {
      return Vec<T, N>((typename Vec<T, N>::raw)_mm256_round_pd((__m256d)x.v, Mode | 8));
    }
  } else
#endif
#if defined(__SSE4_1__)
      if constexpr (sizeof(T) * N == 16) {
    if constexpr (sizeof(T) == 4) {
      return Vec<T, N>((typename Vec<T, N>::raw)_mm_round_ps((__m128)x.v, Mode | 8));
    } else {
      return Vec<T, N>((typename Vec<T, N>::raw)_mm_round_pd((__m128d)x.v, Mode | 8));
    }
  } else
#endif
  {
    Vec<T, N> r;
    for (int i = 0; i < N; ++i) {
      r.v[i] = Mode == 0 ? __builtin_rint(x.v[i])
          : Mode == 1    ? __builtin_floor(x.v[i])
          : Mode == 2    ? __builtin_ceil(x.v[i])
                         : __builtin_trunc(x.v[i]);
    }
    return r;
  }
}

} // namespace detail

/// To the nearest integer, halves to even.
template <class T, int N>
VEC_INLINE Vec<T, N> rint(Vec<T, N> x) {
  return detail::round_mode<0>(x);
}
template <class T, int N>
VEC_INLINE Vec<T, N> nearbyint(Vec<T, N> x) {
  return detail::round_mode<0>(x);
}
template <class T, int N>
VEC_INLINE Vec<T, N> floor(Vec<T, N> x) {
  return detail::round_mode<1>(x);
}
template <class T, int N>
VEC_INLINE Vec<T, N> ceil(Vec<T, N> x) {
  return detail::round_mode<2>(x);
}
template <class T, int N>
VEC_INLINE Vec<T, N> trunc(Vec<T, N> x) {
  return detail::round_mode<3>(x);
}

template <class T, int N>
VEC_INLINE Vec<T, N> sqrt(Vec<T, N> x) {
  Vec<T, N> r;
  for (int i = 0; i < N; ++i) { // one instruction: compilers vectorise it under -fno-math-errno
    if constexpr (sizeof(T) == 4) {
      r.v[i] = __builtin_sqrtf(x.v[i]);
    } else {
      r.v[i] = __builtin_sqrt(x.v[i]);
    }
  }
#if defined(VEC_AVX512)
  if constexpr (sizeof(T) * N == 64) {
    if constexpr (sizeof(T) == 4) {
      r.v = (typename Vec<T, N>::raw)_mm512_sqrt_ps((__m512)x.v);
    } else {
      r.v = (typename Vec<T, N>::raw)_mm512_sqrt_pd((__m512d)x.v);
    }
  }
#elif defined(__AVX2__)
  if constexpr (sizeof(T) * N == 32) {
    if constexpr (sizeof(T) == 4) {
      r.v = (typename Vec<T, N>::raw)_mm256_sqrt_ps((__m256)x.v);
    } else {
      r.v = (typename Vec<T, N>::raw)_mm256_sqrt_pd((__m256d)x.v);
    }
  }
#endif
  return r;
}

/// 1 / sqrt(x), correctly rounded in both steps.
template <class T, int N>
VEC_INLINE Vec<T, N> rsqrt(Vec<T, N> x) {
  return Vec<T, N>(T(1)) / sqrt(x);
}

// ---- half and bfloat16 as float lanes ----------------------------------------------------------------------------

using VecFloat = Vec<float>;

VEC_INLINE VecFloat load_float(const float* p) {
  return VecFloat::load(p);
}
VEC_INLINE VecFloat load_float(const c10::BFloat16* p) {
  using U32 = Vec<std::uint32_t, VecFloat::size()>;
#if defined(VEC_AVX512)
  const U32 wide((U32::raw)_mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p))));
#elif defined(__AVX2__)
  const U32 wide((U32::raw)_mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))));
#else
  using U16 = Vec<std::uint16_t, VecFloat::size()>;
  const U32 wide = convert<std::uint32_t>(U16::load(reinterpret_cast<const std::uint16_t*>(p)));
#endif
  return bit_cast<float>(wide << 16);
}
VEC_INLINE VecFloat load_float(const c10::Half* p) {
#if defined(VEC_AVX512)
  return VecFloat((VecFloat::raw)_mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p))));
#elif defined(__F16C__)
  return VecFloat((VecFloat::raw)_mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))));
#else
  VecFloat r;
  for (int i = 0; i < VecFloat::size(); ++i) {
    r.v[i] = static_cast<float>(p[i]);
  }
  return r;
#endif
}

VEC_INLINE void store_float(VecFloat x, float* p) {
  x.store(p);
}
namespace detail {

// The nearest bfloat16, halves to even, in the upper half of each lane; the lower half holds anything.
VEC_INLINE Vec<std::uint32_t, VecFloat::size()> round_to_bfloat16(VecFloat x) {
  using U32 = Vec<std::uint32_t, VecFloat::size()>;
  const U32 bits = bit_cast<std::uint32_t>(x);
  // Just below half of the last kept place is added; NaN would round to infinity.
  const U32 rounded = bits + U32(0x7fffu) + ((bits >> 16) & U32(1u));
  return bit_cast<std::uint32_t>(
      select(x != x, Vec<std::int32_t, VecFloat::size()>(0x7fc00000), bit_cast<std::int32_t>(rounded)));
}

} // namespace detail

VEC_INLINE void store_float(VecFloat x, c10::BFloat16* p) {
  using U32 = Vec<std::uint32_t, VecFloat::size()>;
  const U32 result = detail::round_to_bfloat16(x) >> 16;
#if defined(VEC_AVX512)
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), _mm512_cvtepi32_epi16((__m512i)result.v));
#elif defined(__AVX2__)
  const __m256i whole = (__m256i)result.v;
  _mm_storeu_si128(
      reinterpret_cast<__m128i*>(p),
      _mm_packus_epi32(_mm256_castsi256_si128(whole), _mm256_extracti128_si256(whole, 1)));
#else
  convert<std::uint16_t>(result).store(reinterpret_cast<std::uint16_t*>(p));
#endif
}
VEC_INLINE void store_float(VecFloat x, c10::Half* p) {
#if defined(VEC_AVX512)
  _mm256_storeu_si256(
      reinterpret_cast<__m256i*>(p), _mm512_cvtps_ph((__m512)x.v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
#elif defined(__F16C__)
  _mm_storeu_si128(
      reinterpret_cast<__m128i*>(p), _mm256_cvtps_ph((__m256)x.v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
#else
  for (int i = 0; i < VecFloat::size(); ++i) {
    p[i] = c10::Half(x.v[i]);
  }
#endif
}

/// Twice as many adjacent elements as float lanes, split into even and odd places: it costs less than in order.
struct FloatPairs {
  VecFloat even, odd;
};
VEC_INLINE FloatPairs load_pairs(const c10::BFloat16* p) {
  using U32 = Vec<std::uint32_t, VecFloat::size()>;
  U32 both;
  std::memcpy(&both.v, p, sizeof(both.v));
  return {bit_cast<float>(both << 16), bit_cast<float>(both & U32(0xffff0000u))};
}
VEC_INLINE void store_pairs(FloatPairs x, c10::BFloat16* p) {
  using U32 = Vec<std::uint32_t, VecFloat::size()>;
  const U32 even = detail::round_to_bfloat16(x.even) >> 16, odd = detail::round_to_bfloat16(x.odd) & U32(0xffff0000u);
  const U32 both = even | odd;
  std::memcpy(static_cast<void*>(p), &both.v, sizeof(both.v));
}

/// The first n elements, the rest 0.
template <class T>
VEC_INLINE VecFloat load_float(const T* p, int n) {
  if constexpr (std::is_same_v<T, float>) {
    return VecFloat::load(p, n);
  } else {
    std::uint16_t block[VecFloat::size()] = {};
    for (int i = 0; i < n; ++i) {
      block[i] = reinterpret_cast<const std::uint16_t*>(p)[i];
    }
    return load_float(reinterpret_cast<const T*>(block));
  }
}
template <class T>
VEC_INLINE void store_float(VecFloat x, T* p, int n) {
  if constexpr (std::is_same_v<T, float>) {
    x.store(p, n);
  } else {
    std::uint16_t block[VecFloat::size()];
    store_float(x, reinterpret_cast<T*>(block));
    for (int i = 0; i < n; ++i) {
      reinterpret_cast<std::uint16_t*>(p)[i] = block[i];
    }
  }
}

} // namespace CPU_CAPABILITY
} // namespace at::vec
