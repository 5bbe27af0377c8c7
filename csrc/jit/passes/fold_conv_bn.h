// Batch norm as part of the convolution before it.
#pragma once

#include <aten/core/Tensor.h>
#include <csrc/jit/api/module.h>

#include <tuple>

namespace torch::jit {

struct TORCH_API ConvBNParameters {
  at::Tensor conv_w;
  at::Tensor conv_b;
  at::Tensor bn_rm;
  at::Tensor bn_rv;
  double bn_eps = 0.0;
  at::Tensor bn_w;
  at::Tensor bn_b;
};

/// Weight and bias of the convolution that does what the two do. `bn_w` and `bn_b` may be undefined.
TORCH_API std::tuple<at::Tensor, at::Tensor> computeUpdatedConvWeightAndBias(const ConvBNParameters& p);

} // namespace torch::jit
