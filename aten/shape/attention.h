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
std::array<TensorSpec, 3> flash_attention_backward(const char* op, const TensorBase& grad_out, const TensorBase& query, const TensorBase& key, const TensorBase& value, const TensorBase& out, const TensorBase& logsumexp, double dropout_p, bool is_causal, const std::optional<Tensor>& attn_mask, std::optional<double> scale);

} // namespace at::shape
