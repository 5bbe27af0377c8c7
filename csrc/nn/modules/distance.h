// Distances between vectors.
#pragma once

#include <csrc/nn/cloneable.h>
#include <csrc/nn/options/distance.h>

namespace torch::nn {

/// x1 . x2 / (|x1| |x2|) along `dim`.
class TORCH_API CosineSimilarityImpl : public Cloneable<CosineSimilarityImpl> {
 public:
  explicit CosineSimilarityImpl(const CosineSimilarityOptions& options_ = {});

  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input1, const Tensor& input2);

  CosineSimilarityOptions options;
};
using CosineSimilarity = BuiltinHolder<CosineSimilarityImpl>;

/// The p-norm of x1 - x2 + eps along the last dimension.
class TORCH_API PairwiseDistanceImpl : public Cloneable<PairwiseDistanceImpl> {
 public:
  explicit PairwiseDistanceImpl(const PairwiseDistanceOptions& options_ = {});

  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input1, const Tensor& input2);

  PairwiseDistanceOptions options;
};
using PairwiseDistance = BuiltinHolder<PairwiseDistanceImpl>;

} // namespace torch::nn
