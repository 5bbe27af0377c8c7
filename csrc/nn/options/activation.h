// Options of activations and of multi-head attention.
#pragma once

#include <csrc/arg.h>
#include <csrc/nn/enum.h>
#include <csrc/types.h>

#include <cstdint>
#include <optional>
#include <string>

namespace torch::nn {

struct TORCH_API ELUOptions {
  TORCH_ARG(double, alpha) = 1.0;
  TORCH_ARG(bool, inplace) = false;
};

struct TORCH_API SELUOptions {
  SELUOptions(bool inplace = false);
  TORCH_ARG(bool, inplace);
};

/// `dim` is the dimension that is cut in two halves.
struct TORCH_API GLUOptions {
  GLUOptions(int64_t dim = -1);
  TORCH_ARG(int64_t, dim);
};

/// `approximate` is "none" or "tanh".
struct TORCH_API GELUOptions {
  TORCH_ARG(std::string, approximate) = "none";
};

struct TORCH_API HardshrinkOptions {
  HardshrinkOptions(double lambda = 0.5);
  TORCH_ARG(double, lambda);
};

struct TORCH_API HardtanhOptions {
  TORCH_ARG(double, min_val) = -1.0;
  TORCH_ARG(double, max_val) = 1.0;
  TORCH_ARG(bool, inplace) = false;
};

struct TORCH_API LeakyReLUOptions {
  TORCH_ARG(double, negative_slope) = 1e-2;
  TORCH_ARG(bool, inplace) = false;
};

/// `dim` is the dimension whose slices sum to 1.
struct TORCH_API SoftmaxOptions {
  SoftmaxOptions(int64_t dim);
  TORCH_ARG(int64_t, dim);
};

struct TORCH_API SoftminOptions {
  SoftminOptions(int64_t dim);
  TORCH_ARG(int64_t, dim);
};

struct TORCH_API LogSoftmaxOptions {
  LogSoftmaxOptions(int64_t dim);
  TORCH_ARG(int64_t, dim);
};

/// `num_parameters` is 1 or the number of channels; `init` is the first value of each.
struct TORCH_API PReLUOptions {
  TORCH_ARG(int64_t, num_parameters) = 1;
  TORCH_ARG(double, init) = 0.25;
};

struct TORCH_API ReLUOptions {
  ReLUOptions(bool inplace = false);
  TORCH_ARG(bool, inplace);
};

struct TORCH_API ReLU6Options {
  ReLU6Options(bool inplace = false);
  TORCH_ARG(bool, inplace);
};

/// In training the slope is drawn from [lower, upper).
struct TORCH_API RReLUOptions {
  TORCH_ARG(double, lower) = 1.0 / 8.0;
  TORCH_ARG(double, upper) = 1.0 / 3.0;
  TORCH_ARG(bool, inplace) = false;
};

struct TORCH_API CELUOptions {
  TORCH_ARG(double, alpha) = 1.0;
  TORCH_ARG(bool, inplace) = false;
};

/// Where `beta * x` exceeds `threshold` the function is the identity.
struct TORCH_API SoftplusOptions {
  TORCH_ARG(double, beta) = 1.0;
  TORCH_ARG(double, threshold) = 20.0;
};

struct TORCH_API SoftshrinkOptions {
  SoftshrinkOptions(double lambda = 0.5);
  TORCH_ARG(double, lambda);
};

/// Elements that are not above `threshold` become `value`.
struct TORCH_API ThresholdOptions {
  ThresholdOptions(double threshold, double value);
  TORCH_ARG(double, threshold);
  TORCH_ARG(double, value);
  TORCH_ARG(bool, inplace) = false;
};

/// `kdim` and `vdim` are the feature counts of key and value, `embed_dim` unless said otherwise.
struct TORCH_API MultiheadAttentionOptions {
  MultiheadAttentionOptions(int64_t embed_dim, int64_t num_heads);
  TORCH_ARG(int64_t, embed_dim);
  TORCH_ARG(int64_t, num_heads);
  TORCH_ARG(double, dropout) = 0.0;
  TORCH_ARG(bool, bias) = true;
  TORCH_ARG(bool, add_bias_kv) = false;
  TORCH_ARG(bool, add_zero_attn) = false;
  TORCH_ARG(int64_t, kdim);
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

/// `dtype` is the type that the input is converted to first, and the result's.
struct TORCH_API SoftmaxFuncOptions {
  SoftmaxFuncOptions(int64_t dim);
  TORCH_ARG(int64_t, dim);
  TORCH_ARG(std::optional<torch::Dtype>, dtype) = std::nullopt;
};

struct TORCH_API SoftminFuncOptions {
  SoftminFuncOptions(int64_t dim);
  TORCH_ARG(int64_t, dim);
  TORCH_ARG(std::optional<torch::Dtype>, dtype) = std::nullopt;
};

struct TORCH_API LogSoftmaxFuncOptions {
  LogSoftmaxFuncOptions(int64_t dim);
  TORCH_ARG(int64_t, dim);
  TORCH_ARG(std::optional<torch::Dtype>, dtype) = std::nullopt;
};

struct TORCH_API RReLUFuncOptions {
  TORCH_ARG(double, lower) = 1.0 / 8.0;
  TORCH_ARG(double, upper) = 1.0 / 3.0;
  TORCH_ARG(bool, training) = false;
  TORCH_ARG(bool, inplace) = false;
};

/// `tau` is the temperature; `hard` gives one-hot samples that have the gradient of the soft ones.
struct TORCH_API GumbelSoftmaxFuncOptions {
  TORCH_ARG(double, tau) = 1.0;
  TORCH_ARG(bool, hard) = false;
  TORCH_ARG(int, dim) = -1;
};

/// Arguments of F::multi_head_attention_forward, where they are explained.
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
  TORCH_ARG(int64_t, embed_dim_to_check);
  TORCH_ARG(int64_t, num_heads);
  TORCH_ARG(Tensor, in_proj_weight);
  TORCH_ARG(Tensor, in_proj_bias);
  TORCH_ARG(Tensor, bias_k);
  TORCH_ARG(Tensor, bias_v);
  TORCH_ARG(bool, add_zero_attn);
  TORCH_ARG(double, dropout_p);
  TORCH_ARG(Tensor, out_proj_weight);
  TORCH_ARG(Tensor, out_proj_bias);
  TORCH_ARG(bool, training) = true;
  TORCH_ARG(Tensor, key_padding_mask);
  TORCH_ARG(bool, need_weights) = true;
  TORCH_ARG(Tensor, attn_mask);
  TORCH_ARG(bool, use_separate_proj_weight) = false;
  TORCH_ARG(Tensor, q_proj_weight);
  TORCH_ARG(Tensor, k_proj_weight);
  TORCH_ARG(Tensor, v_proj_weight);
  TORCH_ARG(Tensor, static_k);
  TORCH_ARG(Tensor, static_v);
  TORCH_ARG(bool, average_attn_weights) = true;
};

} // namespace functional
} // namespace torch::nn
