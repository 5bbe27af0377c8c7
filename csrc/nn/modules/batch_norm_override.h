// Batch normalization by other statistics than those of the batch alone.
#pragma once

#include <csrc/nn/modules/batchnorm.h>

#include <functional>

namespace torch::nn::detail {

/// Normalizes by statistics of its own making, and brings the running ones up to date.
using BatchNormFunction =
    std::function<Tensor(const Tensor& input, double momentum, double eps, const NormState& state)>;

/// Has the next forward on this thread of the module that these options are of use `function` where it would use the
/// batch's statistics. For forward pre-hooks.
void override_next_batch_norm(const BatchNormOptions& options, BatchNormFunction function);

} // namespace torch::nn::detail
