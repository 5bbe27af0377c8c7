// Options of Upsample and F::interpolate. Exactly one of `size`, the sizes of the result, and `scale_factor` is given.
#pragma once

#include <csrc/arg.h>
#include <csrc/nn/options/optional_sizes.h>
#include <csrc/nn/enum.h>
#include <csrc/types.h>

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

extern template class TORCH_API c10::Indirect<std::optional<std::vector<double>>>;

namespace torch::nn {

/// Options of Upsample.
struct TORCH_API UpsampleOptions {
  using mode_t = enumtype::
      Choice<enumtype::kNearest, enumtype::kLinear, enumtype::kBilinear, enumtype::kBicubic, enumtype::kTrilinear>;
  /// Sizes of the result.
  TORCH_INDIRECT_ARG(std::optional<std::vector<int64_t>>, size);
  /// The result's sizes over those of the input.
  TORCH_INDIRECT_ARG(std::optional<std::vector<double>>, scale_factor);
  /// kNearest, kLinear, kBilinear, kBicubic or kTrilinear.
  TORCH_ARG(mode_t, mode) = torch::kNearest;
  /// Whether the centers of the corner elements coincide, not their outer corners. Only for modes that interpolate.
  TORCH_ARG(std::optional<bool>, align_corners) = std::nullopt;
};

namespace functional {

/// Options of F::interpolate.
struct TORCH_API InterpolateFuncOptions {
  using mode_t = enumtype::Choice<
      enumtype::kNearest,
      enumtype::kLinear,
      enumtype::kBilinear,
      enumtype::kBicubic,
      enumtype::kTrilinear,
      enumtype::kArea,
      enumtype::kNearestExact>;
  /// Sizes of the result.
  TORCH_INDIRECT_ARG(std::optional<std::vector<int64_t>>, size);
  /// The result's sizes over those of the input.
  TORCH_INDIRECT_ARG(std::optional<std::vector<double>>, scale_factor);
  /// As for Upsample, kArea for means over windows, or kNearestExact, which rounds as image libraries do.
  TORCH_ARG(mode_t, mode) = torch::kNearest;
  /// Whether the centers of the corner elements coincide, not their outer corners. Only for modes that interpolate.
  TORCH_ARG(std::optional<bool>, align_corners) = std::nullopt;
  /// Takes the scale from the rounded sizes in place of scale_factor.
  TORCH_ARG(std::optional<bool>, recompute_scale_factor) = std::nullopt;
  /// Widens the filter where the result is smaller. Throws for others than kBilinear and kBicubic.
  TORCH_ARG(bool, antialias) = false;
};

} // namespace functional
} // namespace torch::nn
