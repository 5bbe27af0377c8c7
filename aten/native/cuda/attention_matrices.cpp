#include <aten/native/cuda/attention_matrices.h>

#include <aten/Functions.h>
#include <aten/core/OpMathType.h>
#include <aten/core/TensorOperators.h>
#include <aten/native/cuda/copy.h>

#include <limits>

namespace at::native::cuda {

namespace {

/// The operands in the type of sums. Rows of all heads that share a key head follow each other, and are one matrix.
struct SharedHeads {
  explicit SharedHeads(const AttentionMatrices& p)
      : p(p),
        dtype(c10::toOpMathType(p.query.scalar_type())),
        query(rows(p.query)),
        key(p.key.to(dtype)),
        value(p.value.to(dtype)) {}

  Tensor rows(const Tensor& t) const {
    return t.to(dtype).reshape({t.size(0), p.key.size(1), t.size(1) / p.key.size(1) * t.size(2), t.size(3)});
  }
  /// As heads again.
  Tensor heads(const Tensor& t) const {
    return t.view({p.query.size(0), p.query.size(1), p.query.size(2), t.size(3)});
  }

  /// Scaled products, minus infinity where they do not count.
  Tensor scores() const {
    constexpr double kNothing = -std::numeric_limits<double>::infinity();
    Tensor s = heads(at::matmul(query * p.scale, key.transpose(-2, -1)));
    if (p.mask.defined()) {
      s = p.mask.scalar_type() == kBool ? s.masked_fill(p.mask.logical_not(), kNothing) : s + p.mask.to(dtype);
    }
    if (p.causal) {
      s = s.masked_fill(at::ones({s.size(2), s.size(3)}, s.options().dtype(kBool)).triu(1), kNothing);
    }
    return s;
  }

  const AttentionMatrices& p;
  c10::ScalarType dtype;
  Tensor query, key, value;
};

} // namespace

void attention_by_matrices(const AttentionMatrices& p, const Tensor& out, const Tensor& logsumexp) {
  const SharedHeads t(p);
  const Tensor scores = t.scores(), sums = at::logsumexp(scores, {-1}, /*keepdim=*/true);
  // Infinite where nothing counts: then all weights are zero.
  const Tensor total =
      sums.masked_fill(sums == -std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity());
  copy_on_device(out, t.heads(at::matmul(t.rows((scores - total).exp()), t.value)));
  if (logsumexp.numel() != 0) {
    copy_on_device(logsumexp, total.squeeze(-1));
  }
}

Tensor attention_by_matrices_backward(
    const AttentionMatrices& p,
    const Tensor& grad_out,
    const Tensor& out,
    const Tensor& logsumexp,
    const Tensor& grad_query,
    const Tensor& grad_key,
    const Tensor& grad_value) {
  const SharedHeads t(p);
  const Tensor weights = (t.scores() - logsumexp.to(t.dtype).unsqueeze(-1)).exp();
  const Tensor grad = t.rows(grad_out), of_weights = t.heads(at::matmul(grad, t.value.transpose(-2, -1)));
  const Tensor delta = (grad_out.to(t.dtype) * out.to(t.dtype)).sum(-1, /*keepdim=*/true);
  const Tensor of_scores = weights * (of_weights - delta), slopes = t.rows(of_scores * p.scale);
  copy_on_device(grad_query, t.heads(at::matmul(slopes, t.key)));
  copy_on_device(grad_key, at::matmul(slopes.transpose(-2, -1), t.query));
  copy_on_device(grad_value, at::matmul(t.rows(weights).transpose(-2, -1), grad));
  return of_scores;
}

} // namespace at::native::cuda
