// Connectionist temporal classification by dynamic programming over the labels with blanks between them.
// Graves, Fernández, Gomez, Schmidhuber: Connectionist Temporal Classification, 2006.

#include <aten/core/Tensor.h>
#include <aten/core/TensorSpec.h>
#include <aten/core/dtype_dispatch.h>
#include <aten/native/support/ctc_labels.h>
#include <aten/parallel/Parallel.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <vector>

namespace at::native {
namespace {

/// Logarithm of the sum of exponentials; minus infinity stands for zero.
template <class T>
T log_sum(T a, T b, T c = -std::numeric_limits<T>::infinity()) {
  const T top = std::max({a, b, c});
  if (top == -std::numeric_limits<T>::infinity()) {
    return top;
  }
  return std::log(std::exp(a - top) + std::exp(b - top) + std::exp(c - top)) + top;
}

/// One batch of label sequences, checked, with the blank between all labels.
struct Labels : CtcLabels {
  int64_t steps, batch, classes, blank;
  IntArrayRef input_lengths, target_lengths;

  Labels(const Tensor& log_probs, const Tensor& targets, IntArrayRef inputs, IntArrayRef lengths, int64_t blank_label)
      : CtcLabels(checked_ctc_labels(log_probs, targets, inputs, lengths, blank_label, "ctc_loss_cpu")),
        steps(log_probs.size(0)),
        batch(log_probs.size(1)),
        classes(log_probs.size(2)),
        blank(blank_label),
        input_lengths(inputs),
        target_lengths(lengths) {}

  /// Label s of sequence b, where every other one is the blank.
  int64_t at(int64_t b, int64_t s) const {
    return s % 2 == 0 ? blank : labels[begin[b] + s / 2];
  }
  /// Whether a step may lead from label s - 2 to label s: not over a blank that keeps equal labels apart.
  bool may_skip(int64_t b, int64_t s) const {
    return s % 2 == 1 && s >= 3 && at(b, s) != at(b, s - 2);
  }
  int64_t width() const {
    return 2 * longest + 1;
  }
};

/// Forward variables of one sequence, [steps][width]; returns the loss.
template <class T>
T forward(const Labels& l, int64_t b, const T* probs, T* alpha) {
  constexpr T kZero = -std::numeric_limits<T>::infinity();
  const int64_t steps = l.input_lengths[b], labels = 2 * l.target_lengths[b] + 1, width = l.width();
  const auto prob = [&](int64_t t, int64_t s) { return probs[(t * l.batch + b) * l.classes + l.at(b, s)]; };
  std::fill(alpha, alpha + l.steps * width, kZero);
  if (steps == 0) {
    return labels == 1 ? T(0) : std::numeric_limits<T>::infinity();
  }
  alpha[0] = prob(0, 0);
  if (labels > 1) {
    alpha[1] = prob(0, 1);
  }
  for (int64_t t = 1; t < steps; ++t) {
    const T* before = alpha + (t - 1) * width;
    T* now = alpha + t * width;
    for (int64_t s = 0; s < labels; ++s) {
      now[s] = log_sum(before[s], s > 0 ? before[s - 1] : kZero, l.may_skip(b, s) ? before[s - 2] : kZero) + prob(t, s);
    }
  }
  const T* last = alpha + (steps - 1) * width;
  return -log_sum(last[labels - 1], labels > 1 ? last[labels - 2] : kZero);
}

/// The gradient for one sequence as of log_probs that come from a log_softmax.
template <class T>
void backward(const Labels& l, int64_t b, const T* probs, const T* alpha, T loss, T grad, T* result) {
  constexpr T kZero = -std::numeric_limits<T>::infinity();
  const int64_t steps = l.input_lengths[b], labels = 2 * l.target_lengths[b] + 1, width = l.width();
  const auto at = [&](int64_t t, int64_t c) { return (t * l.batch + b) * l.classes + c; };
  for (int64_t t = 0; t < l.steps; ++t) {
    std::fill(result + at(t, 0), result + at(t, l.classes), t < steps ? kZero : T(0));
  }
  std::vector<T> after(width + 2, kZero), now(width + 2, kZero);
  for (int64_t t = steps - 1; t >= 0; --t) {
    for (int64_t s = 0; s < labels; ++s) {
      const T prob = probs[at(t, l.at(b, s))];
      if (t == steps - 1) {
        now[s] = s >= labels - 2 ? prob : kZero;
      } else {
        now[s] = log_sum(
                     after[s], s + 1 < labels ? after[s + 1] : kZero,
                     s + 2 < labels && l.may_skip(b, s + 2) ? after[s + 2] : kZero) +
            prob;
      }
      T& sum = result[at(t, l.at(b, s))];
      sum = log_sum(sum, alpha[t * width + s] + now[s]);
    }
    std::swap(after, now);
  }
  for (int64_t t = 0; t < steps; ++t) {
    for (int64_t c = 0; c < l.classes; ++c) {
      const T prob = probs[at(t, c)];
      T& slope = result[at(t, c)];
      slope = (std::exp(prob) - std::exp(slope + loss - prob)) * grad;
    }
  }
}

constexpr auto kCtcDtypes = kFloatDouble;

} // namespace

std::tuple<Tensor, Tensor> _ctc_loss(
    const Tensor& log_probs,
    const Tensor& targets,
    IntArrayRef input_lengths,
    IntArrayRef target_lengths,
    int64_t blank,
    bool) {
  const Labels labels(log_probs, targets, input_lengths, target_lengths, blank);
  const Tensor probs = log_probs.contiguous();
  const Tensor loss = at::empty_spec(TensorSpec::like(probs, {labels.batch}));
  const Tensor log_alpha = at::empty_spec(TensorSpec::like(probs, {labels.batch, labels.steps, labels.width()}));
  dispatch("ctc_loss_cpu", probs.scalar_type(), kCtcDtypes, [&]<class T> {
    at::parallel_for(0, labels.batch, 1, [&](int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b) {
        loss.mutable_data_ptr<T>()[b] = forward(
            labels, b, probs.const_data_ptr<T>(), log_alpha.mutable_data_ptr<T>() + b * labels.steps * labels.width());
      }
    });
  });
  return {loss, log_alpha};
}

