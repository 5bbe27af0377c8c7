// Activations, softmax and attention. Functions with an `inplace` option then write to their input and return it.
#pragma once

#include <csrc/nn/options/activation.h>
#include <csrc/types.h>

#include <optional>
#include <tuple>

namespace torch::nn::functional {

/// x where x > 0, else alpha * (exp(x) - 1) (Clevert et al., 2015). Throws for integers.
TORCH_API Tensor elu(Tensor input, const ELUFuncOptions& options = {});
/// scale * (x where x > 0, else alpha * (exp(x) - 1)) with the constants of self-normalizing networks, about 1.0507 and
/// 1.6733 (Klambauer et al., 2017).
TORCH_API Tensor selu(Tensor input, const SELUFuncOptions& options = {});
/// max(0, x) + min(0, alpha * (exp(x / alpha) - 1)) (Barron, 2017). Throws if alpha is 0.
TORCH_API Tensor celu(Tensor input, const CELUFuncOptions& options = {});
/// x limited to [min_val, max_val]. Throws for bool tensors.
TORCH_API Tensor hardtanh(Tensor input, const HardtanhFuncOptions& options = {});
/// x where |x| > lambda, else 0.
TORCH_API Tensor hardshrink(const Tensor& input, const HardshrinkFuncOptions& options = {});
/// x - lambda where x > lambda, x + lambda where x < -lambda, else 0. Throws if lambda is negative.
TORCH_API Tensor softshrink(const Tensor& input, const SoftshrinkFuncOptions& options = {});
/// x - tanh(x).
TORCH_API Tensor tanhshrink(const Tensor& input);
/// max(0, x). Throws for complex and bool tensors.
TORCH_API Tensor relu(Tensor input, const ReLUFuncOptions& options = {});
/// min(max(0, x), 6) (Krizhevsky, 2010).
TORCH_API Tensor relu6(Tensor input, const ReLU6FuncOptions& options = {});
/// x where x > 0, else negative_slope * x.
TORCH_API Tensor leaky_relu(Tensor input, const LeakyReLUFuncOptions& options = {});
/// x where x >= 0, else a * x: in training a is drawn for each element from the uniform distribution over [lower,
/// upper), otherwise it is their mean (Xu et al., 2015). Throws if lower > upper.
TORCH_API Tensor rrelu(Tensor input, const RReLUFuncOptions& options = {});
/// x where x > 0, else weight * x (He et al., 2015). `weight` has one element or one for each channel, dimension 1 of
/// `input`; throws for any other count.
TORCH_API Tensor prelu(const Tensor& input, const Tensor& weight);
/// x where x > threshold, else value.
TORCH_API Tensor threshold(Tensor input, const ThresholdFuncOptions& options);
/// x * Phi(x), Phi being the distribution function of the standard normal distribution (Hendrycks and Gimpel, 2016).
/// Throws unless `approximate` is "none" or "tanh".
TORCH_API Tensor gelu(const Tensor& input, const GELUFuncOptions& options = {});
/// x * sigmoid(x), also known as swish.
TORCH_API Tensor silu(const Tensor& input);
/// x * tanh(log(1 + exp(x))) (Misra, 2019).
TORCH_API Tensor mish(const Tensor& input);
/// a * sigmoid(b), where a and b are the halves of `input` along dim (Dauphin et al., 2016): the result has half the
/// size there. Throws for an odd size and for 0-dim tensors.
TORCH_API Tensor glu(const Tensor& input, const GLUFuncOptions& options = {});
/// log(1 / (1 + exp(-x))), computed without overflow.
TORCH_API Tensor logsigmoid(const Tensor& input);
/// log(1 + exp(beta * x)) / beta, and x itself where beta * x > threshold.
TORCH_API Tensor softplus(const Tensor& input, const SoftplusFuncOptions& options = {});
/// x / (1 + |x|).
TORCH_API Tensor softsign(const Tensor& input);

/// exp(x) / sum of exp(x) over `dim`. `input` is converted to `dtype` first, if given. Throws IndexError if the tensor
/// has no such dimension.
TORCH_API Tensor softmax(const Tensor& input, const SoftmaxFuncOptions& options);
/// softmax(-input): small values get large probabilities.
TORCH_API Tensor softmin(const Tensor& input, const SoftminFuncOptions& options);
/// log(softmax(input)), computed without overflow. Arguments and errors are those of softmax.
TORCH_API Tensor log_softmax(const Tensor& input, const LogSoftmaxFuncOptions& options);
/// Samples of the Gumbel-softmax distribution with these unnormalized log probabilities (Jang et al., 2016).
TORCH_API Tensor gumbel_softmax(const Tensor& logits, const GumbelSoftmaxFuncOptions& options = {});

/// Attention with several heads (Vaswani et al., 2017) over `query` [T, N, E], `key` and `value` [S, N, features], and
/// the weights of attention, [N, T, S] or with `average_attn_weights` off [N, heads, T, S], undefined unless
/// `need_weights`. Without weights the fused kernel runs, which never holds the matrix of scores.
///
/// `in_proj_weight` [3E, E] projects all three, or with `use_separate_proj_weight` the three others do. `bias_k` and
/// `bias_v` [1, 1, E] and, with `add_zero_attn`, a row of zeros are appended to keys and values. `attn_mask` is [T, S]
/// or [N * heads, T, S], `key_padding_mask` [N, S]. Masks of bool are true where attention is forbidden, others are
/// added to the scores. `static_k` and `static_v` [N * heads, S, E / heads] replace the projected keys and values.
TORCH_API std::tuple<Tensor, Tensor> multi_head_attention_forward(
    const Tensor& query, const Tensor& key, const Tensor& value, const MultiheadAttentionForwardFuncOptions& options);

/// softmax(query key^T scale + mask) value, as PyTorch's Python side has it. `scale` is 1 / sqrt(features) unless
/// given. Masks of bool are true where attention is allowed.
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
