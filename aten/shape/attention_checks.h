// Checks for kernels of attention that make their results themselves.
#pragma once

#include <aten/core/TensorSpec.h>

#include <array>
#include <cstdint>
#include <optional>

namespace at {
class Tensor;
}

namespace at::shape {

/// For kernels that make their results themselves.
TORCH_API void check_efficient_attention_backward(
    const char* op,
    const TensorBase& grad_out,
    const TensorBase& query,
    const TensorBase& key,
    const TensorBase& value,
    const Tensor& attn_bias,
    const TensorBase& out,
    const TensorBase& logsumexp,
    double dropout_p,
    std::array<bool, 4> grad_input_mask,
    bool is_causal);

/// What at::_efficient_attention_forward takes, all but the numbers that say how it works.
struct EfficientAttention {
  const TensorBase &query, &key, &value;
  const std::optional<Tensor>&bias, &cu_seqlens_q, &cu_seqlens_k;
  std::optional<int64_t> max_seqlen_q, max_seqlen_k;
  double dropout_p;
  int64_t custom_mask_type; // 0: none, 1: causal from the first query and key on, 2: causal up to the last ones
  const std::optional<Tensor>& seqlen_k;
  std::optional<int64_t> window_size;
};
TORCH_API void check_efficient_attention_of_sequences(const char* op, const EfficientAttention& a);

} // namespace at::shape
