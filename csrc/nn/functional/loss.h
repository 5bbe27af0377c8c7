// Loss functions. Each takes `reduction` in its options: kMean (the default), kSum, or kNone for a loss of each element.
#pragma once

#include <csrc/nn/options/loss.h>
#include <csrc/types.h>

namespace torch::nn::functional {

TORCH_API Tensor l1_loss(const Tensor& input, const Tensor& target, const L1LossFuncOptions& options = {});
TORCH_API Tensor mse_loss(const Tensor& input, const Tensor& target, const MSELossFuncOptions& options = {});
TORCH_API Tensor smooth_l1_loss(const Tensor& input, const Tensor& target, const SmoothL1LossFuncOptions& options = {});
/// `beta` as an argument; the options must not have one then.
TORCH_API Tensor
smooth_l1_loss(const Tensor& input, const Tensor& target, const SmoothL1LossFuncOptions& options, double beta);
TORCH_API Tensor huber_loss(const Tensor& input, const Tensor& target, const HuberLossFuncOptions& options = {});
/// target (log(target) - input), where `input` are logarithms of probabilities.
TORCH_API Tensor kl_div(const Tensor& input, const Tensor& target, const KLDivFuncOptions& options = {});

/// `input` are probabilities, `target` has the same sizes.
TORCH_API Tensor
binary_cross_entropy(const Tensor& input, const Tensor& target, const BinaryCrossEntropyFuncOptions& options = {});
/// `input` are logits, `target` has the same sizes.
TORCH_API Tensor binary_cross_entropy_with_logits(
    const Tensor& input, const Tensor& target, const BinaryCrossEntropyWithLogitsFuncOptions& options = {});
/// `input` are log probabilities [N, C, ...], `target` class indices [N, ...]. Without a batch [C] and [].
TORCH_API Tensor nll_loss(const Tensor& input, const Tensor& target, const NLLLossFuncOptions& options = {});
/// `input` are logits [N, C, ...] or [C], `target` class indices or, with the sizes of `input`, probabilities.
TORCH_API Tensor cross_entropy(const Tensor& input, const Tensor& target, const CrossEntropyFuncOptions& options = {});
TORCH_API Tensor
poisson_nll_loss(const Tensor& input, const Tensor& target, const PoissonNLLLossFuncOptions& options = {});
/// Connectionist temporal classification (Graves et al., 2006). `log_probs` is [T, N, C].
TORCH_API Tensor ctc_loss(
    const Tensor& log_probs,
    const Tensor& targets,
    const Tensor& input_lengths,
    const Tensor& target_lengths,
    const CTCLossFuncOptions& options = {});

TORCH_API Tensor
hinge_embedding_loss(const Tensor& input, const Tensor& target, const HingeEmbeddingLossFuncOptions& options = {});
TORCH_API Tensor
multi_margin_loss(const Tensor& input, const Tensor& target, const MultiMarginLossFuncOptions& options = {});
TORCH_API Tensor
multilabel_margin_loss(const Tensor& input, const Tensor& target, const MultilabelMarginLossFuncOptions& options = {});
TORCH_API Tensor
soft_margin_loss(const Tensor& input, const Tensor& target, const SoftMarginLossFuncOptions& options = {});
TORCH_API Tensor multilabel_soft_margin_loss(
    const Tensor& input, const Tensor& target, const MultilabelSoftMarginLossFuncOptions& options = {});
TORCH_API Tensor cosine_embedding_loss(
    const Tensor& input1, const Tensor& input2, const Tensor& target, const CosineEmbeddingLossFuncOptions& options = {});
TORCH_API Tensor margin_ranking_loss(
    const Tensor& input1, const Tensor& input2, const Tensor& target, const MarginRankingLossFuncOptions& options = {});
TORCH_API Tensor triplet_margin_loss(
    const Tensor& anchor,
    const Tensor& positive,
    const Tensor& negative,
    const TripletMarginLossFuncOptions& options = {});
TORCH_API Tensor triplet_margin_with_distance_loss(
    const Tensor& anchor,
    const Tensor& positive,
    const Tensor& negative,
    const TripletMarginWithDistanceLossFuncOptions& options = {});

} // namespace torch::nn::functional
