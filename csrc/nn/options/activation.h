// Options of activations and of multi-head attention.
#pragma once

#include <csrc/arg.h>
#include <csrc/nn/enum.h>
#include <csrc/types.h>

#include <cstdint>
#include <optional>
#include <string>

namespace torch::nn {

/// Options of ELU and F::elu.
struct TORCH_API ELUOptions {
  /// Scale of the negative part.
  TORCH_ARG(double, alpha) = 1.0;
  /// Writes the result to the input.
  TORCH_ARG(bool, inplace) = false;
};

/// Options of SELU and F::selu.
struct TORCH_API SELUOptions {
  SELUOptions(bool inplace = false);
  /// Writes the result to the input.
  TORCH_ARG(bool, inplace);
};

/// Options of GLU and F::glu.
struct TORCH_API GLUOptions {
  GLUOptions(int64_t dim = -1);
  /// The dimension that is cut in two halves.
  TORCH_ARG(int64_t, dim);
};

/// Options of GELU and F::gelu.
struct TORCH_API GELUOptions {
  /// "none" for the error function, "tanh" for 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))).
  TORCH_ARG(std::string, approximate) = "none";
};

/// Options of Hardshrink and F::hardshrink.
struct TORCH_API HardshrinkOptions {
  HardshrinkOptions(double lambda = 0.5);
  /// Values up to this magnitude become 0.
  TORCH_ARG(double, lambda);
};

/// Options of Hardtanh and F::hardtanh.
struct TORCH_API HardtanhOptions {
  /// The least value of the result.
  TORCH_ARG(double, min_val) = -1.0;
  /// The greatest value of the result.
  TORCH_ARG(double, max_val) = 1.0;
  /// Writes the result to the input.
  TORCH_ARG(bool, inplace) = false;
};

/// Options of LeakyReLU and F::leaky_relu.
struct TORCH_API LeakyReLUOptions {
  /// The slope for x < 0. In place it must not be negative, or backward throws.
  TORCH_ARG(double, negative_slope) = 1e-2;
  /// Writes the result to the input.
  TORCH_ARG(bool, inplace) = false;
};

/// Options of Softmax. The dimension has no default.
struct TORCH_API SoftmaxOptions {
  SoftmaxOptions(int64_t dim);
  /// The dimension whose slices sum to 1.
  TORCH_ARG(int64_t, dim);
};

/// Options of Softmin.
struct TORCH_API SoftminOptions {
  SoftminOptions(int64_t dim);
  /// The dimension whose slices sum to 1.
  TORCH_ARG(int64_t, dim);
};

/// Options of LogSoftmax.
struct TORCH_API LogSoftmaxOptions {
  LogSoftmaxOptions(int64_t dim);
  /// The dimension whose slices sum to 1.
  TORCH_ARG(int64_t, dim);
};

/// Options of PReLU.
struct TORCH_API PReLUOptions {
  /// Learned slopes: 1 or the number of channels.
  TORCH_ARG(int64_t, num_parameters) = 1;
  /// The first value of each slope.
  TORCH_ARG(double, init) = 0.25;
};

/// Options of ReLU and F::relu.
struct TORCH_API ReLUOptions {
  ReLUOptions(bool inplace = false);
  /// Writes the result to the input.
  TORCH_ARG(bool, inplace);
};

/// Options of ReLU6 and F::relu6.
struct TORCH_API ReLU6Options {
  ReLU6Options(bool inplace = false);
  /// Writes the result to the input.
  TORCH_ARG(bool, inplace);
};

/// Options of RReLU. In training the slope of x < 0 is drawn from [lower, upper), otherwise it is their mean. Throws if
/// lower > upper.
struct TORCH_API RReLUOptions {
  /// The least slope.
  TORCH_ARG(double, lower) = 1.0 / 8.0;
  /// The greatest slope.
  TORCH_ARG(double, upper) = 1.0 / 3.0;
  /// Writes the result to the input.
  TORCH_ARG(bool, inplace) = false;
};

/// Options of CELU and F::celu.
struct TORCH_API CELUOptions {
  /// Scale of the negative part and of its argument. Throws if 0.
  TORCH_ARG(double, alpha) = 1.0;
  /// Writes the result to the input.
  TORCH_ARG(bool, inplace) = false;
};

/// Options of Softplus and F::softplus.
struct TORCH_API SoftplusOptions {
  /// How sharp the bend is: the function tends to ReLU as it grows.
  TORCH_ARG(double, beta) = 1.0;
  /// Where beta * x exceeds it the function is the identity.
  TORCH_ARG(double, threshold) = 20.0;
};

/// Options of Softshrink and F::softshrink.
struct TORCH_API SoftshrinkOptions {
  SoftshrinkOptions(double lambda = 0.5);
  /// Values move by this much towards 0. Throws if negative.
  TORCH_ARG(double, lambda);
};

/// Options of Threshold and F::threshold.
struct TORCH_API ThresholdOptions {
  ThresholdOptions(double threshold, double value);
  /// Elements that are not above it are replaced.
  TORCH_ARG(double, threshold);
  /// What replaces them.
  TORCH_ARG(double, value);
  /// Writes the result to the input.
  TORCH_ARG(bool, inplace) = false;
};

/// Options of MultiheadAttention. Throws unless num_heads is positive and divides embed_dim.
struct TORCH_API MultiheadAttentionOptions {
  MultiheadAttentionOptions(int64_t embed_dim, int64_t num_heads);
  /// Features of queries and results, of all heads together.
  TORCH_ARG(int64_t, embed_dim);
  /// Heads; each has embed_dim / num_heads features.
  TORCH_ARG(int64_t, num_heads);
  /// Probability that a weight of attention is dropped, in training.
  TORCH_ARG(double, dropout) = 0.0;
  /// Whether the projections of inputs and result have biases.
  TORCH_ARG(bool, bias) = true;
  /// Appends a learned row to keys and values.
  TORCH_ARG(bool, add_bias_kv) = false;
  /// Appends a row of zeros to keys and values.
  TORCH_ARG(bool, add_zero_attn) = false;
  /// Features of keys; embed_dim unless given.
  TORCH_ARG(int64_t, kdim);
  /// Features of values; embed_dim unless given.
  TORCH_ARG(int64_t, vdim);
};

namespace functional {

using ELUFuncOptions = ELUOptions;
using SELUFuncOptions = SELUOptions;
using GLUFuncOptions = GLUOptions;
using GELUFuncOptions = GELUOptions;
using HardshrinkFuncOptions = HardshrinkOptions;
using HardtanhFuncOptions = HardtanhOptions;
using LeakyReLUFuncOptions = LeakyReLUOptions;
using ReLUFuncOptions = ReLUOptions;
using ReLU6FuncOptions = ReLU6Options;
using CELUFuncOptions = CELUOptions;
using SoftplusFuncOptions = SoftplusOptions;
using SoftshrinkFuncOptions = SoftshrinkOptions;
using ThresholdFuncOptions = ThresholdOptions;

/// Options of F::softmax.
struct TORCH_API SoftmaxFuncOptions {
  SoftmaxFuncOptions(int64_t dim);
  /// The dimension whose slices sum to 1.
  TORCH_ARG(int64_t, dim);
  /// What the input is converted to first, and the result's dtype; the input's if empty.
  TORCH_ARG(std::optional<torch::Dtype>, dtype) = std::nullopt;
};

/// Options of F::softmin.
struct TORCH_API SoftminFuncOptions {
  SoftminFuncOptions(int64_t dim);
  /// The dimension whose slices sum to 1.
  TORCH_ARG(int64_t, dim);
  /// What the input is converted to first, and the result's dtype; the input's if empty.
  TORCH_ARG(std::optional<torch::Dtype>, dtype) = std::nullopt;
};

/// Options of F::log_softmax.
struct TORCH_API LogSoftmaxFuncOptions {
  LogSoftmaxFuncOptions(int64_t dim);
  /// The dimension whose slices sum to 1.
  TORCH_ARG(int64_t, dim);
  /// What the input is converted to first, and the result's dtype; the input's if empty.
  TORCH_ARG(std::optional<torch::Dtype>, dtype) = std::nullopt;
};

/// Options of F::rrelu, as RReLUOptions.
struct TORCH_API RReLUFuncOptions {
  /// The least slope.
  TORCH_ARG(double, lower) = 1.0 / 8.0;
  /// The greatest slope.
  TORCH_ARG(double, upper) = 1.0 / 3.0;
  /// Draws slopes; without it all are the mean of lower and upper.
  TORCH_ARG(bool, training) = false;
  /// Writes the result to the input.
  TORCH_ARG(bool, inplace) = false;
};

/// Options of F::gumbel_softmax.
struct TORCH_API GumbelSoftmaxFuncOptions {
  /// The temperature: small values give samples that are almost one-hot.
  TORCH_ARG(double, tau) = 1.0;
  /// Gives one-hot samples that have the gradient of the soft ones.
  TORCH_ARG(bool, hard) = false;
  /// The dimension whose slices sum to 1.
  TORCH_ARG(int, dim) = -1;
};

/// Options of F::multi_head_attention_forward, where tensors and masks are described. E are the features of `query`.
struct TORCH_API MultiheadAttentionForwardFuncOptions {
  MultiheadAttentionForwardFuncOptions(
      int64_t embed_dim_to_check,
      int64_t num_heads,
      Tensor in_proj_weight,
      Tensor in_proj_bias,
      Tensor bias_k,
      Tensor bias_v,
      bool add_zero_attn,
      double dropout_p,
      Tensor out_proj_weight,
      Tensor out_proj_bias);
  /// E. Throws if `query` has other features.
  TORCH_ARG(int64_t, embed_dim_to_check);
  /// Heads. Throws unless positive and a divisor of E.
  TORCH_ARG(int64_t, num_heads);
  /// [3E, E]: the projections of query, key and value, one below the other.
  TORCH_ARG(Tensor, in_proj_weight);
  /// [3E] or undefined.
  TORCH_ARG(Tensor, in_proj_bias);
  /// [1, 1, E], appended to the keys, or undefined. Throws unless bias_v is given too.
  TORCH_ARG(Tensor, bias_k);
  /// [1, 1, E], appended to the values, or undefined.
  TORCH_ARG(Tensor, bias_v);
  /// Appends a row of zeros to keys and values.
  TORCH_ARG(bool, add_zero_attn);
  /// Probability that a weight of attention is dropped, in training.
  TORCH_ARG(double, dropout_p);
  /// [E, E]: the projection of the result.
  TORCH_ARG(Tensor, out_proj_weight);
  /// [E] or undefined.
  TORCH_ARG(Tensor, out_proj_bias);
  /// Whether weights are dropped.
  TORCH_ARG(bool, training) = true;
  /// [N, S]: keys that are left out, for each sample.
  TORCH_ARG(Tensor, key_padding_mask);
  /// Whether the weights of attention are returned; without them the fused kernel runs.
  TORCH_ARG(bool, need_weights) = true;
  /// [T, S] or [N * heads, T, S]: which query sees which key.
  TORCH_ARG(Tensor, attn_mask);
  /// Takes the three weights below in place of in_proj_weight.
  TORCH_ARG(bool, use_separate_proj_weight) = false;
  /// [E, E].
  TORCH_ARG(Tensor, q_proj_weight);
  /// [E, features of `key`].
  TORCH_ARG(Tensor, k_proj_weight);
  /// [E, features of `value`].
  TORCH_ARG(Tensor, v_proj_weight);
  /// [N * heads, S, E / heads], in place of the projected keys. Throws together with bias_k.
  TORCH_ARG(Tensor, static_k);
  /// The same for the values.
  TORCH_ARG(Tensor, static_v);
  /// Whether the weights returned are the mean over the heads.
  TORCH_ARG(bool, average_attn_weights) = true;
};

} // namespace functional
} // namespace torch::nn
