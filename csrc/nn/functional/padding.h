// Padding.
#pragma once

#include <csrc/nn/options/padding.h>
#include <csrc/types.h>

namespace torch::nn::functional {

/// `input` with elements before and after its last dimensions, or fewer where a padding is negative. Throws if more
/// dimensions are given than there are, for modes other than kConstant if the padding is not smaller than the input
/// (kReflect) or larger (kCircular), and for a `value` with these modes.
TORCH_API Tensor pad(const Tensor& input, const PadFuncOptions& options);

} // namespace torch::nn::functional
