// Where pixels of a resized image come from, for kernels of one's own.
#pragma once

#include <aten/core/TensorAccessor.h>
#include <csrc/compat/aten/cuda/Atomic.cuh>

#include <cmath>
#include <cstdint>
#include <optional>

namespace at::native {

template <class scalar_t>
__device__ inline scalar_t min(scalar_t a, scalar_t b) {
  return a < b ? a : b;
}
template <class scalar_t>
__device__ inline scalar_t max(scalar_t a, scalar_t b) {
  return a > b ? a : b;
}

/// Step in the source for one pixel of the result: from the given scale, else from the sizes.
template <class accscalar_t>
__host__ __forceinline__ accscalar_t
compute_scales_value(std::optional<double> scale, int64_t src_size, int64_t dst_size) {
  return scale.has_value() && *scale > 0. ? static_cast<accscalar_t>(1.0 / *scale)
                                          : static_cast<accscalar_t>(src_size) / static_cast<accscalar_t>(dst_size);
}
/// The same on the way back, where the sizes change places.
template <class accscalar_t>
__host__ __forceinline__ accscalar_t
compute_scales_value_backwards(std::optional<double> scale, int64_t src_size, int64_t dst_size) {
  return scale.has_value() && *scale > 0. ? static_cast<accscalar_t>(*scale)
                                          : static_cast<accscalar_t>(src_size) / static_cast<accscalar_t>(dst_size);
}

template <class accscalar_t>
__host__ __forceinline__ accscalar_t
area_pixel_compute_scale(int input_size, int output_size, bool align_corners, std::optional<double> scale) {
  if (!align_corners) {
    return compute_scales_value<accscalar_t>(scale, input_size, output_size);
  }
  return output_size > 1 ? static_cast<accscalar_t>(input_size - 1) / static_cast<accscalar_t>(output_size - 1)
                         : accscalar_t(0);
}

template <class accscalar_t>
__device__ __forceinline__ accscalar_t
area_pixel_compute_source_index(accscalar_t scale, int dst_index, bool align_corners, bool cubic) {
  if (align_corners) {
    return scale * static_cast<accscalar_t>(dst_index);
  }
  const accscalar_t half = static_cast<accscalar_t>(0.5);
  const accscalar_t index = scale * (static_cast<accscalar_t>(dst_index) + half) - half;
  return !cubic && index < accscalar_t(0) ? accscalar_t(0) : index;
}

__device__ __forceinline__ int nearest_neighbor_compute_source_index(float scale, int dst_index, int input_size) {
  return min(static_cast<int>(floorf(static_cast<float>(dst_index) * scale)), input_size - 1);
}
__device__ __forceinline__ int nearest_neighbor_exact_compute_source_index(float scale, int dst_index, int input_size) {
  return min(static_cast<int>(floorf((static_cast<float>(dst_index) + 0.5f) * scale)), input_size - 1);
}
__device__ __forceinline__ int nearest_neighbor_bw_compute_source_index(float scale, int dst_index, int output_size) {
  return min(static_cast<int>(ceilf(static_cast<float>(dst_index) * scale)), output_size);
}
__device__ __forceinline__ int nearest_neighbor_exact_bw_compute_source_index(
    float scale, int dst_index, int output_size) {
  return min(static_cast<int>(ceilf(static_cast<float>(dst_index) * scale - 0.5f)), output_size);
}

/// The pixel, or the nearest one on the border.
template <class scalar_t>
__device__ __forceinline__ scalar_t upsample_get_value_bounded(
    const PackedTensorAccessor64<const scalar_t, 4>& data,
    int batch,
    int channel,
    int height,
    int width,
    int y,
    int x) {
  return data[batch][channel][max(min(y, height - 1), 0)][max(min(x, width - 1), 0)];
}
template <class scalar_t, class accscalar_t>
__device__ __forceinline__ void upsample_increment_value_bounded(
    PackedTensorAccessor64<scalar_t, 4>& data,
    int batch,
    int channel,
    int height,
    int width,
    int y,
    int x,
    accscalar_t value) {
  gpuAtomicAddNoReturn(
      &data[batch][channel][max(min(y, height - 1), 0)][max(min(x, width - 1), 0)], static_cast<scalar_t>(value));
}

/// Keys' cubic kernel, up to 1 and from there up to 2 pixels away.
template <class accscalar_t>
__device__ __forceinline__ accscalar_t cubic_convolution1(accscalar_t x, accscalar_t A) {
  return ((A + 2) * x - (A + 3)) * x * x + 1;
}
template <class accscalar_t>
__device__ __forceinline__ accscalar_t cubic_convolution2(accscalar_t x, accscalar_t A) {
  return ((A * x - 5 * A) * x + 8 * A) * x - 4 * A;
}

/// Weights of four neighbours, for a place t behind the second.
template <class accscalar_t>
__device__ __forceinline__ void get_cubic_upsampling_coefficients(accscalar_t coeffs[4], accscalar_t t) {
  const accscalar_t A = static_cast<accscalar_t>(-0.75), rest = accscalar_t(1) - t;
  coeffs[0] = cubic_convolution2<accscalar_t>(t + accscalar_t(1), A);
  coeffs[1] = cubic_convolution1<accscalar_t>(t, A);
  coeffs[2] = cubic_convolution1<accscalar_t>(rest, A);
  coeffs[3] = cubic_convolution2<accscalar_t>(rest + accscalar_t(1), A);
}
template <class scalar_t, class accscalar_t>
__device__ __forceinline__ accscalar_t
cubic_interp1d(scalar_t x0, scalar_t x1, scalar_t x2, scalar_t x3, accscalar_t t) {
  accscalar_t coeffs[4];
  get_cubic_upsampling_coefficients<accscalar_t>(coeffs, t);
  return x0 * coeffs[0] + x1 * coeffs[1] + x2 * coeffs[2] + x3 * coeffs[3];
}

} // namespace at::native
