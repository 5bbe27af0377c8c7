// The Mersenne Twister a block at a time, and the samplers that are maps of its numbers.
#include <aten/core/OpMathType.h>
#include <aten/native/cpu/random.h>
#include <aten/native/vec/math.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numbers>
#include <type_traits>

namespace at::native {
inline namespace CPU_CAPABILITY {

namespace {

/// Words of the stream that are kept between drawing and mapping them: 2 KiB, a small part of the first-level cache.
constexpr int64_t kWords = 512;

VEC_INLINE uint32_t twisted(uint32_t far, uint32_t upper, uint32_t lower) {
  return far ^ (((upper & 0x80000000U) | (lower & 0x7fffffffU)) >> 1) ^ ((0U - (lower & 1U)) & 0x9908b0dfU);
}

} // namespace

void twist_state(uint32_t* state) {
  constexpr int size = mt19937::kStateSize, shift = 397;
#pragma omp simd safelen(64)
  for (int j = 0; j < size - shift; ++j) {
    state[j] = twisted(state[j + shift], state[j], state[j + 1]);
  }
#pragma omp simd safelen(64)
  for (int j = size - shift; j < size - 1; ++j) {
    state[j] = twisted(state[j + shift - size], state[j], state[j + 1]);
  }
  state[size - 1] = twisted(state[shift - 1], state[size - 1], state[0]);
}

void draw_words(CPUGeneratorImpl& generator, uint32_t* to, int64_t n) {
  while (n > 0) {
    const auto [words, count] = generator.take(n);
#pragma omp simd
    for (int i = 0; i < count; ++i) {
      to[i] = mt19937::temper(words[i]);
    }
    to += count;
    n -= count;
  }
}

namespace {

/// map(words, i, count) for all i of 0..n in blocks: `words` are the draws of `count` elements from i on, PerElement
/// each.
template <int PerElement, class Map>
VEC_INLINE void map_words(CPUGeneratorImpl& generator, int64_t n, Map map) {
  alignas(64) uint32_t words[kWords];
  for (int64_t i = 0; i < n; i += kWords / PerElement) {
    const int64_t count = std::min(kWords / PerElement, n - i);
    draw_words(generator, words, count * PerElement);
    map(static_cast<const uint32_t*>(words), i, count);
  }
}

/// The i-th pair of words: the first in the lower half, though it holds the upper bits of a draw of 64.
VEC_INLINE uint64_t word_pair(const uint32_t* words, int64_t i) {
  uint64_t pair;
  std::memcpy(&pair, words + 2 * i, sizeof(pair));
  return pair;
}

/// Uniform in [0, 1), of the i-th word or pair of words.
VEC_INLINE float unit_sample(const uint32_t* words, int64_t i, float) {
  return static_cast<float>(static_cast<int32_t>(words[i] & 0xffffffU)) * 0x1p-24f;
}
VEC_INLINE double unit_sample(const uint32_t* words, int64_t i, double) {
  // Each half becomes a double by putting it into the last bits of one: there is no vector conversion before AVX-512.
  const uint64_t pair = word_pair(words, i);
  const double upper = std::bit_cast<double>((pair & 0x1fffffU) | 0x4530000000000000U);
  const double lower = std::bit_cast<double>(pair >> 32 | 0x4330000000000000U);
  return ((upper - (0x1p84 + 0x1p52)) + lower) * 0x1p-53;
}

template <class Acc>
constexpr int kWordsOf = sizeof(Acc) / sizeof(uint32_t);

template <class Acc>
VEC_INLINE void draw_units(CPUGeneratorImpl& generator, Acc* to, int64_t n) {
  map_words<kWordsOf<Acc>>(generator, n, [to](const uint32_t* words, int64_t first, int64_t count) {
#pragma omp simd
    for (int64_t i = 0; i < count; ++i) {
      to[first + i] = unit_sample(words, i, Acc());
    }
  });
}

/// n results of type T, computed in blocks of their type of computation: fill(block, i, count) for those from the i-th
/// on.
template <class T, class Acc = opmath_type<T>, class Fill>
VEC_INLINE void fill_blocks(T* to, int64_t n, Fill fill) {
  constexpr int64_t width = vec::VecFloat::size();
  for (int64_t i = 0; i < n; i += kWords) {
    const int64_t count = std::min(kWords, n - i);
    if constexpr (std::is_same_v<T, Acc>) {
      fill(to + i, i, count);
    } else {
      alignas(64) Acc block[kWords];
      fill(block, i, count);
      int64_t k = 0;
      for (; k + width <= count; k += width) {
        vec::store_float(vec::VecFloat::load(block + k), to + i + k);
      }
      if (k < count) {
        vec::store_float(vec::VecFloat::load(block + k), to + i + k, static_cast<int>(count - k));
      }
    }
  }
}

} // namespace

// ---- integers ----------------------------------------------------------------------------

void draw_below(CPUGeneratorImpl& generator, uint32_t* to, int64_t n, uint32_t range) {
  // The reciprocal is rounded down, so the quotient is right or one too small.
  const uint32_t reciprocal = std::numeric_limits<uint32_t>::max() / range;
  map_words<1>(generator, n, [=](const uint32_t* words, int64_t first, int64_t count) {
#pragma omp simd
    for (int64_t i = 0; i < count; ++i) {
      const auto quotient = static_cast<uint32_t>(uint64_t{words[i]} * reciprocal >> 32);
      const uint32_t rest = words[i] - quotient * range;
      to[first + i] = std::min(rest, rest - range);
    }
  });
}

void draw_coins(CPUGeneratorImpl& generator, uint8_t* to, int64_t n, double p) {
  // A uniform k / 2^53 is less than p just where k is less than 2^53 p, rounded up.
  const auto limit = static_cast<int64_t>(std::ceil(p * 0x1p53));
  map_words<2>(generator, n, [=](const uint32_t* words, int64_t first, int64_t count) {
#pragma omp simd
    for (int64_t i = 0; i < count; ++i) {
      const uint64_t pair = word_pair(words, i);
      const auto bits = static_cast<int64_t>((pair & 0x1fffffU) << 32 | pair >> 32);
      to[first + i] = bits < limit ? 1 : 0;
    }
  });
}

// ---- reals -------------------------------------------------------------------------------

namespace {

/// What x is once it is stored as T.
template <class T>
VEC_INLINE vec::VecFloat rounded(vec::VecFloat x) {
  T lanes[vec::VecFloat::size()];
  vec::store_float(x, lanes);
  return vec::load_float(lanes);
}

/// Puts `low` where a 16-bit type would round up to the excluded bound.
template <class T>
VEC_INLINE void keep_below(float* block, int64_t n, double limit, float low) {
  using V = vec::VecFloat;
  const float near = static_cast<float>(limit);
  const V bound(near < limit ? std::nextafter(near, std::numeric_limits<float>::infinity()) : near);
  int64_t i = 0;
  for (; i + V::size() <= n; i += V::size()) {
    const V x = V::load(block + i);
    select(rounded<T>(x) < bound, x, V(low)).store(block + i);
  }
  if (const int rest = static_cast<int>(n - i); rest > 0) {
    const V x = V::load(block + i, rest);
    select(rounded<T>(x) < bound, x, V(low)).store(block + i, rest);
  }
}

} // namespace

template <class T>
void draw_uniform(CPUGeneratorImpl& generator, T* to, int64_t n, double from, double limit) {
  using Acc = opmath_type<T>;
  const Acc low = static_cast<Acc>(from), span = static_cast<Acc>(limit) - low;
  fill_blocks<T>(to, n, [&](Acc* block, int64_t, int64_t count) {
    draw_units(generator, block, count);
#pragma omp simd
    for (int64_t i = 0; i < count; ++i) {
      block[i] = block[i] * span + low;
    }
    if constexpr (!std::is_same_v<T, Acc>) {
      if (from < limit) keep_below<T>(block, count, limit, low);
    }
  });
}

namespace {

// The logarithm, sine and cosine of Moshier's Cephes library in single precision. PyTorch maps floats to normal numbers
// by the same formulas, so samples agree to the last bit where both fuse multiplications with additions.

/// For positive normal x.
VEC_INLINE float cephes_log(float x) {
  const uint32_t bits = std::bit_cast<uint32_t>(x);
  float m = std::bit_cast<float>((bits & 0x007fffffU) | 0x3f000000U); // x = m 2^e with m in [1/2, 1)
  float e = static_cast<float>(static_cast<int32_t>(bits >> 23) - 126);
  const bool is_small = m < 0.707106781186547524f;
  e = e - (is_small ? 1.0f : 0.0f);
  m = (m - 1.0f) + (is_small ? m : 0.0f);
  const float z = m * m;
  float y = 7.0376836292e-2f;
  y = y * m + -1.1514610310e-1f;
  y = y * m + 1.1676998740e-1f;
  y = y * m + -1.2420140846e-1f;
  y = y * m + 1.4249322787e-1f;
  y = y * m + -1.6668057665e-1f;
  y = y * m + 2.0000714765e-1f;
  y = y * m + -2.4999993993e-1f;
  y = y * m + 3.3333331174e-1f;
  y = y * m;
  y = y * z;
  y = y + e * -2.12194440e-4f;
  y = y - z * 0.5f;
  return (m + y) + e * 0.693359375f;
}

struct SinCos {
  float sin, cos;
};

/// For x of [0, 8192).
VEC_INLINE SinCos cephes_sin_cos(float x) {
  const uint32_t octant = (static_cast<uint32_t>(static_cast<int32_t>(x * 1.27323954473516f)) + 1) & ~1U;
  const float n = static_cast<float>(static_cast<int32_t>(octant));
  x = x + n * -0.78515625f; // pi / 4 in three parts
  x = x + n * -2.4187564849853515625e-4f;
  x = x + n * -3.77489497744594108e-8f;
  const float z = x * x;
  float c = 2.443315711809948e-5f;
  c = c * z + -1.388731625493765e-3f;
  c = c * z + 4.166664568298827e-2f;
  c = c * z;
  c = c * z;
  c = c - z * 0.5f;
  c = c + 1.0f;
  float s = -1.9515295891e-4f;
  s = s * z + 8.3321608736e-3f;
  s = s * z + -1.6666654611e-1f;
  s = s * z;
  s = s * x + x;
  const bool is_swapped = (octant & 2U) != 0;
  const uint32_t sine = std::bit_cast<uint32_t>(is_swapped ? c : s),
                 cosine = std::bit_cast<uint32_t>(is_swapped ? s : c);
  return {
      std::bit_cast<float>(sine ^ ((octant & 4U) << 29)), std::bit_cast<float>(cosine ^ ((~(octant - 2U) & 4U) << 29))};
}

/// Sixteen uniforms become sixteen normals: the first eight are angles' radii, the last eight angles.
VEC_INLINE void box_muller_16(float* data, float mean, float std) {
#pragma omp simd
  for (int j = 0; j < 8; ++j) {
    const float radius = std::sqrt(-2.0f * cephes_log(1.0f - data[j]));
    const SinCos angle = cephes_sin_cos(2.0f * std::numbers::pi_v<float> * data[j + 8]);
    data[j] = radius * angle.cos * std + mean;
    data[j + 8] = radius * angle.sin * std + mean;
  }
}
VEC_INLINE void box_muller_16(double* data, double mean, double std) {
  for (int j = 0; j < 8; ++j) {
    const double radius = std::sqrt(-2.0 * std::log(1.0 - data[j]));
    const double theta = 2.0 * std::numbers::pi * data[j + 8];
    data[j] = radius * std::cos(theta) * std + mean;
    data[j + 8] = radius * std::sin(theta) * std + mean;
  }
}

} // namespace

template <class T>
void draw_normal(CPUGeneratorImpl& generator, T* to, int64_t n, double mean, double std) {
  using Acc = opmath_type<T>;
  const auto fill = [&](Acc* block, int64_t, int64_t count) {
    draw_units(generator, block, count);
    for (int64_t i = 0; i < count; i += 16) {
      box_muller_16(block + i, static_cast<Acc>(mean), static_cast<Acc>(std));
    }
  };
  const int64_t rest = n % 16;
  fill_blocks<T>(to, n - rest, fill);
  if (rest == 0) {
    return;
  }
  // The last sixteen are drawn anew. Float and double have drawn for the rest before that, the 16-bit types have not.
  if constexpr (std::is_same_v<T, Acc>) {
    Acc unused[16];
    draw_units(generator, unused, rest);
  }
  fill_blocks<T>(to + n - 16, 16, fill);
}

void draw_exponential(CPUGeneratorImpl& generator, double* to, int64_t n, double lambd) {
  using V = vec::Vec<double>;
  const V scale(-1.0 / lambd);
  draw_units(generator, to, n);
  int64_t i = 0;
  for (; i + V::size() <= n; i += V::size()) {
    (scale * vec::log1p(-V::load(to + i))).store(to + i);
  }
  if (const int rest = static_cast<int>(n - i); rest > 0) {
    (scale * vec::log1p(-V::load(to + i, rest))).store(to + i, rest);
  }
}

void draw_geometric(CPUGeneratorImpl& generator, double* to, int64_t n, double p) {
  using V = vec::Vec<double>;
  const V failure(std::log1p(-p));
  draw_units(generator, to, n);
  int64_t i = 0;
  for (; i + V::size() <= n; i += V::size()) {
    vec::ceil(vec::log(V::load(to + i)) / failure).store(to + i);
  }
  if (const int rest = static_cast<int>(n - i); rest > 0) {
    vec::ceil(vec::log(V::load(to + i, rest)) / failure).store(to + i, rest);
  }
}

// ---- dropout -----------------------------------------------------------------------------

template <class T>
void scale_masked(const T* from, const uint8_t* mask, T* to, int64_t n, double scale) {
  using Acc = opmath_type<T>;
  const Acc kept = static_cast<Acc>(scale);
  fill_blocks<T>(to, n, [&](Acc* block, int64_t first, int64_t count) {
    if constexpr (std::is_same_v<T, Acc>) {
#pragma omp simd
      for (int64_t i = 0; i < count; ++i) block[i] = from[first + i] * (mask[first + i] != 0 ? kept : Acc(0));
    } else {
      using V = vec::VecFloat;
      int64_t i = 0;
      for (; i + V::size() <= count; i += V::size()) vec::load_float(from + first + i).store(block + i);
      if (i < count)
        vec::load_float(from + first + i, static_cast<int>(count - i)).store(block + i, static_cast<int>(count - i));
#pragma omp simd
      for (i = 0; i < count; ++i) block[i] *= mask[first + i] != 0 ? kept : Acc(0);
    }
  });
}

template void draw_uniform(CPUGeneratorImpl&, float*, int64_t, double, double);
template void draw_uniform(CPUGeneratorImpl&, double*, int64_t, double, double);
template void draw_uniform(CPUGeneratorImpl&, c10::Half*, int64_t, double, double);
template void draw_uniform(CPUGeneratorImpl&, c10::BFloat16*, int64_t, double, double);
template void draw_normal(CPUGeneratorImpl&, float*, int64_t, double, double);
template void draw_normal(CPUGeneratorImpl&, double*, int64_t, double, double);
template void draw_normal(CPUGeneratorImpl&, c10::Half*, int64_t, double, double);
template void draw_normal(CPUGeneratorImpl&, c10::BFloat16*, int64_t, double, double);
template void scale_masked(const float*, const uint8_t*, float*, int64_t, double);
template void scale_masked(const double*, const uint8_t*, double*, int64_t, double);
template void scale_masked(const c10::Half*, const uint8_t*, c10::Half*, int64_t, double);
template void scale_masked(const c10::BFloat16*, const uint8_t*, c10::BFloat16*, int64_t, double);

} // namespace CPU_CAPABILITY
} // namespace at::native
