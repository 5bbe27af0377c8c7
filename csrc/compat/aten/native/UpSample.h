// Where resizing reads from: for kernels of programs.
#pragma once

#include <aten/core/Tensor.h>
#include <c10/util/ArrayRef.h>
#include <c10/util/Exception.h>
#include <c10/util/OptionalArrayRef.h>
#include <c10/util/SmallVector.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace at::native {

using scale_t = std::optional<double>;

namespace upsample {

/// The sizes behind the first two, given as they are or as factors: one of both must be there.
inline c10::SmallVector<int64_t, 3> compute_output_size(
    c10::IntArrayRef input_size,
    at::OptionalIntArrayRef output_size,
    std::optional<c10::ArrayRef<double>> scale_factors) {
  TORCH_CHECK(
      output_size.has_value() != scale_factors.has_value(),
      "Must specify exactly one of output_size and scale_factors");
  const size_t given = output_size ? output_size->size() : scale_factors->size();
  TORCH_CHECK(
      input_size.size() == given + 2, "compute_output_size: an input of sizes ", input_size, " needs ",
      static_cast<int64_t>(input_size.size()) - 2, output_size ? " output sizes" : " scale_factors", ", got ", given);
  c10::SmallVector<int64_t, 3> sizes;
  for (size_t i = 0; i < given; ++i) {
    if (output_size) {
      sizes.push_back((*output_size)[i]);
      continue;
    }
    const double scaled = static_cast<double>(input_size[i + 2]) * (*scale_factors)[i];
    TORCH_CHECK(
        scaled >= 0 && scaled < 9e18, "compute_output_size: size ", input_size[i + 2], " cannot be scaled by ",
        (*scale_factors)[i]);
    sizes.push_back(static_cast<int64_t>(scaled));
  }
  return sizes;
}

inline std::optional<double> get_scale_value(std::optional<c10::ArrayRef<double>> scales, int idx) {
  return scales ? std::optional<double>(scales->at(static_cast<size_t>(idx))) : std::nullopt;
}

} // namespace upsample

namespace detail {
template <size_t Dims>
std::array<int64_t, Dims + 2> checked_upsample_sizes(IntArrayRef input_size, IntArrayRef output_size) {
  TORCH_CHECK(
      output_size.size() == Dims, "It is expected output_size equals to ", Dims, ", but got size ", output_size.size());
  TORCH_CHECK(
      input_size.size() == Dims + 2, "It is expected input_size equals to ", Dims + 2, ", but got size ",
      input_size.size());
  std::array<int64_t, Dims + 2> sizes{input_size[0], input_size[1]};
  for (size_t i = 0; i < Dims; ++i) {
    TORCH_CHECK(
        input_size[i + 2] > 0 && output_size[i] > 0, "Input and output sizes should be greater than 0, but got input ",
        input_size.slice(2), " and output ", output_size);
    sizes[i + 2] = output_size[i];
  }
  return sizes;
}
} // namespace detail

/// Batch, channels and output sizes, checked.
inline std::array<int64_t, 3> upsample_1d_common_check(IntArrayRef input_size, IntArrayRef output_size) {
  return detail::checked_upsample_sizes<1>(input_size, output_size);
}
inline std::array<int64_t, 4> upsample_2d_common_check(IntArrayRef input_size, IntArrayRef output_size) {
  return detail::checked_upsample_sizes<2>(input_size, output_size);
}
inline std::array<int64_t, 5> upsample_3d_common_check(IntArrayRef input_size, IntArrayRef output_size) {
  return detail::checked_upsample_sizes<3>(input_size, output_size);
}

/// The distance of neighbours of the output, in elements of the input: from the scale if it is given, else from the
/// sizes.
template <typename scalar_t>
scalar_t compute_scales_value(const std::optional<double> scale, int64_t input_size, int64_t output_size) {
  if (scale && *scale > 0) {
    return static_cast<scalar_t>(1.0 / *scale);
  }
  return static_cast<scalar_t>(input_size) / output_size;
}

/// The same with corners that may be aligned.
template <typename scalar_t>
scalar_t area_pixel_compute_scale(
    int64_t input_size, int64_t output_size, bool align_corners, const std::optional<double> scale) {
  if (!align_corners) {
    return compute_scales_value<scalar_t>(scale, input_size, output_size);
  }
  return output_size > 1 ? static_cast<scalar_t>(input_size - 1) / (output_size - 1) : scalar_t(0);
}

/// Where an element of the output lies in the input; not below 0 unless for cubic filters.
template <typename scalar_t>
scalar_t area_pixel_compute_source_index(scalar_t scale, int64_t dst_index, bool align_corners, bool cubic) {
  if (align_corners) {
    return scale * dst_index;
  }
  const scalar_t half = static_cast<scalar_t>(0.5);
  const scalar_t source = scale * (dst_index + half) - half;
  return cubic || source > scalar_t(0) ? source : scalar_t(0);
}

