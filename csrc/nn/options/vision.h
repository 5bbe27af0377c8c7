// Options of F::grid_sample.
#pragma once

#include <csrc/arg.h>
#include <csrc/nn/enum.h>
#include <csrc/types.h>

#include <optional>
#include <variant>

namespace torch::nn::functional {

/// `padding_mode` says what lies outside the image; `align_corners` whether -1 and 1 are the centers of the corner
/// elements or their corners.
struct TORCH_API GridSampleFuncOptions {
  using mode_t = enumtype::Choice<enumtype::kBilinear, enumtype::kNearest, enumtype::kBicubic>;
  using padding_mode_t = enumtype::Choice<enumtype::kZeros, enumtype::kBorder, enumtype::kReflection>;
  TORCH_ARG(mode_t, mode) = torch::kBilinear;
  TORCH_ARG(padding_mode_t, padding_mode) = torch::kZeros;
  TORCH_ARG(std::optional<bool>, align_corners) = std::nullopt;
};

} // namespace torch::nn::functional
