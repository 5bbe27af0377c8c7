// Between dtypes, and lanes in another order: at::vec::Vectorized. Included by vec_base.h.
#pragma once

#include <csrc/compat/aten/cpu/vec/vec_base.h>

namespace at::vec {
inline namespace CPU_CAPABILITY {
inline namespace AT_VEC_ISA {

/// The same bits seen as another dtype.
template <class To, class From>
Vectorized<To> cast(const Vectorized<From>& v) {
  return Vectorized<To>::loadu(v.as_bytes());
}

/// Floating numbers towards 0; what an integer cannot hold, NaN among it, gives its smallest number.
template <class T, class Int = int_same_size_t<T>>
Vectorized<Int> convert_to_int_of_same_size(const Vectorized<T>& v) {
  return Vectorized<Int>::make([&](int i) {
    constexpr auto kEnd = static_cast<T>(std::numeric_limits<Int>::max() / 2 + 1) * static_cast<T>(2);
    return v[i] >= -kEnd && v[i] < kEnd ? static_cast<Int>(v[i]) : std::numeric_limits<Int>::min();
  });
}
template <class T, class Int = int_same_size_t<T>>
Vectorized<T> convert_to_fp_of_same_size(const Vectorized<Int>& v) {
  return Vectorized<T>::make([&](int i) { return static_cast<T>(v[i]); });
}

/// n elements from one dtype to another.
template <class From, class To>
void convert(const From* from, To* to, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    to[i] = c10::convert<To>(c10::load(from + i));
  }
}

/// The lower and the upper half of the lanes of a Half or BFloat16 vector.
template <class T, std::enable_if_t<is_reduced_floating_point_v<T>, int> = 0>
std::tuple<Vectorized<float>, Vectorized<float>> convert_to_float(const Vectorized<T>& v) {
  using Floats = Vectorized<float>;
  return {Floats::make([&](int i) { return static_cast<float>(v[i]); }), Floats::make([&](int i) {
            return static_cast<float>(v[i + Floats::size()]);
          })};
}
template <class T, std::enable_if_t<is_reduced_floating_point_v<T>, int> = 0>
Vectorized<T> convert_from_float(const Vectorized<float>& low, const Vectorized<float>& high) {
  constexpr int kHalf = Vectorized<float>::size();
  return Vectorized<T>::make([&](int i) { return static_cast<T>(i < kHalf ? low[i] : high[i - kHalf]); });
}
inline auto convert_bfloat16_float(const Vectorized<c10::BFloat16>& v) {
  return convert_to_float<c10::BFloat16>(v);
}
inline auto convert_half_float(const Vectorized<c10::Half>& v) {
  return convert_to_float<c10::Half>(v);
}
inline auto convert_float_bfloat16(const Vectorized<float>& low, const Vectorized<float>& high) {
  return convert_from_float<c10::BFloat16>(low, high);
}
inline auto convert_float_half(const Vectorized<float>& low, const Vectorized<float>& high) {
  return convert_from_float<c10::Half>(low, high);
}

/// As many Half or BFloat16 from memory as fill one float vector, or two.
template <class T, std::enable_if_t<is_reduced_floating_point_v<T>, int> = 0>
void load_to_float(const T* from, Vectorized<float>& out) {
  out = Vectorized<float>::make([&](int i) { return static_cast<float>(from[i]); });
}
template <class T, std::enable_if_t<is_reduced_floating_point_v<T>, int> = 0>
void load_to_float(const T* from, Vectorized<float>& low, Vectorized<float>& high) {
  load_to_float(from, low);
  load_to_float(from + Vectorized<float>::size(), high);
}
inline void load_fp32_from_bf16(const c10::BFloat16* from, Vectorized<float>& out) {
  load_to_float(from, out);
}
inline void load_fp32_from_bf16(const c10::BFloat16* from, Vectorized<float>& low, Vectorized<float>& high) {
  load_to_float(from, low, high);
}
inline void load_fp32_from_fp16(const c10::Half* from, Vectorized<float>& out) {
  load_to_float(from, out);
}
inline void load_fp32_from_fp16(const c10::Half* from, Vectorized<float>& low, Vectorized<float>& high) {
  load_to_float(from, low, high);
}

/// Lane i from base + index[i] * scale bytes.
template <int64_t scale = 1, class T = void>
std::enable_if_t<scale == 1 || scale == 2 || scale == 4 || scale == 8, Vectorized<T>> gather(
    const T* base, const Vectorized<int_same_size_t<T>>& index) {
  return Vectorized<T>::make([&](int i) { return base[index[i] * scale / static_cast<int64_t>(sizeof(T))]; });
}
/// The same where the mask's sign bit is set, else the lane of `other`.
template <int64_t scale = 1, class T = void>
std::enable_if_t<scale == 1 || scale == 2 || scale == 4 || scale == 8, Vectorized<T>> mask_gather(
    const Vectorized<T>& other, const T* base, const Vectorized<int_same_size_t<T>>& index, const Vectorized<T>& mask) {
  const auto bits = cast<int_same_size_t<T>>(mask);
  return Vectorized<T>::make(
      [&](int i) { return bits[i] < 0 ? base[index[i] * scale / static_cast<int64_t>(sizeof(T))] : other[i]; });
}

/// {a0 a2 .. b0 b2 .., a1 a3 .. b1 b3 ..}
template <class T>
std::pair<Vectorized<T>, Vectorized<T>> deinterleave2(const Vectorized<T>& a, const Vectorized<T>& b) {
  constexpr int kHalf = Vectorized<T>::size() / 2;
  const auto lane = [&](int i, int odd) { return i < kHalf ? a[2 * i + odd] : b[2 * (i - kHalf) + odd]; };
  return {
      Vectorized<T>::make([&](int i) { return lane(i, 0); }), Vectorized<T>::make([&](int i) { return lane(i, 1); })};
}
/// {a0 b0 a1 b1 .., the same of the upper halves}
template <class T>
std::pair<Vectorized<T>, Vectorized<T>> interleave2(const Vectorized<T>& a, const Vectorized<T>& b) {
  constexpr int kHalf = Vectorized<T>::size() / 2;
  const auto lane = [&](int i, int from) { return (i % 2 == 0 ? a : b)[from + i / 2]; };
  return {Vectorized<T>::make([&](int i) { return lane(i, 0); }), Vectorized<T>::make([&](int i) {
            return lane(i, kHalf);
          })};
}
/// The lanes from last to first.
template <class T>
Vectorized<T> flip(const Vectorized<T>& v) {
  return Vectorized<T>::make([&](int i) { return v[Vectorized<T>::size() - 1 - i]; });
}

/// to[j, i] = from[i, j] for i < m, j < n; ld_from and ld_to elements lie between rows.
template <class T>
void transpose_mxn(const T* from, int64_t ld_from, T* to, int64_t ld_to, int m, int n) {
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) {
      to[j * ld_to + i] = from[i * ld_from + j];
    }
  }
}
template <class T, int m, int n>
void transpose_mxn(const T* from, int64_t ld_from, T* to, int64_t ld_to) {
  transpose_mxn<T>(from, ld_from, to, ld_to, m, n);
}

} // namespace AT_VEC_ISA
} // namespace CPU_CAPABILITY
} // namespace at::vec
