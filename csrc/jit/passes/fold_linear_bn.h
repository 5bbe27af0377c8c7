// Batch norm as part of the linear layer before it.
#pragma once

#include <aten/core/Tensor.h>

#include <tuple>

namespace torch::jit {

struct TORCH_API LinearBNParameters {
  at::Tensor linear_w;
  at::Tensor linear_b;
  at::Tensor bn_rm;
  at::Tensor bn_rv;
  double bn_eps = 0.0;
  at::Tensor bn_w;
  at::Tensor bn_b;
};

/// Weight and bias of the linear layer that does what the two do.
TORCH_API std::tuple<at::Tensor, at::Tensor> computeUpdatedLinearWeightAndBias(const LinearBNParameters& p);

} // namespace torch::jit
