// Options of loss functions. `reduction` says what becomes of the losses of a batch: kMean (the default), kSum, or kNone,
// which keeps them apart.
#pragma once

#include <csrc/arg.h>
#include <csrc/nn/enum.h>
#include <csrc/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <variant>

extern template class TORCH_API c10::Indirect<std::optional<std::function<at::Tensor(const at::Tensor&, const at::Tensor&)>>>;

namespace torch::nn {

namespace detail {

using loss_reduction_t = enumtype::Choice<enumtype::kNone, enumtype::kMean, enumtype::kSum>;

} // namespace detail

struct TORCH_API L1LossOptions {
  using reduction_t = detail::loss_reduction_t;
  TORCH_OPTIONS_CTOR_VARIANT_ARG3(L1LossOptions, reduction, kNone, kMean, kSum)
  TORCH_ARG(reduction_t, reduction) = torch::kMean;
};

/// kBatchMean divides by the batch size, as the divergence is defined; kMean by the number of elements. With `log_target`
/// targets are logarithms, as inputs are.
struct TORCH_API KLDivLossOptions {
  using reduction_t = enumtype::Choice<enumtype::kNone, enumtype::kBatchMean, enumtype::kSum, enumtype::kMean>;
  TORCH_OPTIONS_CTOR_VARIANT_ARG4(KLDivLossOptions, reduction, kNone, kBatchMean, kSum, kMean)
  TORCH_ARG(reduction_t, reduction) = torch::kMean;
  TORCH_ARG(bool, log_target) = false;
};

struct TORCH_API MSELossOptions {
  using reduction_t = detail::loss_reduction_t;
  TORCH_OPTIONS_CTOR_VARIANT_ARG3(MSELossOptions, reduction, kNone, kMean, kSum)
  TORCH_ARG(reduction_t, reduction) = torch::kMean;
};

/// `weight` scales the loss of each element.
struct TORCH_API BCELossOptions {
  using reduction_t = detail::loss_reduction_t;
  TORCH_ARG(Tensor, weight);
  TORCH_ARG(reduction_t, reduction) = torch::kMean;
};

struct TORCH_API HingeEmbeddingLossOptions {
  using reduction_t = detail::loss_reduction_t;
  TORCH_ARG(double, margin) = 1.0;
  TORCH_ARG(reduction_t, reduction) = torch::kMean;
};

/// `p` is 1 or 2; `weight` holds a factor for each class.
struct TORCH_API MultiMarginLossOptions {
  using reduction_t = detail::loss_reduction_t;
  TORCH_ARG(int64_t, p) = 1;
  TORCH_ARG(double, margin) = 1.0;
  TORCH_ARG(Tensor, weight);
  TORCH_ARG(reduction_t, reduction) = torch::kMean;
};

struct TORCH_API CosineEmbeddingLossOptions {
  using reduction_t = detail::loss_reduction_t;
  TORCH_ARG(double, margin) = 0.0;
  TORCH_ARG(reduction_t, reduction) = torch::kMean;
};

struct TORCH_API MultiLabelMarginLossOptions {
  using reduction_t = detail::loss_reduction_t;
  TORCH_OPTIONS_CTOR_VARIANT_ARG3(MultiLabelMarginLossOptions, reduction, kNone, kMean, kSum)
  TORCH_ARG(reduction_t, reduction) = torch::kMean;
};

struct TORCH_API SoftMarginLossOptions {
  using reduction_t = detail::loss_reduction_t;
  TORCH_OPTIONS_CTOR_VARIANT_ARG3(SoftMarginLossOptions, reduction, kNone, kMean, kSum)
  TORCH_ARG(reduction_t, reduction) = torch::kMean;
};

struct TORCH_API MultiLabelSoftMarginLossOptions {
  using reduction_t = detail::loss_reduction_t;
  TORCH_ARG(Tensor, weight);
  TORCH_ARG(reduction_t, reduction) = torch::kMean;
};

/// Distances are `p`-norms. With `swap` the negative is taken from the anchor or the positive, whichever is nearer.
struct TORCH_API TripletMarginLossOptions {
  using reduction_t = detail::loss_reduction_t;
  TORCH_ARG(double, margin) = 1.0;
  TORCH_ARG(double, p) = 2.0;
  TORCH_ARG(double, eps) = 1e-6;
  TORCH_ARG(bool, swap) = false;
  TORCH_ARG(reduction_t, reduction) = torch::kMean;
};

/// Without a `distance_function` distances are those of pairwise_distance.
struct TORCH_API TripletMarginWithDistanceLossOptions {
  using reduction_t = detail::loss_reduction_t;
  using distance_function_t = std::function<Tensor(const Tensor&, const Tensor&)>;
  TORCH_INDIRECT_ARG(std::optional<distance_function_t>, distance_function);
  TORCH_ARG(double, margin) = 1.0;
  TORCH_ARG(bool, swap) = false;
  TORCH_ARG(reduction_t, reduction) = torch::kMean;
};

/// `zero_infinity` turns infinite losses, of targets longer than their inputs, and their gradients to zero.
struct TORCH_API CTCLossOptions {
  using reduction_t = detail::loss_reduction_t;
  TORCH_ARG(int64_t, blank) = 0;
  TORCH_ARG(reduction_t, reduction) = torch::kMean;
  TORCH_ARG(bool, zero_infinity) = false;
};

/// Quadratic for differences below `beta` (1 unless given), then linear of slope 1.
struct TORCH_API SmoothL1LossOptions {
  using reduction_t = detail::loss_reduction_t;
  TORCH_OPTIONS_CTOR_VARIANT_ARG3(SmoothL1LossOptions, reduction, kNone, kMean, kSum)
  TORCH_ARG(reduction_t, reduction) = torch::kMean;
  TORCH_ARG(std::optional<double>, beta) = std::nullopt;
};

/// Quadratic for differences below `delta`, then linear of slope `delta`.
struct TORCH_API HuberLossOptions {
  using reduction_t = detail::loss_reduction_t;
  TORCH_OPTIONS_CTOR_VARIANT_ARG3(HuberLossOptions, reduction, kNone, kMean, kSum)
  TORCH_ARG(reduction_t, reduction) = torch::kMean;
  TORCH_ARG(double, delta) = 1.0;
};

/// `full` adds Stirling's approximation of log(target!); `eps` keeps log(input + eps) finite without `log_input`.
struct TORCH_API PoissonNLLLossOptions {
  using reduction_t = detail::loss_reduction_t;
  TORCH_ARG(bool, log_input) = true;
  TORCH_ARG(bool, full) = false;
  TORCH_ARG(double, eps) = 1e-8;
  TORCH_ARG(reduction_t, reduction) = torch::kMean;
};

struct TORCH_API MarginRankingLossOptions {
  using reduction_t = detail::loss_reduction_t;
  TORCH_ARG(double, margin) = 0;
  TORCH_ARG(reduction_t, reduction) = torch::kMean;
};

/// `weight` holds a factor for each class; targets equal to `ignore_index` count for nothing.
struct TORCH_API NLLLossOptions {
  using reduction_t = detail::loss_reduction_t;
  TORCH_ARG(Tensor, weight);
  TORCH_ARG(int64_t, ignore_index) = -100;
  TORCH_ARG(reduction_t, reduction) = torch::kMean;
};

/// As NLLLossOptions; `label_smoothing`, in [0, 1], is the part of the target that is spread over all classes.
struct TORCH_API CrossEntropyLossOptions {
  using reduction_t = detail::loss_reduction_t;
  TORCH_ARG(Tensor, weight);
  TORCH_ARG(int64_t, ignore_index) = -100;
  TORCH_ARG(reduction_t, reduction) = torch::kMean;
  TORCH_ARG(double, label_smoothing) = 0.0;
};

/// `pos_weight` holds a factor for each class's positive examples.
struct TORCH_API BCEWithLogitsLossOptions {
  using reduction_t = detail::loss_reduction_t;
  TORCH_ARG(Tensor, weight);
  TORCH_ARG(reduction_t, reduction) = torch::kMean;
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
