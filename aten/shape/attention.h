// Shape functions of attention in blocks.
#pragma once

#include <aten/core/TensorSpec.h>

#include <array>
#include <optional>

namespace at {
class Tensor;
}

namespace at::shape {

std::array<TensorSpec, 2> flash_attention(const char* op, const TensorBase& query, const TensorBase& key, const TensorBase& value, double dropout_p, bool is_causal, const std::optional<Tensor>& attn_mask, std::optional<double> scale);
std::array<TensorSpec, 4> efficient_attention(const char* op, const TensorBase& query, const TensorBase& key, const TensorBase& value, const std::optional<Tensor>& attn_bias, bool compute_log_sumexp, double dropout_p, bool is_causal, std::optional<double> scale);
/// For kernels that make their results themselves.
TORCH_API void check_efficient_attention_backward(const char* op, const TensorBase& grad_out, const TensorBase& query, const TensorBase& key, const TensorBase& value, const Tensor& attn_bias, const TensorBase& out, const TensorBase& logsumexp, double dropout_p, std::array<bool, 4> grad_input_mask, bool is_causal);
std::array<TensorSpec, 3> flash_attention_backward(const char* op, const TensorBase& grad_out, const TensorBase& query, const TensorBase& key, const TensorBase& value, const TensorBase& out, const TensorBase& logsumexp, double dropout_p, bool is_causal, const std::optional<Tensor>& attn_mask, std::optional<double> scale);

} // namespace at::shape
