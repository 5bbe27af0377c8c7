// Derivative of attention in blocks.
#pragma once

#include <aten/core/Tensor.h>

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

/// The same of attention with dropout, whose kernel drew numbers from that place of the sequence.
std::tuple<at::Tensor, at::Tensor, at::Tensor> efficient_attention_backward(
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
    std::optional<double> scale);

} // namespace torch::autograd::formulas
