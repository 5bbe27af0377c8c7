// Options of AdaptiveLogSoftmaxWithLoss.
#pragma once

#include <csrc/arg.h>
#include <csrc/types.h>

#include <cstdint>
#include <vector>

namespace torch::nn {

/// Classes are sorted by falling frequency; `cutoffs` are the first classes of the clusters behind the head. Cluster i
/// has `in_features / div_value^(i + 1)` hidden features.
struct TORCH_API AdaptiveLogSoftmaxWithLossOptions {
  AdaptiveLogSoftmaxWithLossOptions(int64_t in_features, int64_t n_classes, std::vector<int64_t> cutoffs);
  TORCH_ARG(int64_t, in_features);
  TORCH_ARG(int64_t, n_classes);
  TORCH_ARG(std::vector<int64_t>, cutoffs);
  TORCH_ARG(double, div_value) = 4.;
  TORCH_ARG(bool, head_bias) = false;
};

} // namespace torch::nn
