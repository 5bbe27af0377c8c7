#include <autograd/formulas/attention.h>

#include <aten/Functions.h>
#include <aten/TensorOperators.h>
#include <aten/ops/_scaled_dot_product_efficient_attention_backward.h>
#include <autograd/grad_mode.h>

#include <cmath>
#include <limits>

namespace torch::autograd::formulas {

using at::Tensor;

namespace {

/// The weights of the values, by operators.
Tensor attention_weights(const Tensor& query, const Tensor& key, bool is_causal, const Tensor& attn_mask, double factor) {
  constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();
  Tensor scores = query.matmul(key.transpose(-2, -1)) * factor;
  Tensor kept = attn_mask;
  if (is_causal) kept = at::ones({query.size(-2), key.size(-2)}, query.options().dtype(at::kBool)).tril();
  if (!kept.defined()) return at::softmax(scores, -1);
  scores = kept.scalar_type() == at::kBool ? scores.masked_fill(kept.logical_not(), kMinusInfinity) : scores + kept;
  const Tensor blind = (scores == kMinusInfinity).all(-1, /*keepdim=*/true);
  return at::softmax(scores, -1).masked_fill(blind, 0).to(query.scalar_type());
}

} // namespace

std::tuple<Tensor, Tensor, Tensor> flash_attention_backward(
    const Tensor& grad, const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& output, const Tensor& logsumexp,
    double dropout_p, bool is_causal, const Tensor& attn_mask, std::optional<double> scale) {
  if (!at::GradMode::is_enabled()) {
    return at::_scaled_dot_product_flash_attention_for_cpu_backward(
        grad, query, key, value, output, logsumexp, dropout_p, is_causal, attn_mask, scale);
  }
  const double factor = scale.value_or(1 / std::sqrt(static_cast<double>(query.size(-1))));
  const int64_t group = query.size(1) / key.size(1);
  const auto repeated = [&](const Tensor& t) { return group == 1 ? t : t.repeat_interleave(group, 1); };
  // Heads that share a key add their gradients.
  const auto shared = [&](const Tensor& t) {
    return group == 1 ? t : t.reshape({t.size(0), t.size(1) / group, group, t.size(2), t.size(3)}).sum({2});
  };
  const Tensor keys = repeated(key), values = repeated(value);
  const Tensor weights = attention_weights(query, keys, is_causal, attn_mask, factor);
  const Tensor slopes = grad.matmul(values.transpose(-2, -1));
  const Tensor for_scores = weights * (slopes - (slopes * weights).sum({-1}, true)) * factor;
  return {for_scores.matmul(keys), shared(for_scores.transpose(-2, -1).matmul(query)), shared(weights.transpose(-2, -1).matmul(grad))};
}

std::tuple<Tensor, Tensor, Tensor> efficient_attention_backward(
    const Tensor& grad, const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& attn_bias, const Tensor& output,
    const Tensor& log_sumexp, const Tensor& philox_seed, const Tensor& philox_offset, double dropout_p, bool is_causal,
    std::optional<double> scale) {
  if (at::GradMode::is_enabled()) {
    TORCH_CHECK(
        dropout_p == 0,
        "scaled_dot_product_attention: the gradient of attention with dropout cannot be differentiated again; do it without "
        "create_graph, or call at::_scaled_dot_product_attention_math");
    return flash_attention_backward(grad, query, key, value, output, log_sumexp, 0, is_causal, attn_bias, scale);
  }
  auto [grad_query, grad_key, grad_value, unused] = at::_scaled_dot_product_efficient_attention_backward(
      grad, query, key, value, attn_bias, output, log_sumexp, philox_seed, philox_offset, dropout_p, {true, true, true, false}, is_causal,
      scale);
  return {grad_query, grad_key, grad_value};
}

} // namespace torch::autograd::formulas
