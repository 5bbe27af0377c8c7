// Options of the layers of a transformer.
#pragma once

#include <csrc/arg.h>
#include <csrc/nn/enum.h>
#include <csrc/types.h>

#include <cstdint>
#include <functional>
#include <variant>

namespace torch::nn {

/// What lies between the two linear layers of the feed-forward part.
using activation_t = enumtype::ValueOrChoice<std::function<Tensor(const Tensor&)>, enumtype::kReLU, enumtype::kGELU>;

/// Options of TransformerEncoderLayer: self-attention and a feed-forward part.
struct TORCH_API TransformerEncoderLayerOptions {
  TransformerEncoderLayerOptions(int64_t d_model, int64_t nhead);
  /// Features of inputs and outputs.
  TORCH_ARG(int64_t, d_model);
  /// Heads of attention. Must divide d_model.
  TORCH_ARG(int64_t, nhead);
  /// Features between the two linear layers.
  TORCH_ARG(int64_t, dim_feedforward) = 2048;
  /// Probability of dropout, in training. In [0, 1].
  TORCH_ARG(double, dropout) = 0.1;
  /// What stands between these layers: kReLU, kGELU or a function.
  TORCH_ARG(activation_t, activation) = torch::kReLU;
};

/// Options of TransformerDecoderLayer: self-attention, attention to the encoder's result and a feed-forward part.
struct TORCH_API TransformerDecoderLayerOptions {
  TransformerDecoderLayerOptions(int64_t d_model, int64_t nhead);
  /// Features of inputs and outputs.
  TORCH_ARG(int64_t, d_model);
  /// Heads of attention. Must divide d_model.
  TORCH_ARG(int64_t, nhead);
  /// Features between the two linear layers.
  TORCH_ARG(int64_t, dim_feedforward) = 2048;
  /// Probability of dropout, in training. In [0, 1].
  TORCH_ARG(double, dropout) = 0.1;
  /// What stands between these layers: kReLU, kGELU or a function.
  TORCH_ARG(activation_t, activation) = torch::kReLU;
};

} // namespace torch::nn
