// Derivative of attention in blocks.
#pragma once

#include <aten/core/Tensor.h>

#include <array>
#include <optional>
#include <tuple>

namespace torch::autograd::formulas {

/// For (query, key, value): by the kernel, or by operators when it may be differentiated again.
std::tuple<at::Tensor, at::Tensor, at::Tensor> flash_attention_backward(
    const at::Tensor& grad,
    const at::Tensor& query,
    const at::Tensor& key,
    const at::Tensor& value,
    const at::Tensor& output,
    const at::Tensor& logsumexp,
    double dropout_p,
    bool is_causal,
    const at::Tensor& attn_mask,
    std::optional<double> scale);

/// The same of attention with dropout, whose kernel drew numbers from that place of the sequence; for (query, key, value, attn_bias).
std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor> efficient_attention_backward(
    const at::Tensor& grad,
    const at::Tensor& query,
    const at::Tensor& key,
    const at::Tensor& value,
    const at::Tensor& attn_bias,
    const at::Tensor& output,
    const at::Tensor& log_sumexp,
    const at::Tensor& philox_seed,
    const at::Tensor& philox_offset,
    double dropout_p,
    bool is_causal,
    std::optional<double> scale,
    std::array<bool, 4> grad_input_mask);

/// Of _flash_attention_forward; it refuses what the kernel of the gradients does not take.
std::tuple<at::Tensor, at::Tensor, at::Tensor> flash_attention_of_sequences_backward(
    const at::Tensor& grad,
    const at::Tensor& query,
    const at::Tensor& key,
    const at::Tensor& value,
    const at::Tensor& output,
    const at::Tensor& logsumexp,
    const at::Tensor& cum_seq_q,
    const at::Tensor& cum_seq_k,
    int64_t max_q,
    int64_t max_k,
    double dropout_p,
    bool is_causal,
    const at::Tensor& rng_state,
    const at::Tensor& unused,
    std::optional<double> scale,
    std::optional<int64_t> window_size_left,
    std::optional<int64_t> window_size_right,
    const at::Tensor& seqused_k,
    const at::Tensor& alibi_slopes);

/// Of _efficient_attention_forward, for (query, key, value, bias).
std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor> efficient_attention_of_sequences_backward(
    const at::Tensor& grad,
    const at::Tensor& query,
    const at::Tensor& key,
    const at::Tensor& value,
    const at::Tensor& bias,
    const at::Tensor& output,
    const at::Tensor& cu_seqlens_q,
    const at::Tensor& cu_seqlens_k,
    std::optional<int64_t> max_seqlen_q,
    std::optional<int64_t> max_seqlen_k,
    const at::Tensor& logsumexp,
    double dropout_p,
    const at::Tensor& philox_seed,
    const at::Tensor& philox_offset,
    int64_t custom_mask_type,
    std::optional<double> scale,
    const at::Tensor& seqlen_k,
    std::optional<int64_t> window_size,
    std::array<bool, 4> grad_input_mask);

} // namespace torch::autograd::formulas
