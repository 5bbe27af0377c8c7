// Losses. The options say what becomes of the losses of a batch; by default it is their mean.
#pragma once

#include <csrc/nn/cloneable.h>
#include <csrc/nn/options/loss.h>

namespace torch::nn {

/// Mean of |x - y|.
struct TORCH_API L1LossImpl : public Cloneable<L1LossImpl> {
  explicit L1LossImpl(L1LossOptions options_ = {});

  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input, const Tensor& target);

  L1LossOptions options;
};
using L1Loss = BuiltinHolder<L1LossImpl>;

/// Kullback-Leibler divergence of target distributions from inputs, which are logarithms of probabilities.
struct TORCH_API KLDivLossImpl : public Cloneable<KLDivLossImpl> {
  explicit KLDivLossImpl(KLDivLossOptions options_ = {});

  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input, const Tensor& target);

  KLDivLossOptions options;
};
using KLDivLoss = BuiltinHolder<KLDivLossImpl>;

/// Mean of (x - y)^2.
struct TORCH_API MSELossImpl : public Cloneable<MSELossImpl> {
  explicit MSELossImpl(MSELossOptions options_ = {});

  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input, const Tensor& target);

  MSELossOptions options;
};
using MSELoss = BuiltinHolder<MSELossImpl>;

/// Cross entropy of probabilities of two classes.
struct TORCH_API BCELossImpl : public Cloneable<BCELossImpl> {
  explicit BCELossImpl(BCELossOptions options_ = {});

  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input, const Tensor& target);

  BCELossOptions options;
};
using BCELoss = BuiltinHolder<BCELossImpl>;

/// x where the target is 1, max(0, margin - x) where it is -1.
struct TORCH_API HingeEmbeddingLossImpl : public Cloneable<HingeEmbeddingLossImpl> {
  explicit HingeEmbeddingLossImpl(HingeEmbeddingLossOptions options_ = {});

  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input, const Tensor& target);

  HingeEmbeddingLossOptions options;
};
using HingeEmbeddingLoss = BuiltinHolder<HingeEmbeddingLossImpl>;

/// Hinge loss of a classification of several classes.
struct TORCH_API MultiMarginLossImpl : public Cloneable<MultiMarginLossImpl> {
  explicit MultiMarginLossImpl(MultiMarginLossOptions options_ = {});

  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input, const Tensor& target);

  MultiMarginLossOptions options;
};
using MultiMarginLoss = BuiltinHolder<MultiMarginLossImpl>;

/// Pulls two vectors together (target 1) or apart (-1), by their cosine.
struct TORCH_API CosineEmbeddingLossImpl : public Cloneable<CosineEmbeddingLossImpl> {
  explicit CosineEmbeddingLossImpl(CosineEmbeddingLossOptions options_ = {});

  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input1, const Tensor& input2, const Tensor& target);

  CosineEmbeddingLossOptions options;
};
using CosineEmbeddingLoss = BuiltinHolder<CosineEmbeddingLossImpl>;

/// Quadratic where |x - y| < beta, else linear.
struct TORCH_API SmoothL1LossImpl : public Cloneable<SmoothL1LossImpl> {
  explicit SmoothL1LossImpl(SmoothL1LossOptions options_ = {});

  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input, const Tensor& target);

  SmoothL1LossOptions options;
};
using SmoothL1Loss = BuiltinHolder<SmoothL1LossImpl>;

/// Quadratic where |x - y| < delta, else linear with slope delta.
struct TORCH_API HuberLossImpl : public Cloneable<HuberLossImpl> {
  explicit HuberLossImpl(HuberLossOptions options_ = {});

  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input, const Tensor& target);

  HuberLossOptions options;
};
using HuberLoss = BuiltinHolder<HuberLossImpl>;

/// Hinge loss of a classification of several labels.
struct TORCH_API MultiLabelMarginLossImpl : public Cloneable<MultiLabelMarginLossImpl> {
  explicit MultiLabelMarginLossImpl(MultiLabelMarginLossOptions options_ = {});

  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input, const Tensor& target);

  MultiLabelMarginLossOptions options;
};
using MultiLabelMarginLoss = BuiltinHolder<MultiLabelMarginLossImpl>;

