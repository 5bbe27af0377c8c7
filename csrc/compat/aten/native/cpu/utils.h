// Helpers of CPU loops, for programs with kernels of their own.
#pragma once

#include <csrc/compat/aten/cpu/vec/vec_convert.h>

#include <cstdint>
#include <tuple>
#include <utility>

namespace at::native {

/// Coordinates of a flat position: `data_index_init(begin, n, N, c, C)` sets n and c where N and C are the sizes,
/// slowest first. Returns what is left above them.
template <typename T>
T data_index_init(T offset) {
  return offset;
}
template <typename T, typename... Args>
T data_index_init(T offset, T& x, const T& X, Args&&... args) {
  offset = data_index_init(offset, std::forward<Args>(args)...);
  x = offset % X;
  return offset / X;
}

/// The next coordinates. Returns whether they are at the start again.
inline bool data_index_step() {
  return true;
}
template <typename T, typename... Args>
bool data_index_step(T& x, const T& X, Args&&... args) {
  if (!data_index_step(std::forward<Args>(args)...)) {
    return false;
  }
  x = x + 1 == X ? 0 : x + 1;
  return x == 0;
}

/// Two vectors of floats from as many numbers of type float, BFloat16 or Half.
inline std::tuple<vec::Vectorized<float>, vec::Vectorized<float>> load2f(const c10::BFloat16* ptr) {
  return vec::convert_bfloat16_float(vec::Vectorized<c10::BFloat16>::loadu(ptr));
}
inline std::tuple<vec::Vectorized<float>, vec::Vectorized<float>> load2f(const c10::Half* ptr) {
  return vec::convert_half_float(vec::Vectorized<c10::Half>::loadu(ptr));
}
inline std::tuple<vec::Vectorized<float>, vec::Vectorized<float>> load2f(const float* ptr) {
  using Vec = vec::Vectorized<float>;
  return {Vec::loadu(ptr), Vec::loadu(ptr + Vec::size())};
}

namespace utils {

/// The power of two that `x` is at most, at least 1.
template <typename T>
T CeilLog2(const T& x) {
  T log = 1;
  while ((uint64_t{1} << log) < static_cast<uint64_t>(x)) {
    ++log;
  }
  return log;
}

/// dst[j][i] = src[i][j] of M rows and N columns; `ld`: elements from row to row.
template <typename T>
void transpose(int64_t M, int64_t N, const T* src, int64_t ld_src, T* dst, int64_t ld_dst) {
  for (int64_t j = 0; j < N; ++j) {
    for (int64_t i = 0; i < M; ++i) {
      dst[j * ld_dst + i] = src[i * ld_src + j];
    }
  }
}

} // namespace utils

} // namespace at::native
