// Padding.
#pragma once

#include <csrc/nn/options/padding.h>
#include <csrc/types.h>

namespace torch::nn::functional {

/// `input` with elements before and after its last dimensions, or fewer where a padding is negative.
TORCH_API Tensor pad(const Tensor& input, const PadFuncOptions& options);

} // namespace torch::nn::functional
