// Options of layer, group and local normalization.
#pragma once

#include <csrc/arg.h>
#include <csrc/types.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace torch::nn {

/// `normalized_shape` are the sizes of the last dimensions, over which the statistics are taken.
struct TORCH_API LayerNormOptions {
  LayerNormOptions(std::vector<int64_t> normalized_shape);
  TORCH_ARG(std::vector<int64_t>, normalized_shape);
  TORCH_ARG(double, eps) = 1e-5;
  TORCH_ARG(bool, elementwise_affine) = true;
};

/// Root mean square normalization, from PyTorch's Python side. Without a value `eps` is the distance from 1 to the next
/// number of the type that is computed in.
struct TORCH_API RMSNormOptions {
  RMSNormOptions(std::vector<int64_t> normalized_shape);
  TORCH_ARG(std::vector<int64_t>, normalized_shape);
  TORCH_ARG(std::optional<double>, eps) = std::nullopt;
  TORCH_ARG(bool, elementwise_affine) = true;
};

/// Divides by `(k + alpha / size * sum of squares over size channels)^beta`.
struct TORCH_API LocalResponseNormOptions {
  LocalResponseNormOptions(int64_t size);
  TORCH_ARG(int64_t, size);
  TORCH_ARG(double, alpha) = 1e-4;
  TORCH_ARG(double, beta) = 0.75;
  TORCH_ARG(double, k) = 1.;
};

struct TORCH_API CrossMapLRN2dOptions {
  CrossMapLRN2dOptions(int64_t size);
  TORCH_ARG(int64_t, size);
  TORCH_ARG(double, alpha) = 1e-4;
  TORCH_ARG(double, beta) = 0.75;
  TORCH_ARG(int64_t, k) = 1;
};

struct TORCH_API GroupNormOptions {
  GroupNormOptions(int64_t num_groups, int64_t num_channels);
  TORCH_ARG(int64_t, num_groups);
  TORCH_ARG(int64_t, num_channels);
  TORCH_ARG(double, eps) = 1e-5;
  TORCH_ARG(bool, affine) = true;
};

namespace functional {

struct TORCH_API LayerNormFuncOptions {
  LayerNormFuncOptions(std::vector<int64_t> normalized_shape);
  TORCH_ARG(std::vector<int64_t>, normalized_shape);
  TORCH_ARG(Tensor, weight);
  TORCH_ARG(Tensor, bias);
  TORCH_ARG(double, eps) = 1e-5;
};

struct TORCH_API RMSNormFuncOptions {
  RMSNormFuncOptions(std::vector<int64_t> normalized_shape);
  TORCH_ARG(std::vector<int64_t>, normalized_shape);
  TORCH_ARG(Tensor, weight);
  TORCH_ARG(std::optional<double>, eps) = std::nullopt;
};

using LocalResponseNormFuncOptions = LocalResponseNormOptions;

/// Divides by the `p`-norm over `dim`, or by `eps` where that is larger. `out` gets the result and must not need gradients.
struct TORCH_API NormalizeFuncOptions {
  TORCH_ARG(double, p) = 2.0;
  TORCH_ARG(int64_t, dim) = 1;
  TORCH_ARG(double, eps) = 1e-12;
  TORCH_ARG(std::optional<Tensor>, out) = std::nullopt;
};

struct TORCH_API GroupNormFuncOptions {
  GroupNormFuncOptions(int64_t num_groups);
  TORCH_ARG(int64_t, num_groups);
  TORCH_ARG(Tensor, weight);
  TORCH_ARG(Tensor, bias);
  TORCH_ARG(double, eps) = 1e-5;
};

} // namespace functional
} // namespace torch::nn
