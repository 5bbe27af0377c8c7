// Checks of options that a loss's function and its module share.
#pragma once

#include <csrc/nn/options/loss.h>

namespace torch::nn::functional::detail {

/// An error unless p is 1 or 2 and the weight, if there is one, has one dimension.
void check_multi_margin(const MultiMarginLossOptions& options);

} // namespace torch::nn::functional::detail
