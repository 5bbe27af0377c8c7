#include <csrc/nn/functional/upsampling.h>

#include <c10/util/Exception.h>

#include <cmath>

template class c10::Indirect<std::optional<std::vector<double>>>;
template class c10::Indirect<std::optional<std::vector<int64_t>>>;

namespace torch::nn::functional {
namespace {

using InterpolateOptions = InterpolateFuncOptions;
using Scales = std::vector<std::optional<double>>;

template <class Mode>
bool is(const InterpolateOptions::mode_t& mode) {
  return std::holds_alternative<Mode>(mode);
}

void check_dims(const Tensor& input, const InterpolateOptions& options) {
  const int64_t dims = input.dim();
  const auto& mode = options.mode();
  TORCH_CHECK(
      dims >= 3 && dims <= 5, "Input Error: Only 3D, 4D and 5D input Tensors supported (got ", dims,
      "D) for the modes: nearest | linear | bilinear | bicubic | trilinear (got ", enumtype::get_enum_name(mode), ")");
  const auto needs = [&](bool chosen, const char* name, int64_t needed) {
    TORCH_CHECK(!chosen || dims == needed, "Got ", dims, "D input, but ", name, " mode needs ", needed, "D input");
  };
  needs(is<enumtype::kLinear>(mode), "linear", 3);
  needs(is<enumtype::kBilinear>(mode), "bilinear", 4);
  needs(is<enumtype::kBicubic>(mode), "bicubic", 4);
  needs(is<enumtype::kTrilinear>(mode), "trilinear", 5);
}

void check_options(const Tensor& input, const InterpolateOptions& options) {
  check_dims(input, options);
  const auto& mode = options.mode();
  // As in libtorch, kNearestExact takes the option and does not use it.
  const bool refused = is<enumtype::kNearest>(mode) || is<enumtype::kArea>(mode);
  TORCH_CHECK(
      !refused || !options.align_corners().has_value(),
      "align_corners option can only be set with the interpolating modes: linear | bilinear | bicubic | trilinear "
      "(got ",
      enumtype::get_enum_name(mode), ")");
  TORCH_CHECK(
      !options.antialias() || is<enumtype::kBilinear>(mode) || is<enumtype::kBicubic>(mode),
      "Anti-alias option is only supported for bilinear and bicubic modes (got ", enumtype::get_enum_name(mode), ")");
  TORCH_CHECK(
      options.size().has_value() || options.scale_factor().has_value(),
      "either size or scale_factor should be defined");
  TORCH_CHECK(
      !options.size().has_value() || !options.scale_factor().has_value(),
      "only one of size or scale_factor should be defined");
  const size_t resized = input.dim() - 2;
  TORCH_CHECK(
      !options.size().has_value() || options.size()->size() == resized, "size shape must match input shape. Input is ",
      resized, "D, size is ", IntArrayRef(*options.size()));
  TORCH_CHECK(
      !options.scale_factor().has_value() || options.scale_factor()->size() == resized,
      "scale_factor shape must match input shape. Input is ", resized, "D, scale_factor size is ",
      at::ArrayRef<double>(*options.scale_factor()));
}

std::vector<int64_t> output_size(const Tensor& input, const InterpolateOptions& options) {
  if (options.size().has_value()) {
    return *options.size();
  }
  std::vector<int64_t> size;
  for (const double scale : *options.scale_factor()) {
    const auto extent = static_cast<double>(input.size(2 + static_cast<int64_t>(size.size())));
    TORCH_CHECK(
        std::isfinite(scale) && extent * scale < 9e18, "interpolate: scale_factor must be a finite number, but got ",
        scale);
    size.push_back(static_cast<int64_t>(std::floor(extent * scale)));
  }
  return size;
}

/// The scales to compute with, none where they follow from the sizes.
Scales scales(const Tensor& input, const InterpolateOptions& options) {
  Scales result(input.dim() - 2);
  if (options.scale_factor().has_value() && !options.recompute_scale_factor().value_or(false)) {
    result.assign(options.scale_factor()->begin(), options.scale_factor()->end());
  }
  return result;
}

Tensor nearest(const Tensor& input, IntArrayRef size, const Scales& scale) {
  switch (size.size()) {
    case 1:
      return at::upsample_nearest1d(input, size, scale[0]);
    case 2:
      return at::upsample_nearest2d(input, size, scale[0], scale[1]);
    default:
      return at::upsample_nearest3d(input, size, scale[0], scale[1], scale[2]);
  }
}

Tensor nearest_exact(const Tensor& input, IntArrayRef size, const Scales& scale) {
  switch (size.size()) {
    case 1:
      return at::_upsample_nearest_exact1d(input, size, scale[0]);
    case 2:
      return at::_upsample_nearest_exact2d(input, size, scale[0], scale[1]);
    default:
      return at::_upsample_nearest_exact3d(input, size, scale[0], scale[1], scale[2]);
  }
}

Tensor area(const Tensor& input, IntArrayRef size) {
  switch (size.size()) {
    case 1:
      return at::adaptive_avg_pool1d(input, size);
    case 2:
      return at::adaptive_avg_pool2d(input, size);
    default:
      return at::adaptive_avg_pool3d(input, size);
  }
}

} // namespace

Tensor interpolate(const Tensor& input, const InterpolateOptions& options) {
  check_options(input, options);
  const auto& mode = options.mode();
  const std::vector<int64_t> size = output_size(input, options);
  const Scales scale = scales(input, options);
  const bool align_corners = options.align_corners().value_or(false);
  if (is<enumtype::kNearest>(mode)) {
    return nearest(input, size, scale);
  }
  if (is<enumtype::kNearestExact>(mode)) {
    return nearest_exact(input, size, scale);
  }
  if (is<enumtype::kArea>(mode)) {
    return area(input, size);
  }
  if (is<enumtype::kLinear>(mode)) {
    return at::upsample_linear1d(input, size, align_corners, scale[0]);
  }
  if (is<enumtype::kTrilinear>(mode)) {
    return at::upsample_trilinear3d(input, size, align_corners, scale[0], scale[1], scale[2]);
  }
  if (is<enumtype::kBilinear>(mode)) {
    return options.antialias() ? at::_upsample_bilinear2d_aa(input, size, align_corners, scale[0], scale[1])
                               : at::upsample_bilinear2d(input, size, align_corners, scale[0], scale[1]);
  }
  return options.antialias() ? at::_upsample_bicubic2d_aa(input, size, align_corners, scale[0], scale[1])
                             : at::upsample_bicubic2d(input, size, align_corners, scale[0], scale[1]);
}

} // namespace torch::nn::functional
