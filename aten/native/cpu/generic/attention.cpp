// _scaled_dot_product_efficient_attention on the CPU: the same kernel as _scaled_dot_product_flash_attention_for_cpu.
#include <aten/Functions.h>
#include <aten/core/Tensor.h>
#include <aten/core/TensorOperators.h>
#include <aten/iterator/ExpandUtils.h>
#include <aten/shape/attention_checks.h>

#include <array>
#include <cmath>
#include <limits>
#include <tuple>

namespace at::native {

namespace {

/// Of the bias that is added to the scores, by operators on whole matrices.
Tensor attention_bias_gradient(
    const Tensor& grad_out,
    const Tensor& query,
    const Tensor& key,
    const Tensor& value,
    const Tensor& bias,
    const Tensor& out,
    const Tensor& logsumexp,
    std::optional<double> scale) {
  const double factor = scale.value_or(1 / std::sqrt(static_cast<double>(query.size(3))));
  const int64_t group = query.size(1) / key.size(1);
  const auto wide = [&](const Tensor& t) { return t.to(logsumexp.scalar_type()); };
  const auto repeated = [&](const Tensor& t) { return wide(group == 1 ? t : t.repeat_interleave(group, 1)); };
  const Tensor scores = wide(query).matmul(repeated(key).transpose(2, 3)) * factor + wide(bias);
  const Tensor weights =
      (scores - logsumexp.unsqueeze(3)).exp().masked_fill(scores == -std::numeric_limits<double>::infinity(), 0);
  const Tensor of_scores = weights *
      (wide(grad_out).matmul(repeated(value).transpose(2, 3)) -
       (wide(grad_out) * wide(out)).sum({3}, /*keepdim=*/true));
  return at::sum_to(of_scores, bias.sizes()).to(bias.scalar_type());
}

} // namespace

void efficient_attention_kernel(
    const TensorBase& query,
    const TensorBase& key,
    const TensorBase& value,
    const std::optional<Tensor>& attn_bias,
    bool compute_log_sumexp,
    double,
    bool is_causal,
    std::optional<double> scale,
    const TensorBase& output,
    const TensorBase& log_sumexp,
    const TensorBase& philox_seed,
    const TensorBase& philox_offset) {
  const auto [out, sums] = at::_scaled_dot_product_flash_attention_for_cpu(
      Tensor(query), Tensor(key), Tensor(value), 0.0, is_causal, attn_bias, scale);
  Tensor(output).copy_(out);
  if (compute_log_sumexp) {
    Tensor(log_sumexp).copy_(sums);
  }
  Tensor(philox_seed).zero_();
  Tensor(philox_offset).zero_();
}

std::tuple<Tensor, Tensor, Tensor, Tensor> efficient_attention_backward_cpu(
    const Tensor& grad_out,
    const Tensor& query,
    const Tensor& key,
    const Tensor& value,
    const Tensor& attn_bias,
    const Tensor& out,
    const Tensor& logsumexp,
    const Tensor&,
    const Tensor&,
    double dropout_p,
    std::array<bool, 4> grad_input_mask,
    bool is_causal,
    std::optional<double> scale) {
  at::shape::check_efficient_attention_backward(
      "_scaled_dot_product_efficient_attention_backward", grad_out, query, key, value, attn_bias, out, logsumexp,
      dropout_p, grad_input_mask, is_causal);
  const std::optional<Tensor> bias = attn_bias.defined() ? std::optional(attn_bias) : std::nullopt;
  auto [grad_query, grad_key, grad_value] = at::_scaled_dot_product_flash_attention_for_cpu_backward(
      grad_out, query, key, value, out, logsumexp, 0.0, is_causal, bias, scale);
  return {
      grad_query, grad_key, grad_value,
      grad_input_mask[3] && bias.has_value()
          ? attention_bias_gradient(grad_out, query, key, value, attn_bias, out, logsumexp, scale)
          : Tensor()};
}

} // namespace at::native
