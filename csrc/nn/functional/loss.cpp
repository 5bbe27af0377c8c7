#include <csrc/nn/functional/loss.h>

#include <aten/iterator/ExpandUtils.h>
#include <c10/util/Exception.h>
#include <csrc/nn/functional/distance.h>
#include <csrc/nn/functional/loss_checks.h>

template class c10::Indirect<std::optional<std::function<at::Tensor(const at::Tensor&, const at::Tensor&)>>>;

namespace torch::nn::functional {
namespace {

using enumtype::reduction_get_enum;

Tensor reduce(const Tensor& losses, const nn::detail::loss_reduction_t& reduction) {
  if (std::holds_alternative<enumtype::kNone>(reduction)) {
    return losses;
  }
  return std::holds_alternative<enumtype::kMean>(reduction) ? losses.mean() : losses.sum();
}

/// Losses of two tensors broadcast, which is rarely meant.
void warn_of_sizes(const char* name, const Tensor& input, const Tensor& target) {
  if (input.sizes() != target.sizes()) {
    TORCH_WARN(
        "Using a target size (", target.sizes(), ") that is different to the input size (", input.sizes(), "). ", name,
        " will broadcast them; give them the same size unless that is meant.");
  }
}

} // namespace

Tensor l1_loss(const Tensor& input, const Tensor& target, const L1LossFuncOptions& options) {
  return at::l1_loss(input, target, reduction_get_enum(options.reduction()));
}

Tensor mse_loss(const Tensor& input, const Tensor& target, const MSELossFuncOptions& options) {
  warn_of_sizes("mse_loss", input, target);
  return at::mse_loss(input, target, reduction_get_enum(options.reduction()));
}

Tensor smooth_l1_loss(const Tensor& input, const Tensor& target, const SmoothL1LossFuncOptions& options) {
  warn_of_sizes("smooth_l1_loss", input, target);
  return at::smooth_l1_loss(input, target, reduction_get_enum(options.reduction()), options.beta().value_or(1.0));
}

Tensor smooth_l1_loss(const Tensor& input, const Tensor& target, const SmoothL1LossFuncOptions& options, double beta) {
  TORCH_CHECK(
      !options.beta().has_value(), "expected beta not to be provided in 'options', but got ", *options.beta(),
      "; give it there or as the argument");
  return smooth_l1_loss(input, target, SmoothL1LossFuncOptions(options).beta(beta));
}

Tensor huber_loss(const Tensor& input, const Tensor& target, const HuberLossFuncOptions& options) {
  warn_of_sizes("huber_loss", input, target);
  return at::huber_loss(input, target, reduction_get_enum(options.reduction()), options.delta());
}

Tensor kl_div(const Tensor& input, const Tensor& target, const KLDivFuncOptions& options) {
  const auto& reduction = options.reduction();
  if (std::holds_alternative<enumtype::kBatchMean>(reduction)) {
    const Tensor sum = at::kl_div(input, target, Reduction::Sum, options.log_target());
    return input.dim() == 0 ? sum : sum / input.size(0);
  }
  if (std::holds_alternative<enumtype::kMean>(reduction)) {
    TORCH_WARN_ONCE(
        "reduction: 'mean' divides the total loss by both the batch size and the support size. kBatchMean divides by "
        "the batch size alone, as the KL divergence is defined.");
  }
  return at::kl_div(input, target, reduction_get_enum(reduction), options.log_target());
}

Tensor binary_cross_entropy(const Tensor& input, const Tensor& target, const BinaryCrossEntropyFuncOptions& options) {
  TORCH_CHECK(
      input.sizes() == target.sizes(), "Using a target size (", target.sizes(),
      ") that is different to the input size (", input.sizes(),
      ") is deprecated. Please ensure they have the same size.");
  Tensor weight = options.weight();
  if (weight.defined()) {
    weight = weight.expand(at::infer_size(target.sizes(), weight.sizes()));
  }
  return at::binary_cross_entropy(input, target, weight, reduction_get_enum(options.reduction()));
}

Tensor binary_cross_entropy_with_logits(
    const Tensor& input, const Tensor& target, const BinaryCrossEntropyWithLogitsFuncOptions& options) {
  TORCH_CHECK(
      target.sizes() == input.sizes(), "Target size (", target.sizes(), ") must be the same as input size (",
      input.sizes(), ")");
  return at::binary_cross_entropy_with_logits(
      input, target, options.weight(), options.pos_weight(), reduction_get_enum(options.reduction()));
}

Tensor nll_loss(const Tensor& input, const Tensor& target, const NLLLossFuncOptions& options) {
  TORCH_CHECK(
      input.dim() >= 1, "Expected 2 or more dimensions (got ", input.dim(),
      "): nll_loss takes log probabilities [batch, classes, ...] or [classes]");
  TORCH_CHECK(
      input.dim() < 2 || (target.dim() >= 1 && input.size(0) == target.size(0)), "Expected input batch_size (",
      input.size(0), ") to match target batch_size (", target.dim() == 0 ? 1 : target.size(0), "): input is ",
      input.sizes(), ", target ", target.sizes());
  return at::nll_loss_nd(
      input, target, options.weight(), reduction_get_enum(options.reduction()), options.ignore_index());
}

Tensor cross_entropy(const Tensor& input, const Tensor& target, const CrossEntropyFuncOptions& options) {
  return at::cross_entropy_loss(
      input, target, options.weight(), reduction_get_enum(options.reduction()), options.ignore_index(),
      options.label_smoothing());
}

Tensor poisson_nll_loss(const Tensor& input, const Tensor& target, const PoissonNLLLossFuncOptions& options) {
  return at::poisson_nll_loss(
      input, target, options.log_input(), options.full(), options.eps(), reduction_get_enum(options.reduction()));
}

Tensor ctc_loss(
    const Tensor& log_probs,
    const Tensor& targets,
    const Tensor& input_lengths,
    const Tensor& target_lengths,
    const CTCLossFuncOptions& options) {
  return at::ctc_loss(
      log_probs, targets, input_lengths, target_lengths, options.blank(), reduction_get_enum(options.reduction()),
      options.zero_infinity());
}

Tensor hinge_embedding_loss(const Tensor& input, const Tensor& target, const HingeEmbeddingLossFuncOptions& options) {
  return at::hinge_embedding_loss(input, target, options.margin(), reduction_get_enum(options.reduction()));
}

void detail::check_multi_margin(const MultiMarginLossOptions& options) {
  TORCH_CHECK(options.p() == 1 || options.p() == 2, "only p == 1 and p == 2 supported, but got ", options.p());
  TORCH_CHECK(
      !options.weight().defined() || options.weight().dim() == 1,
      "weight must be one-dimensional, a factor for each class, but got ", options.weight().dim(), " dimensions");
}

Tensor multi_margin_loss(const Tensor& input, const Tensor& target, const MultiMarginLossFuncOptions& options) {
  detail::check_multi_margin(options);
  return at::multi_margin_loss(
      input, target, options.p(), options.margin(), options.weight(), reduction_get_enum(options.reduction()));
}

Tensor multilabel_margin_loss(
    const Tensor& input, const Tensor& target, const MultilabelMarginLossFuncOptions& options) {
  return at::multilabel_margin_loss(input, target, reduction_get_enum(options.reduction()));
}

Tensor soft_margin_loss(const Tensor& input, const Tensor& target, const SoftMarginLossFuncOptions& options) {
  return at::soft_margin_loss(input, target, reduction_get_enum(options.reduction()));
}

Tensor multilabel_soft_margin_loss(
    const Tensor& input, const Tensor& target, const MultilabelSoftMarginLossFuncOptions& options) {
  TORCH_CHECK(
      input.dim() >= 1,
      "multilabel_soft_margin_loss: input must have a dimension of classes, [batch, classes] or [classes]");
  Tensor losses = -(target * at::log_sigmoid(input) + (1 - target) * at::log_sigmoid(-input));
  if (options.weight().defined()) {
    losses = losses * options.weight();
  }
  return reduce(losses.mean(/*dim=*/-1), options.reduction());
}

Tensor cosine_embedding_loss(
    const Tensor& input1, const Tensor& input2, const Tensor& target, const CosineEmbeddingLossFuncOptions& options) {
  return at::cosine_embedding_loss(input1, input2, target, options.margin(), reduction_get_enum(options.reduction()));
}

Tensor margin_ranking_loss(
    const Tensor& input1, const Tensor& input2, const Tensor& target, const MarginRankingLossFuncOptions& options) {
  TORCH_CHECK(
      input1.dim() == input2.dim() && input1.dim() == target.dim(),
      "margin_ranking_loss : All input tensors should have same dimension but got sizes: input1: ", input1.sizes(),
      ", input2: ", input2.sizes(), ", target: ", target.sizes());
  return at::margin_ranking_loss(input1, input2, target, options.margin(), reduction_get_enum(options.reduction()));
}

Tensor triplet_margin_loss(
    const Tensor& anchor, const Tensor& positive, const Tensor& negative, const TripletMarginLossFuncOptions& options) {
  return at::triplet_margin_loss(
      anchor, positive, negative, options.margin(), options.p(), options.eps(), options.swap(),
      reduction_get_enum(options.reduction()));
}

Tensor triplet_margin_with_distance_loss(
    const Tensor& anchor,
    const Tensor& positive,
    const Tensor& negative,
    const TripletMarginWithDistanceLossFuncOptions& options) {
  const auto distance = [&](const Tensor& a, const Tensor& b) {
    return options.distance_function() ? (*options.distance_function())(a, b) : functional::pairwise_distance(a, b);
  };
  const Tensor near = distance(anchor, positive);
  Tensor far = distance(anchor, negative);
  if (options.swap()) {
    far = at::min(far, distance(positive, negative));
  }
  return reduce(at::clamp_min(near - far + options.margin(), 0), options.reduction());
}

} // namespace torch::nn::functional
