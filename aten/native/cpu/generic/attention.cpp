// _scaled_dot_product_efficient_attention on the CPU: the same kernel as _scaled_dot_product_flash_attention_for_cpu.
#include <aten/Functions.h>
#include <aten/core/Tensor.h>
#include <aten/shape/attention.h>

#include <array>
#include <tuple>

namespace at::native {

void efficient_attention_kernel(const TensorBase& query, const TensorBase& key, const TensorBase& value, const std::optional<Tensor>& attn_bias, bool compute_log_sumexp, double, bool is_causal, std::optional<double> scale, const TensorBase& output, const TensorBase& log_sumexp, const TensorBase& philox_seed, const TensorBase& philox_offset) {
  const auto [out, sums] = at::_scaled_dot_product_flash_attention_for_cpu(
      Tensor(query), Tensor(key), Tensor(value), 0.0, is_causal, attn_bias, scale);
  Tensor(output).copy_(out);
  if (compute_log_sumexp) Tensor(log_sumexp).copy_(sums);
  Tensor(philox_seed).zero_();
  Tensor(philox_offset).zero_();
}

std::tuple<Tensor, Tensor, Tensor, Tensor> efficient_attention_backward_cpu(const Tensor& grad_out, const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& attn_bias, const Tensor& out, const Tensor& logsumexp, const Tensor&, const Tensor&, double dropout_p, std::array<bool, 4> grad_input_mask, bool is_causal, std::optional<double> scale) {
  at::shape::check_efficient_attention_backward(
      "_scaled_dot_product_efficient_attention_backward", grad_out, query, key, value, attn_bias, out, logsumexp, dropout_p,
      grad_input_mask, is_causal);
  const std::optional<Tensor> bias = attn_bias.defined() ? std::optional(attn_bias) : std::nullopt;
  auto [grad_query, grad_key, grad_value] = at::_scaled_dot_product_flash_attention_for_cpu_backward(
      grad_out, query, key, value, out, logsumexp, 0.0, is_causal, bias, scale);
  return {grad_query, grad_key, grad_value, Tensor()};
}

} // namespace at::native