Tensor _ctc_loss_backward(
    const Tensor& grad,
    const Tensor& log_probs,
    const Tensor& targets,
    IntArrayRef input_lengths,
    IntArrayRef target_lengths,
    const Tensor& neg_log_likelihood,
    const Tensor& log_alpha,
    int64_t blank,
    bool zero_infinity) {
  const Labels labels(log_probs, targets, input_lengths, target_lengths, blank);
  const auto dtype = log_probs.scalar_type();
  TORCH_CHECK(
      grad.numel() == labels.batch && neg_log_likelihood.numel() == labels.batch && grad.scalar_type() == dtype &&
          neg_log_likelihood.scalar_type() == dtype,
      "_ctc_loss_backward: grad and neg_log_likelihood must have one element of ", dtype, " for each of ", labels.batch,
      " sequences; got ", grad.sizes(), " of ", grad.scalar_type(), " and ", neg_log_likelihood.sizes(), " of ",
      neg_log_likelihood.scalar_type());
  TORCH_CHECK(
      log_alpha.numel() == labels.batch * labels.steps * labels.width() && log_alpha.scalar_type() == dtype,
      "_ctc_loss_backward: log_alpha must be that of _ctc_loss; got ", log_alpha.sizes(), " of ",
      log_alpha.scalar_type());
  const Tensor probs = log_probs.contiguous(), alpha = log_alpha.contiguous(), losses = neg_log_likelihood.contiguous(),
               grads = grad.contiguous();
  const Tensor result = at::empty_spec(TensorSpec::like(probs, probs.sizes()));
  dispatch("ctc_loss_backward_cpu", dtype, kCtcDtypes, [&]<class T> {
    at::parallel_for(0, labels.batch, 1, [&](int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b) {
        const T loss = losses.const_data_ptr<T>()[b];
        T* to = result.mutable_data_ptr<T>();
        if (zero_infinity && loss == std::numeric_limits<T>::infinity()) {
          for (int64_t t = 0; t < labels.steps; ++t) {
            std::fill_n(to + (t * labels.batch + b) * labels.classes, labels.classes, T(0));
          }
          continue;
        }
        backward(
            labels, b, probs.const_data_ptr<T>(), alpha.const_data_ptr<T>() + b * labels.steps * labels.width(), loss,
            grads.const_data_ptr<T>()[b], to);
      }
    });
  });
  return result;
}

} // namespace at::native