inline int64_t nearest_neighbor_compute_source_index(const float scale, int64_t dst_index, int64_t input_size) {
  return std::min(static_cast<int64_t>(std::floor(dst_index * scale)), input_size - 1);
}

inline int64_t nearest_neighbor_exact_compute_source_index(const float scale, int64_t dst_index, int64_t input_size) {
  return std::min(static_cast<int64_t>(std::floor(static_cast<float>((dst_index + 0.5) * scale))), input_size - 1);
}

using nearest_idx_fn_t = int64_t (*)(int64_t, int64_t, int64_t, std::optional<double>);

inline int64_t nearest_idx(
    int64_t output_index, int64_t input_size, int64_t output_size, std::optional<double> scales) {
  // The same size and twice the size repeat elements, whatever the scale says.
  if (output_size == input_size) {
    return output_index;
  }
  if (output_size == 2 * input_size) {
    return output_index / 2;
  }
  return nearest_neighbor_compute_source_index(
      compute_scales_value<float>(scales, input_size, output_size), output_index, input_size);
}

inline int64_t nearest_exact_idx(
    int64_t output_index, int64_t input_size, int64_t output_size, std::optional<double> scales) {
  return nearest_neighbor_exact_compute_source_index(
      compute_scales_value<float>(scales, input_size, output_size), output_index, input_size);
}

/// The element of a matrix at a position that is moved inside.
template <typename scalar_t>
scalar_t upsample_get_value_bounded(scalar_t* data, int64_t width, int64_t height, int64_t x, int64_t y) {
  return data[std::clamp<int64_t>(y, 0, height - 1) * width + std::clamp<int64_t>(x, 0, width - 1)];
}

template <typename scalar_t>
void upsample_increment_value_bounded(
    scalar_t* data, int64_t width, int64_t height, int64_t x, int64_t y, scalar_t value) {
  data[std::clamp<int64_t>(y, 0, height - 1) * width + std::clamp<int64_t>(x, 0, width - 1)] += value;
}

/// Keys' cubic kernel up to distance 1, and from there to 2.
template <typename scalar_t>
scalar_t cubic_convolution1(scalar_t x, scalar_t A) {
  return ((A + 2) * x - (A + 3)) * x * x + 1;
}
template <typename scalar_t>
scalar_t cubic_convolution2(scalar_t x, scalar_t A) {
  return ((A * x - 5 * A) * x + 8 * A) * x - 4 * A;
}

/// Weights of four neighbours of a point, which lies `t` behind the second.
template <typename scalar_t>
void get_cubic_upsample_coefficients(scalar_t coeffs[4], scalar_t t) {
  const scalar_t sharpness = -0.75;
  const scalar_t rest = 1.0 - t;
  coeffs[0] = cubic_convolution2<scalar_t>(t + 1.0, sharpness);
  coeffs[1] = cubic_convolution1<scalar_t>(t, sharpness);
  coeffs[2] = cubic_convolution1<scalar_t>(rest, sharpness);
  coeffs[3] = cubic_convolution2<scalar_t>(rest + 1.0, sharpness);
}

template <typename scalar_t>
scalar_t cubic_interp1d(scalar_t x0, scalar_t x1, scalar_t x2, scalar_t x3, scalar_t t) {
  scalar_t weights[4];
  get_cubic_upsample_coefficients<scalar_t>(weights, t);
  return x0 * weights[0] + x1 * weights[1] + x2 * weights[2] + x3 * weights[3];
}

/// The element before a place, and how far behind it the place lies.
template <typename scalar_t, typename opmath_t>
void guard_index_and_lambda(
    const opmath_t& real_input_index, const int64_t& input_size, int64_t& input_index, scalar_t& lambda) {
  input_index = std::min(static_cast<int64_t>(std::floor(real_input_index)), input_size - 1);
  lambda = std::clamp(real_input_index - input_index, static_cast<opmath_t>(0), static_cast<opmath_t>(1));
}

/// The two elements that a linear filter reads, and their weights.
template <typename scalar_t, typename opmath_t>
void compute_source_index_and_lambda(
    int64_t& input_index0,
    int64_t& input_index1,
    scalar_t& lambda0,
    scalar_t& lambda1,
    opmath_t ratio,
    int64_t output_index,
    int64_t input_size,
    int64_t output_size,
    bool align_corners) {
  if (output_size == input_size) {
    input_index0 = input_index1 = output_index;
    lambda0 = static_cast<scalar_t>(1);
    lambda1 = static_cast<scalar_t>(0);
    return;
  }
  guard_index_and_lambda(
      area_pixel_compute_source_index<opmath_t>(ratio, output_index, align_corners, /*cubic=*/false), input_size,
      input_index0, lambda1);
  input_index1 = std::min(input_index0 + 1, input_size - 1);
  lambda0 = static_cast<scalar_t>(1) - lambda1;
}

} // namespace at::native
