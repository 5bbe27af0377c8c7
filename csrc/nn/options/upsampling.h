// Options of Upsample and F::interpolate. Exactly one of `size`, the sizes of the result, and `scale_factor` is given.
#pragma once

#include <csrc/arg.h>
#include <csrc/nn/enum.h>
#include <csrc/types.h>

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

extern template class TORCH_API c10::Indirect<std::optional<std::vector<double>>>;

namespace torch::nn {

/// `align_corners`, of the linear and cubic modes, lets the centers of the corner elements coincide, not their corners.
struct TORCH_API UpsampleOptions {
  using mode_t = enumtype::Choice<
      enumtype::kNearest,
      enumtype::kLinear,
      enumtype::kBilinear,
      enumtype::kBicubic,
      enumtype::kTrilinear>;
  TORCH_ARG(std::optional<std::vector<int64_t>>, size) = std::nullopt;
  TORCH_INDIRECT_ARG(std::optional<std::vector<double>>, scale_factor);
  TORCH_ARG(mode_t, mode) = torch::kNearest;
  TORCH_ARG(std::optional<bool>, align_corners) = std::nullopt;
};

namespace functional {

/// `recompute_scale_factor` takes the scale from the rounded sizes in place of `scale_factor`. `antialias` widens the
/// filter where the result is smaller (bilinear and bicubic).
struct TORCH_API InterpolateFuncOptions {
  using mode_t = enumtype::Choice<
      enumtype::kNearest,
      enumtype::kLinear,
      enumtype::kBilinear,
      enumtype::kBicubic,
      enumtype::kTrilinear,
      enumtype::kArea,
      enumtype::kNearestExact>;
  TORCH_ARG(std::optional<std::vector<int64_t>>, size) = std::nullopt;
  TORCH_INDIRECT_ARG(std::optional<std::vector<double>>, scale_factor);
  TORCH_ARG(mode_t, mode) = torch::kNearest;
  TORCH_ARG(std::optional<bool>, align_corners) = std::nullopt;
  TORCH_ARG(std::optional<bool>, recompute_scale_factor) = std::nullopt;
  TORCH_ARG(bool, antialias) = false;
};

} // namespace functional
} // namespace torch::nn
