// Loss functions. Each takes `reduction` in its options: kMean (the default), kSum, or kNone for a loss of each
// element.
#pragma once

#include <csrc/nn/options/loss.h>
#include <csrc/types.h>

namespace torch::nn::functional {

/// |x - y|. The inputs are broadcast.
TORCH_API Tensor l1_loss(const Tensor& input, const Tensor& target, const L1LossFuncOptions& options = {});
/// (x - y)^2. The inputs are broadcast, with a warning where their sizes differ.
TORCH_API Tensor mse_loss(const Tensor& input, const Tensor& target, const MSELossFuncOptions& options = {});
/// 0.5 (x - y)^2 / beta where |x - y| < beta, else |x - y| - 0.5 beta (Girshick, 2015). Throws if beta is negative; 0
/// gives l1_loss.
TORCH_API Tensor smooth_l1_loss(const Tensor& input, const Tensor& target, const SmoothL1LossFuncOptions& options = {});
/// `beta` as an argument. Throws if the options have one too.
TORCH_API Tensor
smooth_l1_loss(const Tensor& input, const Tensor& target, const SmoothL1LossFuncOptions& options, double beta);
/// 0.5 (x - y)^2 where |x - y| < delta, else delta (|x - y| - 0.5 delta) (Huber, 1964). Throws unless delta is
/// positive.
TORCH_API Tensor huber_loss(const Tensor& input, const Tensor& target, const HuberLossFuncOptions& options = {});
/// Kullback-Leibler divergence: target (log(target) - input), where `input` are logarithms of probabilities, and with
/// `log_target` the targets too. Throws for integers and complex numbers.
TORCH_API Tensor kl_div(const Tensor& input, const Tensor& target, const KLDivFuncOptions& options = {});

/// -(y log(x) + (1 - y) log(1 - x)), where `input` are probabilities and `target` has the same sizes. Logarithms are
/// limited to -100. Throws if the sizes differ or an input is not in [0, 1].
TORCH_API Tensor
binary_cross_entropy(const Tensor& input, const Tensor& target, const BinaryCrossEntropyFuncOptions& options = {});
/// binary_cross_entropy of sigmoid(input), computed without overflow. Throws if `target` has other sizes than `input`.
TORCH_API Tensor binary_cross_entropy_with_logits(
    const Tensor& input, const Tensor& target, const BinaryCrossEntropyWithLogitsFuncOptions& options = {});
/// -weight[y] * x[y]: `input` are log probabilities [N, C, ...] or [C], `target` class indices [N, ...] or []. kMean
/// divides by the sum of the weights that were used. Throws if the batch sizes differ and for a class that does not
/// exist.
TORCH_API Tensor nll_loss(const Tensor& input, const Tensor& target, const NLLLossFuncOptions& options = {});
/// nll_loss of log_softmax over the classes: `input` are logits [N, C, ...] or [C], `target` class indices [N, ...] or,
/// with the sizes of `input`, probabilities of the classes. Throws unless `label_smoothing` is in [0, 1].
TORCH_API Tensor cross_entropy(const Tensor& input, const Tensor& target, const CrossEntropyFuncOptions& options = {});
/// exp(x) - y * x, or without `log_input` x - y * log(x + eps): the negative log likelihood of counts `target` under
/// Poisson distributions.
TORCH_API Tensor
poisson_nll_loss(const Tensor& input, const Tensor& target, const PoissonNLLLossFuncOptions& options = {});
/// Connectionist temporal classification (Graves et al., 2006). `log_probs` is [T, N, C] or [T, C], `targets` [N, S] or
/// all of them in one row, `input_lengths` and `target_lengths` [N] or []. kMean divides each loss by its target's
/// length first. Throws for a blank that is no class, for lengths beyond the tensors, and unless there is one length
/// for each sample.
TORCH_API Tensor ctc_loss(
    const Tensor& log_probs,
    const Tensor& targets,
    const Tensor& input_lengths,
    const Tensor& target_lengths,
    const CTCLossFuncOptions& options = {});

/// x where y is 1, max(0, margin - x) where y is -1.
TORCH_API Tensor
hinge_embedding_loss(const Tensor& input, const Tensor& target, const HingeEmbeddingLossFuncOptions& options = {});
/// sum over i != y of max(0, margin - x[y] + x[i])^p / C: `input` [N, C] or [C], `target` [N] or []. Throws unless p is
/// 1 or 2, and unless `weight`, if given, is [C].
TORCH_API Tensor
multi_margin_loss(const Tensor& input, const Tensor& target, const MultiMarginLossFuncOptions& options = {});
/// Sum over targets j and all other classes i of max(0, 1 - x[j] + x[i]) / C: `input` and `target` [N, C] or [C]; the
/// class indices of a row end at its first -1.
TORCH_API Tensor
multilabel_margin_loss(const Tensor& input, const Tensor& target, const MultilabelMarginLossFuncOptions& options = {});
/// log(1 + exp(-y * x)) for targets y of 1 and -1, of the sizes of `input`. Throws for integers.
TORCH_API Tensor
soft_margin_loss(const Tensor& input, const Tensor& target, const SoftMarginLossFuncOptions& options = {});
/// Mean over the classes, the last dimension, of binary_cross_entropy_with_logits. Throws for 0-dim inputs.
TORCH_API Tensor multilabel_soft_margin_loss(
    const Tensor& input, const Tensor& target, const MultilabelSoftMarginLossFuncOptions& options = {});
/// 1 - cos(x1, x2) where y is 1, max(0, cos(x1, x2) - margin) where it is -1: inputs [N, D] with targets [N], or [D]
/// with []. Throws for other numbers of dimensions.
TORCH_API Tensor cosine_embedding_loss(
    const Tensor& input1,
    const Tensor& input2,
    const Tensor& target,
    const CosineEmbeddingLossFuncOptions& options = {});
/// max(0, -y * (x1 - x2) + margin). Throws unless all three have the same number of dimensions.
TORCH_API Tensor margin_ranking_loss(
    const Tensor& input1, const Tensor& input2, const Tensor& target, const MarginRankingLossFuncOptions& options = {});
/// max(0, d(anchor, positive) - d(anchor, negative) + margin), d being pairwise_distance (Balntas et al., 2016). Throws
/// unless all three have the same number of dimensions.
TORCH_API Tensor triplet_margin_loss(
    const Tensor& anchor,
    const Tensor& positive,
    const Tensor& negative,
    const TripletMarginLossFuncOptions& options = {});
/// triplet_margin_loss with a distance of one's own.
TORCH_API Tensor triplet_margin_with_distance_loss(
    const Tensor& anchor,
    const Tensor& positive,
    const Tensor& negative,
    const TripletMarginWithDistanceLossFuncOptions& options = {});

} // namespace torch::nn::functional
