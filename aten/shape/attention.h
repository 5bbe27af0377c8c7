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

/// Query, key and value [batch, length, heads, size], or [rows of all sequences, heads, size] with the first rows of the sequences.
/// With block_table keys and values are pages, [pages, rows of a page, heads, size].
std::array<TensorSpec, 5> flash_attention_forward(const char* op, const TensorBase& query, const TensorBase& key, const TensorBase& value, const std::optional<Tensor>& cum_seq_q, const std::optional<Tensor>& cum_seq_k, int64_t max_q, int64_t max_k, double dropout_p, bool is_causal, bool return_debug_mask, std::optional<double> scale, std::optional<int64_t> window_size_left, std::optional<int64_t> window_size_right, const std::optional<Tensor>& seqused_k, const std::optional<Tensor>& alibi_slopes, const std::optional<Tensor>& block_table, std::optional<int64_t> num_splits);
std::array<TensorSpec, 3> flash_attention_of_sequences_backward(const char* op, const TensorBase& grad_out, const TensorBase& query, const TensorBase& key, const TensorBase& value, const TensorBase& out, const TensorBase& logsumexp, const TensorBase& cum_seq_q, const TensorBase& cum_seq_k, int64_t max_q, int64_t max_k, double dropout_p, bool is_causal, const TensorBase& rng_state, const TensorBase& unused, std::optional<double> scale, std::optional<int64_t> window_size_left, std::optional<int64_t> window_size_right);

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
