// Points of a grid in an image, and reads and additions that stay inside it, for kernels of one's own.
#pragma once

#include <csrc/compat/aten/native/GridSamplerUtils.h>
#include <csrc/compat/aten/native/cuda/KernelUtils.cuh>
#include <csrc/compat/aten/native/cuda/UpSample.cuh>

#include <climits>

namespace at::native {

/// From [-1, 1] to elements: the ends are centres (align_corners) or edges of the outermost elements.
template <class scalar_t>
__device__ __forceinline__ scalar_t grid_sampler_unnormalize(scalar_t coord, int size, bool align_corners) {
  return align_corners ? ((coord + 1.f) / 2) * (size - 1) : ((coord + 1.f) * size - 1) / 2;
}
/// The same; `grad_in` gets the derivative, as with all functions `_set_grad` below.
template <class scalar_t>
__device__ __forceinline__ scalar_t
grid_sampler_unnormalize_set_grad(scalar_t coord, int size, bool align_corners, scalar_t* grad_in) {
  *grad_in = static_cast<scalar_t>(align_corners ? size - 1 : size) / 2;
  return grid_sampler_unnormalize(coord, size, align_corners);
}

/// The nearest point within [0, clip_limit - 1]; NaN goes to 0.
template <class scalar_t>
__device__ __forceinline__ scalar_t clip_coordinates(scalar_t in, int clip_limit) {
  return min(static_cast<scalar_t>(clip_limit - 1), max(in, static_cast<scalar_t>(0)));
}
template <class scalar_t>
__device__ __forceinline__ scalar_t clip_coordinates_set_grad(scalar_t in, int clip_limit, scalar_t* grad_in) {
  // The border itself counts as outside: no gradient there.
  const scalar_t last = static_cast<scalar_t>(clip_limit - 1);
  *grad_in = static_cast<scalar_t>(in > static_cast<scalar_t>(0) && in < last ? 1 : 0);
  return in <= static_cast<scalar_t>(0) ? static_cast<scalar_t>(0) : in >= last ? last : in;
}

/// Mirrored at twice_low / 2 and twice_high / 2 until it lies between them.
template <class scalar_t>
__device__ __forceinline__ scalar_t
reflect_coordinates_set_grad(scalar_t in, int twice_low, int twice_high, scalar_t* grad_in) {
  *grad_in = static_cast<scalar_t>(0);
  if (twice_low == twice_high) {
    return static_cast<scalar_t>(0);
  }
  const scalar_t low = static_cast<scalar_t>(twice_low) / 2, span = static_cast<scalar_t>(twice_high - twice_low) / 2;
  const scalar_t sign = static_cast<scalar_t>(in < low ? -1 : 1);
  const scalar_t distance = ::fabs(in - low), rest = ::fmod(distance, span);
  const bool even = ::fmod(::floor(distance / span), static_cast<scalar_t>(2)) == static_cast<scalar_t>(0);
  *grad_in = even ? sign : -sign;
  return even ? rest + low : span - rest + low;
}
template <class scalar_t>
__device__ __forceinline__ scalar_t reflect_coordinates(scalar_t in, int twice_low, int twice_high) {
  scalar_t unused;
  return reflect_coordinates_set_grad(in, twice_low, twice_high, &unused);
}

/// A point that no int can number, NaN too, becomes -100, which is outside of every image.
template <class scalar_t>
__device__ __forceinline__ scalar_t safe_downgrade_to_int_range(scalar_t x) {
  return x >= INT_MIN && x <= INT_MAX - 1 ? x : static_cast<scalar_t>(-100.0);
}

/// An element's coordinate after padding; `grad_in` gets the derivative.
template <class scalar_t>
__device__ __forceinline__ scalar_t compute_coordinates_set_grad(
    scalar_t coord, int size, GridSamplerPadding padding_mode, bool align_corners, scalar_t* grad_in) {
  *grad_in = static_cast<scalar_t>(1);
  scalar_t slope;
  if (padding_mode == GridSamplerPadding::Reflection) {
    coord = align_corners ? reflect_coordinates_set_grad(coord, 0, 2 * (size - 1), &slope)
                          : reflect_coordinates_set_grad(coord, -1, 2 * size - 1, &slope);
    *grad_in *= slope;
  }
  if (padding_mode != GridSamplerPadding::Zeros) {
    coord = clip_coordinates_set_grad(coord, size, &slope);
    *grad_in *= slope;
  }
  return safe_downgrade_to_int_range(coord);
}
template <class scalar_t>
__device__ __forceinline__ scalar_t
compute_coordinates(scalar_t coord, int size, GridSamplerPadding padding_mode, bool align_corners) {
  if (padding_mode == GridSamplerPadding::Reflection) {
    coord =
        align_corners ? reflect_coordinates(coord, 0, 2 * (size - 1)) : reflect_coordinates(coord, -1, 2 * size - 1);
  }
  if (padding_mode != GridSamplerPadding::Zeros) {
    coord = clip_coordinates(coord, size);
  }
  return safe_downgrade_to_int_range(coord);
}

/// From the grid's coordinate to an element's coordinate.
template <class scalar_t>
__device__ __forceinline__ scalar_t
grid_sampler_compute_source_index(scalar_t coord, int size, GridSamplerPadding padding_mode, bool align_corners) {
  return compute_coordinates(grid_sampler_unnormalize(coord, size, align_corners), size, padding_mode, align_corners);
}
template <class scalar_t>
__device__ __forceinline__ scalar_t grid_sampler_compute_source_index_set_grad(
    scalar_t coord, int size, GridSamplerPadding padding_mode, bool align_corners, scalar_t* grad_in) {
  scalar_t slope;
  coord = grid_sampler_unnormalize_set_grad(coord, size, align_corners, grad_in);
  coord = compute_coordinates_set_grad(coord, size, padding_mode, align_corners, &slope);
  *grad_in *= slope;
  return coord;
}

__device__ __forceinline__ bool within_bounds_2d(int h, int w, int H, int W) {
  return h >= 0 && h < H && w >= 0 && w < W;
}
__device__ __forceinline__ bool within_bounds_3d(int d, int h, int w, int D, int H, int W) {
  return d >= 0 && d < D && within_bounds_2d(h, w, H, W);
}

/// The element at a point after padding, 0 outside. Strides count elements.
template <class scalar_t>
__device__ __forceinline__ scalar_t get_value_bounded(
    const scalar_t* data,
    scalar_t x,
    scalar_t y,
    int W,
    int H,
    int sW,
    int sH,
    GridSamplerPadding padding_mode,
    bool align_corners) {
  const int ix = static_cast<int>(compute_coordinates(x, W, padding_mode, align_corners));
  const int iy = static_cast<int>(compute_coordinates(y, H, padding_mode, align_corners));
  return within_bounds_2d(iy, ix, H, W) ? data[iy * sH + ix * sW] : static_cast<scalar_t>(0);
}

/// Adds atomically to the element, or to none outside. `NC_offset` is where the channel begins, `memory_span` the size
/// of all.
template <class scalar_t, class index_t>
__device__ __forceinline__ void safe_add_2d(
    scalar_t* data,
    int h,
    int w,
    int sH,
    int sW,
    int H,
    int W,
    scalar_t delta,
    const index_t NC_offset,
    const index_t memory_span) {
  if (within_bounds_2d(h, w, H, W)) {
    fastAtomicAdd(data, static_cast<index_t>(NC_offset + h * sH + w * sW), memory_span, delta, true);
  }
}
template <class scalar_t, class index_t>
__device__ __forceinline__ void safe_add_3d(
    scalar_t* data,
    int d,
    int h,
    int w,
    int sD,
    int sH,
    int sW,
    int D,
    int H,
    int W,
    scalar_t delta,
    const index_t NC_offset,
    const index_t memory_span) {
  if (within_bounds_3d(d, h, w, D, H, W)) {
    fastAtomicAdd(data, static_cast<index_t>(NC_offset + d * sD + h * sH + w * sW), memory_span, delta, true);
  }
}
template <class scalar_t, class index_t>
__device__ __forceinline__ void add_value_bounded(
    scalar_t* data,
    scalar_t x,
    scalar_t y,
    int W,
    int H,
    int sW,
    int sH,
    scalar_t delta,
    GridSamplerPadding padding_mode,
    bool align_corners,
    const index_t NC_offset,
    const index_t memory_span) {
  const int ix = static_cast<int>(compute_coordinates(x, W, padding_mode, align_corners));
  const int iy = static_cast<int>(compute_coordinates(y, H, padding_mode, align_corners));
  safe_add_2d(data, iy, ix, sH, sW, H, W, delta, NC_offset, memory_span);
}

/// Derivatives of get_cubic_upsampling_coefficients' weights for the distance t, with the opposite sign, as in
/// libtorch.
template <class scalar_t>
__device__ __forceinline__ void get_cubic_coefficients_grad(scalar_t coeffs[4], scalar_t t) {
  const scalar_t A = static_cast<scalar_t>(-0.75);
  const auto near = [A](scalar_t x) -> scalar_t { return (3 * (A + 2) * x - 2 * (A + 3)) * x; };
  const auto far = [A](scalar_t x) -> scalar_t { return (3 * A * x - 10 * A) * x + 8 * A; };
  coeffs[0] = -far(t + 1);
  coeffs[1] = -near(t);
  coeffs[2] = near(1 - t);
  coeffs[3] = far(2 - t);
}

} // namespace at::native
