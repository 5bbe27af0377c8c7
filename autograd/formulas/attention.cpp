// Derivative of attention in blocks.
#include <aten/Functions.h>
#include <aten/core/TensorOperators.h>
#include <aten/iterator/ExpandUtils.h>
#include <aten/ops/_efficient_attention_backward.h>
#include <aten/ops/_flash_attention_backward.h>
#include <aten/ops/_scaled_dot_product_efficient_attention_backward.h>
#include <autograd/formulas/shared.h>
#include <autograd/grad_mode.h>

#include <cmath>
#include <limits>

namespace torch::autograd::formulas {

namespace {

/// The weights of the values, by operators.
Tensor attention_weights(
    const Tensor& query, const Tensor& key, bool is_causal, const Tensor& attn_mask, double factor) {
  constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();
  Tensor scores = query.matmul(key.transpose(-2, -1)) * factor;
  Tensor kept = attn_mask;
  if (is_causal) {
    kept = at::ones({query.size(-2), key.size(-2)}, query.options().dtype(at::kBool)).tril();
  }
  if (!kept.defined()) {
    return at::softmax(scores, -1);
  }
  scores = kept.scalar_type() == at::kBool ? scores.masked_fill(kept.logical_not(), kMinusInfinity) : scores + kept;
  const Tensor blind = (scores == kMinusInfinity).all(-1, /*keepdim=*/true);
  return at::softmax(scores, -1).masked_fill(blind, 0).to(query.scalar_type());
}

/// Gradients for (query, key, value, attn_mask) by operators, which may be differentiated again. That of the mask is
/// undefined where it cannot have one.
std::tuple<Tensor, Tensor, Tensor, Tensor> attention_backward_by_operators(
    const Tensor& grad,
    const Tensor& query,
    const Tensor& key,
    const Tensor& value,
    bool is_causal,
    const Tensor& attn_mask,
    std::optional<double> scale) {
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
  const Tensor of_scores = weights * (slopes - (slopes * weights).sum({-1}, true)), scaled = of_scores * factor;
  const bool adds = attn_mask.defined() && attn_mask.is_floating_point();
  return {
      scaled.matmul(keys), shared(scaled.transpose(-2, -1).matmul(query)),
      shared(weights.transpose(-2, -1).matmul(grad)),
      adds ? at::sum_to(of_scores, attn_mask.sizes()).to(attn_mask.scalar_type()) : Tensor()};
}

} // namespace

/// For (query, key, value): by the kernel, or by operators when it may be differentiated again.
std::tuple<Tensor, Tensor, Tensor> flash_attention_backward(
    const Tensor& grad,
    const Tensor& query,
    const Tensor& key,
    const Tensor& value,
    const Tensor& output,
    const Tensor& logsumexp,
    double dropout_p,
    bool is_causal,
    const Tensor& attn_mask,
    std::optional<double> scale) {
  if (!is_differentiated_again(grad, query, key, value, attn_mask)) {
    return at::_scaled_dot_product_flash_attention_for_cpu_backward(
        grad, query, key, value, output, logsumexp, dropout_p, is_causal, attn_mask, scale);
  }
  auto [grad_query, grad_key, grad_value, unused] =
      attention_backward_by_operators(grad, query, key, value, is_causal, attn_mask, scale);
  return {grad_query, grad_key, grad_value};
}

/// In forward mode, of the output, by operators.
Tensor attention_tangent(
    const Tensor& query,
    const Tensor& query_t,
    const Tensor& key,
    const Tensor& key_t,
    const Tensor& value,
    const Tensor& value_t,
    const Tensor& output,
    double dropout_p,
    bool is_causal,
    const std::optional<Tensor>& attn_mask,
    const Tensor& attn_mask_t,
    std::optional<double> scale) {
  TORCH_CHECK_NOT_IMPLEMENTED(
      dropout_p == 0,
      "scaled_dot_product_attention: attention with dropout has no derivative in forward mode; call "
      "at::_scaled_dot_product_attention_math");
  const double factor = scale.value_or(1 / std::sqrt(static_cast<double>(query.size(-1))));
  const int64_t group = query.size(1) / key.size(1);
  const auto repeated = [&](const Tensor& t) { return group == 1 || !t.defined() ? t : t.repeat_interleave(group, 1); };
  const Tensor keys = repeated(key), values = repeated(value), keys_t = repeated(key_t), values_t = repeated(value_t);
  const Tensor weights = attention_weights(query, keys, is_causal, attn_mask.value_or(Tensor()), factor);
  // Of scores s and weights w = softmax(s): dw = w ds - w sum(w ds), and w @ values is the output.
  Tensor scores_t = sum_of(
      query_t.defined() ? (query_t * factor).matmul(keys.transpose(-2, -1)) : query_t,
      keys_t.defined() ? (query * factor).matmul(keys_t.transpose(-2, -1)) : keys_t);
  scores_t = sum_of(scores_t, attn_mask_t);
  Tensor tangent = values_t.defined() ? weights.matmul(values_t) : values_t;
  if (scores_t.defined()) {
    const Tensor product = weights * scores_t;
    tangent = sum_of(product.matmul(values) - product.sum({-1}, /*keepdim=*/true) * output, tangent);
  }
  return tangent;
}

/// Gradients of attention with dropout, whose kernel drew numbers from that place of the sequence; for (query, key,
/// value, attn_bias).
std::tuple<Tensor, Tensor, Tensor, Tensor> efficient_attention_backward(
    const Tensor& grad,
    const Tensor& query,
    const Tensor& key,
    const Tensor& value,
    const Tensor& attn_bias,
    const Tensor& output,
    const Tensor& log_sumexp,
    const Tensor& philox_seed,
    const Tensor& philox_offset,
    double dropout_p,
    bool is_causal,
    std::optional<double> scale,
    std::array<bool, 4> grad_input_mask) {
  if (is_differentiated_again(grad, query, key, value, attn_bias)) {
    TORCH_CHECK(
        dropout_p == 0,
        "scaled_dot_product_attention: the gradient of attention with dropout cannot be differentiated again; do it "
        "without "
        "create_graph, or call at::_scaled_dot_product_attention_math");
    return attention_backward_by_operators(grad, query, key, value, is_causal, attn_bias, scale);
  }
  return at::_scaled_dot_product_efficient_attention_backward(
      grad, query, key, value, attn_bias, output, log_sumexp, philox_seed, philox_offset, dropout_p, grad_input_mask,
      is_causal, scale);
}

/// Of _flash_attention_forward; it refuses what the kernel of the gradients does not take.
std::tuple<Tensor, Tensor, Tensor> flash_attention_of_sequences_backward(
    const Tensor& grad,
    const Tensor& query,
    const Tensor& key,
    const Tensor& value,
    const Tensor& output,
    const Tensor& logsumexp,
    const Tensor& cum_seq_q,
    const Tensor& cum_seq_k,
    int64_t max_q,
    int64_t max_k,
    double dropout_p,
    bool is_causal,
    const Tensor& rng_state,
    const Tensor& unused,
    std::optional<double> scale,
    std::optional<int64_t> window_size_left,
    std::optional<int64_t> window_size_right,
    const Tensor& seqused_k,
    const Tensor& alibi_slopes) {
  TORCH_CHECK_NOT_IMPLEMENTED(
      !seqused_k.defined() && !alibi_slopes.defined(),
      "_flash_attention_forward: the gradient knows neither seqused_k, with or without block_table, nor alibi_slopes");
  return at::_flash_attention_backward(
      grad, query, key, value, output, logsumexp, cum_seq_q, cum_seq_k, max_q, max_k, dropout_p, is_causal, rng_state,
      unused, scale, window_size_left, window_size_right);
}

/// Of _efficient_attention_forward, for (query, key, value, bias).
std::tuple<Tensor, Tensor, Tensor, Tensor> efficient_attention_of_sequences_backward(
    const Tensor& grad,
    const Tensor& query,
    const Tensor& key,
    const Tensor& value,
    const Tensor& bias,
    const Tensor& output,
    const Tensor& cu_seqlens_q,
    const Tensor& cu_seqlens_k,
    std::optional<int64_t> max_seqlen_q,
    std::optional<int64_t> max_seqlen_k,
    const Tensor& logsumexp,
    double dropout_p,
    const Tensor& philox_seed,
    const Tensor& philox_offset,
    int64_t custom_mask_type,
    std::optional<double> scale,
    const Tensor& seqlen_k,
    std::optional<int64_t> window_size,
    std::array<bool, 4> grad_input_mask) {
  TORCH_CHECK_NOT_IMPLEMENTED(!seqlen_k.defined(), "_efficient_attention_forward: the gradient does not know seqlen_k");
  TORCH_CHECK(
      logsumexp.size(2) != 0 || query.size(1) == 0,
      "_efficient_attention_forward: its gradient needs the sums, which are kept with compute_log_sumexp");
  const auto given = [](const Tensor& t) { return t.defined() ? std::optional(t) : std::nullopt; };
  return at::_efficient_attention_backward(
      grad, query, key, value, given(bias), output, given(cu_seqlens_q), given(cu_seqlens_k),
      max_seqlen_q.value_or(query.size(1)), max_seqlen_k.value_or(key.size(1)), logsumexp, dropout_p, philox_seed,
      philox_offset, custom_mask_type,
      /*bias_requires_grad=*/grad_input_mask[3], scale, /*num_splits_key=*/std::nullopt, window_size,
      /*shared_storage_dqdkdv=*/false);
}

} // namespace torch::autograd::formulas
