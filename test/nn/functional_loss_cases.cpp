#include "functional_cases.h"

#include <utility>

namespace cases {

namespace {

using Reduction = std::variant<torch::enumtype::kNone, torch::enumtype::kMean, torch::enumtype::kSum>;

/// The loss with each reduction: `call` gets the input and options that have the reduction set.
template <class Options, class Call>
void reductions(Cases& out, const std::string& name, Options options, const Tensor& x, Call call) {
  const std::pair<const char*, Reduction> kinds[] = {
      {" none", torch::kNone}, {" mean", torch::kMean}, {" sum", torch::kSum}};
  for (const auto& kind : kinds) {
    std::visit([&](auto reduction) { options.reduction(reduction); }, kind.second);
    differentiable(
        out, name + kind.first, [&](const Tensor& t) { return call(t, options); }, x);
  }
}

void regression(Cases& out) {
  const Tensor x = wave({3, 5}), y = wave({3, 5}, 2), p = fractions({3, 5}), q = fractions({3, 5}, 2);
  reductions(out, "l1_loss", F::L1LossFuncOptions(), x, [&](auto t, auto o) { return F::l1_loss(t, y, o); });
  reductions(out, "mse_loss", F::MSELossFuncOptions(), x, [&](auto t, auto o) { return F::mse_loss(t, y, o); });
  reductions(out, "smooth_l1_loss", F::SmoothL1LossFuncOptions(), x, [&](auto t, auto o) {
    return F::smooth_l1_loss(t, y, o);
  });
  reductions(out, "smooth_l1_loss 0.6", F::SmoothL1LossFuncOptions().beta(0.6), x, [&](auto t, auto o) {
    return F::smooth_l1_loss(t, y, o);
  });
  reductions(out, "smooth_l1_loss argument", F::SmoothL1LossFuncOptions(), x, [&](auto t, auto o) {
    return F::smooth_l1_loss(t, y, o, 0.4);
  });
  reductions(out, "huber_loss", F::HuberLossFuncOptions().delta(0.7), x, [&](auto t, auto o) {
    return F::huber_loss(t, y, o);
  });
  reductions(out, "poisson_nll_loss", F::PoissonNLLLossFuncOptions(), x, [&](auto t, auto o) {
    return F::poisson_nll_loss(t, q * 5, o);
  });
  reductions(
      out, "poisson_nll_loss full", F::PoissonNLLLossFuncOptions().log_input(false).full(true).eps(1e-3), p,
      [&](auto t, auto o) { return F::poisson_nll_loss(t, q * 5, o); });
  reductions(out, "kl_div", F::KLDivFuncOptions(), p.log(), [&](auto t, auto o) { return F::kl_div(t, q, o); });
  reductions(out, "kl_div log_target", F::KLDivFuncOptions().log_target(true), p.log(), [&](auto t, auto o) {
    return F::kl_div(t, q.log(), o);
  });
  differentiable(
      out, "kl_div batchmean", [&](const Tensor& t) { return F::kl_div(t, q, torch::kBatchMean); }, p.log());
  out.push_back({"l1_loss short", F::l1_loss(x, y, torch::kSum)});
}

void classification(Cases& out) {
  const Tensor x = wave({4, 5}), p = fractions({4, 5}), q = fractions({4, 5}, 2), weight = fractions({5}, 1);
  const Tensor classes = indices({4}, 5);
  reductions(out, "binary_cross_entropy", F::BinaryCrossEntropyFuncOptions(), p, [&](auto t, auto o) {
    return F::binary_cross_entropy(t, q, o);
  });
  reductions(
      out, "binary_cross_entropy weight", F::BinaryCrossEntropyFuncOptions().weight(weight), p,
      [&](auto t, auto o) { return F::binary_cross_entropy(t, q, o); });
  reductions(
      out, "binary_cross_entropy_with_logits", F::BinaryCrossEntropyWithLogitsFuncOptions(), x,
      [&](auto t, auto o) { return F::binary_cross_entropy_with_logits(t, q, o); });
  reductions(
      out, "binary_cross_entropy_with_logits weights",
      F::BinaryCrossEntropyWithLogitsFuncOptions().weight(weight).pos_weight(weight + 1), x,
      [&](auto t, auto o) { return F::binary_cross_entropy_with_logits(t, q, o); });
  reductions(out, "nll_loss", F::NLLLossFuncOptions(), x, [&](auto t, auto o) { return F::nll_loss(t, classes, o); });
  reductions(out, "nll_loss weight", F::NLLLossFuncOptions().weight(weight).ignore_index(4), x, [&](auto t, auto o) {
    return F::nll_loss(t, classes, o);
  });
  reductions(out, "nll_loss 2d", F::NLLLossFuncOptions().weight(weight), wave({2, 5, 3, 2}), [&](auto t, auto o) {
    return F::nll_loss(t, indices({2, 3, 2}, 5), o);
  });
  reductions(out, "nll_loss 3d", F::NLLLossFuncOptions(), wave({2, 5, 3, 2, 2}), [&](auto t, auto o) {
    return F::nll_loss(t, indices({2, 3, 2, 2}, 5), o);
  });
  reductions(out, "cross_entropy", F::CrossEntropyFuncOptions(), x, [&](auto t, auto o) {
    return F::cross_entropy(t, classes, o);
  });
  reductions(
      out, "cross_entropy smooth", F::CrossEntropyFuncOptions().weight(weight).label_smoothing(0.2).ignore_index(1), x,
      [&](auto t, auto o) { return F::cross_entropy(t, classes, o); });
  reductions(
      out, "cross_entropy probabilities", F::CrossEntropyFuncOptions().label_smoothing(0.1), x,
      [&](auto t, auto o) { return F::cross_entropy(t, q, o); });
  reductions(out, "cross_entropy 2d", F::CrossEntropyFuncOptions(), wave({2, 5, 3, 2}), [&](auto t, auto o) {
    return F::cross_entropy(t, indices({2, 3, 2}, 5), o);
  });
  reductions(out, "multi_margin_loss", F::MultiMarginLossFuncOptions(), x, [&](auto t, auto o) {
    return F::multi_margin_loss(t, classes, o);
  });
  reductions(
      out, "multi_margin_loss 2", F::MultiMarginLossFuncOptions().p(2).margin(0.7).weight(weight), x,
      [&](auto t, auto o) { return F::multi_margin_loss(t, classes, o); });
  const Tensor labels =
      torch::tensor({3, 0, -1, 1, 4, 1, 2, -1, 0, 0, -1, 1, 1, 1, 1, 0, 2, 4, -1, 3}, torch::kLong).view({4, 5});
  reductions(out, "multilabel_margin_loss", F::MultilabelMarginLossFuncOptions(), x, [&](auto t, auto o) {
    return F::multilabel_margin_loss(t, labels, o);
  });
  const Tensor signs = torch::sign(wave({4, 5}, 3));
  reductions(out, "soft_margin_loss", F::SoftMarginLossFuncOptions(), x, [&](auto t, auto o) {
    return F::soft_margin_loss(t, signs, o);
  });
  reductions(out, "multilabel_soft_margin_loss", F::MultilabelSoftMarginLossFuncOptions(), x, [&](auto t, auto o) {
    return F::multilabel_soft_margin_loss(t, (signs + 1) / 2, o);
  });
  reductions(
      out, "multilabel_soft_margin_loss weight", F::MultilabelSoftMarginLossFuncOptions().weight(weight), x,
      [&](auto t, auto o) { return F::multilabel_soft_margin_loss(t, (signs + 1) / 2, o); });
  reductions(out, "hinge_embedding_loss", F::HingeEmbeddingLossFuncOptions().margin(2), x, [&](auto t, auto o) {
    return F::hinge_embedding_loss(t, signs, o);
  });
}

void metric(Cases& out) {
  const Tensor a = wave({4, 5}), b = wave({4, 5}, 2), c = wave({4, 5}, 4);
  const Tensor sign = torch::tensor({1, -1, -1, 1}, torch::kDouble);
  reductions(out, "cosine_embedding_loss", F::CosineEmbeddingLossFuncOptions().margin(0.2), a, [&](auto t, auto o) {
    return F::cosine_embedding_loss(t, b, sign, o);
  });
  reductions(out, "margin_ranking_loss", F::MarginRankingLossFuncOptions().margin(0.5), a, [&](auto t, auto o) {
    return F::margin_ranking_loss(t, b, torch::sign(c), o);
  });
  reductions(out, "triplet_margin_loss", F::TripletMarginLossFuncOptions(), a, [&](auto t, auto o) {
    return F::triplet_margin_loss(t, b, c, o);
  });
  reductions(
      out, "triplet_margin_loss swap", F::TripletMarginLossFuncOptions().swap(true).p(3).margin(2).eps(1e-4), a,
      [&](auto t, auto o) { return F::triplet_margin_loss(t, b, c, o); });
  reductions(
      out, "triplet_margin_with_distance_loss", F::TripletMarginWithDistanceLossFuncOptions().margin(3), a,
      [&](auto t, auto o) { return F::triplet_margin_with_distance_loss(t, b, c, o); });
  const auto manhattan = [](const Tensor& s, const Tensor& t) { return (s - t).abs().sum(1); };
  reductions(
      out, "triplet_margin_with_distance_loss function",
      F::TripletMarginWithDistanceLossFuncOptions().distance_function(manhattan).swap(true).margin(4), a,
      [&](auto t, auto o) { return F::triplet_margin_with_distance_loss(t, b, c, o); });
  const Tensor log_probs = F::log_softmax(wave({9, 3, 5}), 2);
  const Tensor targets = torch::tensor({1, 2, 2, 3, 0, 0, 1, 1, 1}, torch::kLong).view({3, 3});
  const Tensor frames = torch::tensor({9, 7, 2}, torch::kLong), lengths = torch::tensor({3, 2, 3}, torch::kLong);
  reductions(out, "ctc_loss", F::CTCLossFuncOptions().blank(4).zero_infinity(true), log_probs, [&](auto t, auto o) {
    return F::ctc_loss(t, targets, frames, lengths, o);
  });
}

} // namespace

Cases loss_cases() {
  Cases out;
  regression(out);
  classification(out);
  metric(out);
  return out;
}

} // namespace cases
