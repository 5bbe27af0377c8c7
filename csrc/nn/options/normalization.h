// Options of layer, group and local normalization.
#pragma once

#include <csrc/arg.h>
#include <csrc/types.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace torch::nn {

/// Options of LayerNorm.
struct TORCH_API LayerNormOptions {
  LayerNormOptions(std::vector<int64_t> normalized_shape);
  /// Sizes of the last dimensions, over which the statistics are taken.
  TORCH_ARG(std::vector<int64_t>, normalized_shape);
  /// Added to the variance, so that the division is safe.
  TORCH_ARG(double, eps) = 1e-5;
  /// Whether there is a learned weight (and for LayerNorm a bias) of these sizes.
  TORCH_ARG(bool, elementwise_affine) = true;
};

/// Options of RMSNorm: root mean square normalization, from PyTorch's Python side.
struct TORCH_API RMSNormOptions {
  RMSNormOptions(std::vector<int64_t> normalized_shape);
  /// Sizes of the last dimensions, over which the statistics are taken.
  TORCH_ARG(std::vector<int64_t>, normalized_shape);
  /// Added to the mean square; without a value the distance from 1 to the next value of the dtype that is computed in.
  TORCH_ARG(std::optional<double>, eps) = std::nullopt;
  /// Whether there is a learned weight (and for LayerNorm a bias) of these sizes.
  TORCH_ARG(bool, elementwise_affine) = true;
};

/// Options of LocalResponseNorm and F::local_response_norm, whose formula names these.
struct TORCH_API LocalResponseNormOptions {
  LocalResponseNormOptions(int64_t size);
  /// Channels that are summed over. Throws unless positive.
  TORCH_ARG(int64_t, size);
  /// Factor of the mean square.
  TORCH_ARG(double, alpha) = 1e-4;
  /// The exponent.
  TORCH_ARG(double, beta) = 0.75;
  /// The summand.
  TORCH_ARG(double, k) = 1.;
};

/// Options of CrossMapLRN2d, which takes inputs [N, C, H, W] only.
struct TORCH_API CrossMapLRN2dOptions {
  CrossMapLRN2dOptions(int64_t size);
  /// Channels that are summed over. Throws unless positive.
  TORCH_ARG(int64_t, size);
  /// Factor of the mean square.
  TORCH_ARG(double, alpha) = 1e-4;
  /// The exponent.
  TORCH_ARG(double, beta) = 0.75;
  /// The summand.
  TORCH_ARG(int64_t, k) = 1;
};

/// Options of GroupNorm. Throws when used unless num_groups divides num_channels.
struct TORCH_API GroupNormOptions {
  GroupNormOptions(int64_t num_groups, int64_t num_channels);
  /// Groups that the channels are split into.
  TORCH_ARG(int64_t, num_groups);
  /// Channels C of the input.
  TORCH_ARG(int64_t, num_channels);
  /// Added to the variance, so that the division is safe.
  TORCH_ARG(double, eps) = 1e-5;
  /// Whether there are a learned weight and bias for each channel.
  TORCH_ARG(bool, affine) = true;
};

namespace functional {

/// Options of F::layer_norm.
struct TORCH_API LayerNormFuncOptions {
  LayerNormFuncOptions(std::vector<int64_t> normalized_shape);
  /// Sizes of the last dimensions, over which the statistics are taken.
  TORCH_ARG(std::vector<int64_t>, normalized_shape);
  /// Options of normalized_shape, or 1 if undefined.
  TORCH_ARG(Tensor, weight);
  /// Options of normalized_shape, or 0 if undefined.
  TORCH_ARG(Tensor, bias);
  /// Added to the variance, so that the division is safe.
  TORCH_ARG(double, eps) = 1e-5;
};

/// Options of F::rms_norm.
struct TORCH_API RMSNormFuncOptions {
  RMSNormFuncOptions(std::vector<int64_t> normalized_shape);
  /// Sizes of the last dimensions, over which the statistics are taken.
  TORCH_ARG(std::vector<int64_t>, normalized_shape);
  /// Options of normalized_shape, or 1 if undefined.
  TORCH_ARG(Tensor, weight);
  /// As in RMSNormOptions.
  TORCH_ARG(std::optional<double>, eps) = std::nullopt;
};

using LocalResponseNormFuncOptions = LocalResponseNormOptions;

/// Options of F::normalize.
struct TORCH_API NormalizeFuncOptions {
  /// The p of the norm.
  TORCH_ARG(double, p) = 2.0;
  /// The dimension of the vectors.
  TORCH_ARG(int64_t, dim) = 1;
  /// The least norm that is divided by.
  TORCH_ARG(double, eps) = 1e-12;
  /// Gets the result; must not need gradients.
  TORCH_ARG(std::optional<Tensor>, out) = std::nullopt;
};

/// Options of F::group_norm.
struct TORCH_API GroupNormFuncOptions {
  GroupNormFuncOptions(int64_t num_groups);
  /// Groups that the channels are split into. Throws unless it divides C.
  TORCH_ARG(int64_t, num_groups);
  /// [C], or 1 if undefined.
  TORCH_ARG(Tensor, weight);
  /// [C], or 0 if undefined.
  TORCH_ARG(Tensor, bias);
  /// Added to the variance, so that the division is safe.
  TORCH_ARG(double, eps) = 1e-5;
};

} // namespace functional
} // namespace torch::nn
