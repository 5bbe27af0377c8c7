// Activations, softmax and attention. Functions with an `inplace` option then write to their input and return it.
#pragma once

#include <csrc/nn/options/activation.h>
#include <csrc/types.h>

#include <optional>
#include <tuple>

namespace torch::nn::functional {

TORCH_API Tensor elu(Tensor input, const ELUFuncOptions& options = {});
TORCH_API Tensor selu(Tensor input, const SELUFuncOptions& options = {});
TORCH_API Tensor celu(Tensor input, const CELUFuncOptions& options = {});
TORCH_API Tensor hardtanh(Tensor input, const HardtanhFuncOptions& options = {});
TORCH_API Tensor hardshrink(const Tensor& input, const HardshrinkFuncOptions& options = {});
TORCH_API Tensor softshrink(const Tensor& input, const SoftshrinkFuncOptions& options = {});
TORCH_API Tensor tanhshrink(const Tensor& input);
TORCH_API Tensor relu(Tensor input, const ReLUFuncOptions& options = {});
TORCH_API Tensor relu6(Tensor input, const ReLU6FuncOptions& options = {});
TORCH_API Tensor leaky_relu(Tensor input, const LeakyReLUFuncOptions& options = {});
TORCH_API Tensor rrelu(Tensor input, const RReLUFuncOptions& options = {});
TORCH_API Tensor prelu(const Tensor& input, const Tensor& weight);
TORCH_API Tensor threshold(Tensor input, const ThresholdFuncOptions& options);
TORCH_API Tensor gelu(const Tensor& input, const GELUFuncOptions& options = {});
TORCH_API Tensor silu(const Tensor& input);
TORCH_API Tensor mish(const Tensor& input);
TORCH_API Tensor glu(const Tensor& input, const GLUFuncOptions& options = {});
TORCH_API Tensor logsigmoid(const Tensor& input);
TORCH_API Tensor softplus(const Tensor& input, const SoftplusFuncOptions& options = {});
TORCH_API Tensor softsign(const Tensor& input);

TORCH_API Tensor softmax(const Tensor& input, const SoftmaxFuncOptions& options);
/// softmax(-input).
TORCH_API Tensor softmin(const Tensor& input, const SoftminFuncOptions& options);
TORCH_API Tensor log_softmax(const Tensor& input, const LogSoftmaxFuncOptions& options);
/// Samples of the Gumbel-softmax distribution with these unnormalized log probabilities (Jang et al., 2016).
TORCH_API Tensor gumbel_softmax(const Tensor& logits, const GumbelSoftmaxFuncOptions& options = {});

/// Attention with several heads (Vaswani et al., 2017) over `query` [T, N, E], `key` and `value` [S, N, features], and the
/// weights of attention, [N, T, S] or with `average_attn_weights` off [N, heads, T, S], undefined unless `need_weights`.
/// Without weights the fused kernel runs, which never holds the matrix of scores.
///
/// `in_proj_weight` [3E, E] projects all three, or with `use_separate_proj_weight` the three others do. `bias_k` and
/// `bias_v` [1, 1, E] and, with `add_zero_attn`, a row of zeros are appended to keys and values. `attn_mask` is [T, S] or
/// [N * heads, T, S], `key_padding_mask` [N, S]. Masks of bool are true where attention is forbidden, others are added to
/// the scores. `static_k` and `static_v` [N * heads, S, E / heads] replace the projected keys and values.
TORCH_API std::tuple<Tensor, Tensor> multi_head_attention_forward(
    const Tensor& query,
    const Tensor& key,
    const Tensor& value,
    const MultiheadAttentionForwardFuncOptions& options);

/// softmax(query key^T scale + mask) value, as PyTorch's Python side has it. `scale` is 1 / sqrt(features) unless given.
/// Masks of bool are true where attention is allowed.
TORCH_API Tensor scaled_dot_product_attention(
    const Tensor& query,
    const Tensor& key,
    const Tensor& value,
    const std::optional<Tensor>& attn_mask = std::nullopt,
    double dropout_p = 0.0,
    bool is_causal = false,
    std::optional<double> scale = std::nullopt,
    bool enable_gqa = false);

} // namespace torch::nn::functional