/// log(1 + exp(-y * x)), y being 1 or -1.
struct TORCH_API SoftMarginLossImpl : public Cloneable<SoftMarginLossImpl> {
  explicit SoftMarginLossImpl(SoftMarginLossOptions options_ = {});

  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input, const Tensor& target);

  SoftMarginLossOptions options;
};
using SoftMarginLoss = BuiltinHolder<SoftMarginLossImpl>;

/// Cross entropy of each label against the others, from logits.
struct TORCH_API MultiLabelSoftMarginLossImpl : public Cloneable<MultiLabelSoftMarginLossImpl> {
  explicit MultiLabelSoftMarginLossImpl(MultiLabelSoftMarginLossOptions options_ = {});

  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input, const Tensor& target);

  MultiLabelSoftMarginLossOptions options;
};
using MultiLabelSoftMarginLoss = BuiltinHolder<MultiLabelSoftMarginLossImpl>;

/// max(0, d(anchor, positive) - d(anchor, negative) + margin), d being a p-norm.
struct TORCH_API TripletMarginLossImpl : public Cloneable<TripletMarginLossImpl> {
  explicit TripletMarginLossImpl(TripletMarginLossOptions options_ = {});

  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& anchor, const Tensor& positive, const Tensor& negative);

  TripletMarginLossOptions options;
};
using TripletMarginLoss = BuiltinHolder<TripletMarginLossImpl>;

/// The same with a distance of choice.
struct TORCH_API TripletMarginWithDistanceLossImpl : public Cloneable<TripletMarginWithDistanceLossImpl> {
  explicit TripletMarginWithDistanceLossImpl(TripletMarginWithDistanceLossOptions options_ = {});

  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& anchor, const Tensor& positive, const Tensor& negative);

  TripletMarginWithDistanceLossOptions options;
};
using TripletMarginWithDistanceLoss = BuiltinHolder<TripletMarginWithDistanceLossImpl>;

/// Connectionist temporal classification (Graves et al. 2006).
struct TORCH_API CTCLossImpl : public Cloneable<CTCLossImpl> {
  explicit CTCLossImpl(CTCLossOptions options_ = {});

  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(
      const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths, const Tensor& target_lengths);

  CTCLossOptions options;
};
using CTCLoss = BuiltinHolder<CTCLossImpl>;

/// Negative logarithm of the likelihood of a Poisson distribution.
struct TORCH_API PoissonNLLLossImpl : public Cloneable<PoissonNLLLossImpl> {
  explicit PoissonNLLLossImpl(PoissonNLLLossOptions options_ = {});

  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& log_input, const Tensor& targets);

  PoissonNLLLossOptions options;
};
using PoissonNLLLoss = BuiltinHolder<PoissonNLLLossImpl>;

/// max(0, -y * (x1 - x2) + margin).
struct TORCH_API MarginRankingLossImpl : public Cloneable<MarginRankingLossImpl> {
  explicit MarginRankingLossImpl(MarginRankingLossOptions options_ = {});

  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input1, const Tensor& input2, const Tensor& targets);

  MarginRankingLossOptions options;
};
using MarginRankingLoss = BuiltinHolder<MarginRankingLossImpl>;

/// -x[target], x being logarithms of probabilities.
struct TORCH_API NLLLossImpl : public Cloneable<NLLLossImpl> {
  explicit NLLLossImpl(NLLLossOptions options_ = {});

  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input, const Tensor& target);

  NLLLossOptions options;
  Tensor weight;
};
using NLLLoss = BuiltinHolder<NLLLossImpl>;

/// Cross entropy of classes, from logits; targets are classes or probabilities.
struct TORCH_API CrossEntropyLossImpl : public Cloneable<CrossEntropyLossImpl> {
  explicit CrossEntropyLossImpl(CrossEntropyLossOptions options_ = {});

  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input, const Tensor& target);

  CrossEntropyLossOptions options;
  Tensor weight;
};
using CrossEntropyLoss = BuiltinHolder<CrossEntropyLossImpl>;

/// Cross entropy of two classes, from logits.
struct TORCH_API BCEWithLogitsLossImpl : public Cloneable<BCEWithLogitsLossImpl> {
  explicit BCEWithLogitsLossImpl(BCEWithLogitsLossOptions options_ = {});

  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input, const Tensor& target);

  BCEWithLogitsLossOptions options;
  Tensor weight;
  Tensor pos_weight;
};
using BCEWithLogitsLoss = BuiltinHolder<BCEWithLogitsLossImpl>;

} // namespace torch::nn
