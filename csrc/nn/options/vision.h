// Options of F::grid_sample.
#pragma once

#include <csrc/arg.h>
#include <csrc/nn/enum.h>
#include <csrc/types.h>

#include <optional>
#include <variant>

namespace torch::nn::functional {

/// Options of F::grid_sample.
struct TORCH_API GridSampleFuncOptions {
  using mode_t = enumtype::Choice<enumtype::kBilinear, enumtype::kNearest, enumtype::kBicubic>;
  using padding_mode_t = enumtype::Choice<enumtype::kZeros, enumtype::kBorder, enumtype::kReflection>;
  /// kBilinear (of volumes trilinear), kNearest or kBicubic (of volumes tricubic).
  TORCH_ARG(mode_t, mode) = torch::kBilinear;
  /// What lies outside: kZeros, kBorder for the nearest element, or kReflection.
  TORCH_ARG(padding_mode_t, padding_mode) = torch::kZeros;
  /// Whether -1 and 1 are the centers of the corner elements, not their outer corners.
  TORCH_ARG(std::optional<bool>, align_corners) = std::nullopt;
};

} // namespace torch::nn::functional
