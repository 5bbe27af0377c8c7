// Options of loss functions. `reduction` says what becomes of the losses of a batch: kMean (the default), kSum, or
// kNone, which keeps them apart.
#pragma once

#include <csrc/arg.h>
#include <csrc/nn/enum.h>
#include <csrc/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <variant>

extern template class TORCH_API
    c10::Indirect<std::optional<std::function<at::Tensor(const at::Tensor&, const at::Tensor&)>>>;

namespace torch::nn {

namespace detail {

using loss_reduction_t = enumtype::Choice<enumtype::kNone, enumtype::kMean, enumtype::kSum>;

} // namespace detail

/// Options of L1Loss and F::l1_loss.
struct TORCH_API L1LossOptions {
  using reduction_t = detail::loss_reduction_t;
  TORCH_OPTIONS_CTOR_VARIANT_ARG3(L1LossOptions, reduction, kNone, kMean, kSum)
  /// kMean: the mean of all losses, kSum: their sum, kNone: a loss for each sample or element.
  TORCH_ARG(reduction_t, reduction) = torch::kMean;
};

/// Options of KLDivLoss and F::kl_div.
struct TORCH_API KLDivLossOptions {
  using reduction_t = enumtype::Choice<enumtype::kNone, enumtype::kBatchMean, enumtype::kSum, enumtype::kMean>;
  TORCH_OPTIONS_CTOR_VARIANT_ARG4(KLDivLossOptions, reduction, kNone, kBatchMean, kSum, kMean)
  /// kBatchMean divides the sum by the batch size, as the divergence is defined; kMean by the count of elements.
  TORCH_ARG(reduction_t, reduction) = torch::kMean;
  /// Whether targets are logarithms, as inputs are.
  TORCH_ARG(bool, log_target) = false;
};

/// Options of MSELoss and F::mse_loss.
struct TORCH_API MSELossOptions {
  using reduction_t = detail::loss_reduction_t;
  TORCH_OPTIONS_CTOR_VARIANT_ARG3(MSELossOptions, reduction, kNone, kMean, kSum)
  /// kMean: the mean of all losses, kSum: their sum, kNone: a loss for each sample or element.
  TORCH_ARG(reduction_t, reduction) = torch::kMean;
};

/// Options of BCELoss and F::binary_cross_entropy.
struct TORCH_API BCELossOptions {
  using reduction_t = detail::loss_reduction_t;
  /// A factor for each element, broadcast to the target; none if undefined.
  TORCH_ARG(Tensor, weight);
  /// kMean: the mean of all losses, kSum: their sum, kNone: a loss for each sample or element.
  TORCH_ARG(reduction_t, reduction) = torch::kMean;
};

/// Options of HingeEmbeddingLoss and F::hinge_embedding_loss.
struct TORCH_API HingeEmbeddingLossOptions {
  using reduction_t = detail::loss_reduction_t;
  /// How large inputs of target -1 are asked to be.
  TORCH_ARG(double, margin) = 1.0;
  /// kMean: the mean of all losses, kSum: their sum, kNone: a loss for each sample or element.
  TORCH_ARG(reduction_t, reduction) = torch::kMean;
};

/// Options of MultiMarginLoss and F::multi_margin_loss.
struct TORCH_API MultiMarginLossOptions {
  using reduction_t = detail::loss_reduction_t;
  /// The exponent. Throws unless 1 or 2.
  TORCH_ARG(int64_t, p) = 1;
  /// By how much the target's score is asked to exceed the others.
  TORCH_ARG(double, margin) = 1.0;
  /// [C], a factor for each class; none if undefined. Throws for other numbers of dimensions.
  TORCH_ARG(Tensor, weight);
  /// kMean: the mean of all losses, kSum: their sum, kNone: a loss for each sample or element.
  TORCH_ARG(reduction_t, reduction) = torch::kMean;
};

/// Options of CosineEmbeddingLoss and F::cosine_embedding_loss.
struct TORCH_API CosineEmbeddingLossOptions {
  using reduction_t = detail::loss_reduction_t;
  /// The cosine up to which pairs of target -1 cost nothing.
  TORCH_ARG(double, margin) = 0.0;
  /// kMean: the mean of all losses, kSum: their sum, kNone: a loss for each sample or element.
  TORCH_ARG(reduction_t, reduction) = torch::kMean;
};

/// Options of MultiLabelMarginLoss and F::multilabel_margin_loss.
struct TORCH_API MultiLabelMarginLossOptions {
  using reduction_t = detail::loss_reduction_t;
  TORCH_OPTIONS_CTOR_VARIANT_ARG3(MultiLabelMarginLossOptions, reduction, kNone, kMean, kSum)
  /// kMean: the mean of all losses, kSum: their sum, kNone: a loss for each sample or element.
  TORCH_ARG(reduction_t, reduction) = torch::kMean;
};

/// Options of SoftMarginLoss and F::soft_margin_loss.
struct TORCH_API SoftMarginLossOptions {
  using reduction_t = detail::loss_reduction_t;
  TORCH_OPTIONS_CTOR_VARIANT_ARG3(SoftMarginLossOptions, reduction, kNone, kMean, kSum)
  /// kMean: the mean of all losses, kSum: their sum, kNone: a loss for each sample or element.
  TORCH_ARG(reduction_t, reduction) = torch::kMean;
};

/// Options of MultiLabelSoftMarginLoss and F::multilabel_soft_margin_loss.
struct TORCH_API MultiLabelSoftMarginLossOptions {
  using reduction_t = detail::loss_reduction_t;
  /// A factor for each class; none if undefined.
  TORCH_ARG(Tensor, weight);
  /// kMean: the mean of all losses, kSum: their sum, kNone: a loss for each sample or element.
  TORCH_ARG(reduction_t, reduction) = torch::kMean;
};

/// Options of TripletMarginLoss and F::triplet_margin_loss.
struct TORCH_API TripletMarginLossOptions {
  using reduction_t = detail::loss_reduction_t;
  /// By how much the negative is asked to be farther than the positive.
  TORCH_ARG(double, margin) = 1.0;
  /// Distances are p-norms.
  TORCH_ARG(double, p) = 2.0;
  /// Added to each difference.
  TORCH_ARG(double, eps) = 1e-6;
  /// Takes the negative's distance from the anchor or the positive, whichever is nearer.
  TORCH_ARG(bool, swap) = false;
  /// kMean: the mean of all losses, kSum: their sum, kNone: a loss for each sample or element.
  TORCH_ARG(reduction_t, reduction) = torch::kMean;
};

/// Options of TripletMarginWithDistanceLoss and F::triplet_margin_with_distance_loss.
struct TORCH_API TripletMarginWithDistanceLossOptions {
  using reduction_t = detail::loss_reduction_t;
  using distance_function_t = std::function<Tensor(const Tensor&, const Tensor&)>;
  /// The distance of two tensors; pairwise_distance if empty.
  TORCH_INDIRECT_ARG(std::optional<distance_function_t>, distance_function);
  /// By how much the negative is asked to be farther than the positive.
  TORCH_ARG(double, margin) = 1.0;
  /// Takes the negative's distance from the anchor or the positive, whichever is nearer.
  TORCH_ARG(bool, swap) = false;
  /// kMean: the mean of all losses, kSum: their sum, kNone: a loss for each sample or element.
  TORCH_ARG(reduction_t, reduction) = torch::kMean;
};

/// Options of CTCLoss and F::ctc_loss.
struct TORCH_API CTCLossOptions {
  using reduction_t = detail::loss_reduction_t;
  /// The class that stands for no label.
  TORCH_ARG(int64_t, blank) = 0;
  /// kMean: the mean of all losses, kSum: their sum, kNone: a loss for each sample or element.
  TORCH_ARG(reduction_t, reduction) = torch::kMean;
  /// Turns infinite losses, of targets longer than their inputs, and their gradients to zero.
  TORCH_ARG(bool, zero_infinity) = false;
};

/// Options of SmoothL1Loss and F::smooth_l1_loss.
struct TORCH_API SmoothL1LossOptions {
  using reduction_t = detail::loss_reduction_t;
  TORCH_OPTIONS_CTOR_VARIANT_ARG3(SmoothL1LossOptions, reduction, kNone, kMean, kSum)
  /// kMean: the mean of all losses, kSum: their sum, kNone: a loss for each sample or element.
  TORCH_ARG(reduction_t, reduction) = torch::kMean;
  /// Where the quadratic part ends; 1 unless given. Throws if negative.
  TORCH_ARG(std::optional<double>, beta) = std::nullopt;
};

/// Options of HuberLoss and F::huber_loss.
struct TORCH_API HuberLossOptions {
  using reduction_t = detail::loss_reduction_t;
  TORCH_OPTIONS_CTOR_VARIANT_ARG3(HuberLossOptions, reduction, kNone, kMean, kSum)
  /// kMean: the mean of all losses, kSum: their sum, kNone: a loss for each sample or element.
  TORCH_ARG(reduction_t, reduction) = torch::kMean;
  /// Where the quadratic part ends, and the slope behind it. Throws unless positive.
  TORCH_ARG(double, delta) = 1.0;
};

/// Options of PoissonNLLLoss and F::poisson_nll_loss.
struct TORCH_API PoissonNLLLossOptions {
  using reduction_t = detail::loss_reduction_t;
  /// Whether inputs are logarithms of rates.
  TORCH_ARG(bool, log_input) = true;
  /// Adds Stirling's approximation of log(target!).
  TORCH_ARG(bool, full) = false;
  /// Keeps log(input + eps) finite without log_input.
  TORCH_ARG(double, eps) = 1e-8;
  /// kMean: the mean of all losses, kSum: their sum, kNone: a loss for each sample or element.
  TORCH_ARG(reduction_t, reduction) = torch::kMean;
};

/// Options of MarginRankingLoss and F::margin_ranking_loss.
struct TORCH_API MarginRankingLossOptions {
  using reduction_t = detail::loss_reduction_t;
  /// By how much the one is asked to exceed the other.
  TORCH_ARG(double, margin) = 0;
  /// kMean: the mean of all losses, kSum: their sum, kNone: a loss for each sample or element.
  TORCH_ARG(reduction_t, reduction) = torch::kMean;
};

/// Options of NLLLoss and F::nll_loss.
struct TORCH_API NLLLossOptions {
  using reduction_t = detail::loss_reduction_t;
  /// A factor for each class; none if undefined.
  TORCH_ARG(Tensor, weight);
  /// Targets of this value count for nothing.
  TORCH_ARG(int64_t, ignore_index) = -100;
  /// kMean: the mean of all losses, kSum: their sum, kNone: a loss for each sample or element.
  TORCH_ARG(reduction_t, reduction) = torch::kMean;
};

/// Options of CrossEntropyLoss and F::cross_entropy.
struct TORCH_API CrossEntropyLossOptions {
  using reduction_t = detail::loss_reduction_t;
  /// A factor for each class; none if undefined.
  TORCH_ARG(Tensor, weight);
  /// Targets of this value count for nothing.
  TORCH_ARG(int64_t, ignore_index) = -100;
  /// kMean: the mean of all losses, kSum: their sum, kNone: a loss for each sample or element.
  TORCH_ARG(reduction_t, reduction) = torch::kMean;
  /// The part of the target that is spread over all classes. Throws outside of [0, 1].
  TORCH_ARG(double, label_smoothing) = 0.0;
};

/// Options of BCEWithLogitsLoss and F::binary_cross_entropy_with_logits.
struct TORCH_API BCEWithLogitsLossOptions {
  using reduction_t = detail::loss_reduction_t;
  /// A factor for each element, broadcast to the target; none if undefined.
  TORCH_ARG(Tensor, weight);
  /// kMean: the mean of all losses, kSum: their sum, kNone: a loss for each sample or element.
  TORCH_ARG(reduction_t, reduction) = torch::kMean;
  /// A factor for the positive examples of each class, broadcast to the target.
  TORCH_ARG(Tensor, pos_weight);
};

namespace functional {

using L1LossFuncOptions = L1LossOptions;
using KLDivFuncOptions = KLDivLossOptions;
using MSELossFuncOptions = MSELossOptions;
using BinaryCrossEntropyFuncOptions = BCELossOptions;
using HingeEmbeddingLossFuncOptions = HingeEmbeddingLossOptions;
using MultiMarginLossFuncOptions = MultiMarginLossOptions;
using CosineEmbeddingLossFuncOptions = CosineEmbeddingLossOptions;
using MultilabelMarginLossFuncOptions = MultiLabelMarginLossOptions;
using SoftMarginLossFuncOptions = SoftMarginLossOptions;
using MultilabelSoftMarginLossFuncOptions = MultiLabelSoftMarginLossOptions;
using TripletMarginLossFuncOptions = TripletMarginLossOptions;
using TripletMarginWithDistanceLossFuncOptions = TripletMarginWithDistanceLossOptions;
using CTCLossFuncOptions = CTCLossOptions;
using SmoothL1LossFuncOptions = SmoothL1LossOptions;
using HuberLossFuncOptions = HuberLossOptions;
using PoissonNLLLossFuncOptions = PoissonNLLLossOptions;
using MarginRankingLossFuncOptions = MarginRankingLossOptions;
using NLLLossFuncOptions = NLLLossOptions;
using CrossEntropyFuncOptions = CrossEntropyLossOptions;
using BinaryCrossEntropyWithLogitsFuncOptions = BCEWithLogitsLossOptions;

} // namespace functional
} // namespace torch::nn
