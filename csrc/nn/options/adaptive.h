// Options of AdaptiveLogSoftmaxWithLoss.
#pragma once

#include <csrc/arg.h>
#include <csrc/types.h>

#include <cstdint>
#include <vector>

namespace torch::nn {

/// Options of AdaptiveLogSoftmaxWithLoss (Grave et al., 2016). Classes are sorted by falling frequency. Throws unless
/// the cutoffs grow strictly within [1, n_classes - 1] and div_value is positive.
struct TORCH_API AdaptiveLogSoftmaxWithLossOptions {
  AdaptiveLogSoftmaxWithLossOptions(int64_t in_features, int64_t n_classes, std::vector<int64_t> cutoffs);
  /// Features of the input.
  TORCH_ARG(int64_t, in_features);
  /// Classes.
  TORCH_ARG(int64_t, n_classes);
  /// The first classes of the clusters behind the head.
  TORCH_ARG(std::vector<int64_t>, cutoffs);
  /// Cluster i has in_features / div_value^(i + 1) hidden features.
  TORCH_ARG(double, div_value) = 4.;
  /// Whether the head has a bias.
  TORCH_ARG(bool, head_bias) = false;
};

} // namespace torch::nn
