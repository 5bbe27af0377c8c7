// An approximation of softmax for many classes.
#pragma once

#include <csrc/nn/cloneable.h>
#include <csrc/nn/modules/container/modulelist.h>
#include <csrc/nn/modules/container/sequential.h>
#include <csrc/nn/modules/linear.h>
#include <csrc/nn/options/adaptive.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace torch::nn {

/// What AdaptiveLogSoftmaxWithLoss gives: the logarithm of each target's probability [N], and the negative of their
/// mean.
struct TORCH_API ASMoutput {
  ASMoutput(Tensor output_, double loss_);
  Tensor output;
  double loss;
};

/// Adaptive softmax (Grave et al. 2017): frequent classes are scored at once, the others in clusters behind smaller
/// layers. Input [N, in_features] or [in_features], target [N] or a number.
class TORCH_API AdaptiveLogSoftmaxWithLossImpl : public Cloneable<AdaptiveLogSoftmaxWithLossImpl> {
 public:
  AdaptiveLogSoftmaxWithLossImpl(int64_t in_features, int64_t n_classes, std::vector<int64_t> cutoffs);
  explicit AdaptiveLogSoftmaxWithLossImpl(AdaptiveLogSoftmaxWithLossOptions options_);

  ASMoutput forward(const Tensor& input, const Tensor& target);

  void reset() override;
  void reset_parameters();
  void pretty_print(std::ostream& stream) const override;

  /// Logarithms of the probabilities of all classes, [N, n_classes], from the scores of the head.
  Tensor _get_full_log_prob(const Tensor& input, const Tensor& head_output);
  /// Logarithms of the probabilities of all classes.
  Tensor log_prob(const Tensor& input);
  /// The most probable class of each element, [N].
  Tensor predict(const Tensor& input);

  AdaptiveLogSoftmaxWithLossOptions options;
  /// The options' cutoffs and n_classes.
  std::vector<int64_t> cutoffs;
  int64_t shortlist_size = 0;
  int64_t n_clusters = 0;
  int64_t head_size = 0;
  Linear head = nullptr;
  ModuleList tail;
};
using AdaptiveLogSoftmaxWithLoss = BuiltinHolder<AdaptiveLogSoftmaxWithLossImpl>;

} // namespace torch::nn
