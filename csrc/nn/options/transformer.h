// Options of a whole transformer.
#pragma once

#include <csrc/arg.h>
#include <csrc/nn/modules/container/any.h>
#include <csrc/nn/options/transformerlayer.h>

#include <cstdint>

namespace torch::nn {

/// Options of Transformer (Vaswani et al., 2017).
struct TORCH_API TransformerOptions {
  TransformerOptions() = default;
  TransformerOptions(int64_t d_model, int64_t nhead);
  TransformerOptions(int64_t d_model, int64_t nhead, int64_t num_encoder_layers, int64_t num_decoder_layers);
  /// Features of inputs and outputs.
  TORCH_ARG(int64_t, d_model) = 512;
  /// Heads of attention. Must divide d_model.
  TORCH_ARG(int64_t, nhead) = 8;
  /// Layers of the encoder. Must be positive.
  TORCH_ARG(int64_t, num_encoder_layers) = 6;
  /// Layers of the decoder. Must be positive.
  TORCH_ARG(int64_t, num_decoder_layers) = 6;
  /// Features between the two linear layers.
  TORCH_ARG(int64_t, dim_feedforward) = 2048;
  /// Probability of dropout, in training. In [0, 1].
  TORCH_ARG(double, dropout) = 0.1;
  /// What stands between these layers: kReLU, kGELU or a function.
  TORCH_ARG(activation_t, activation) = torch::kReLU;
  /// Takes the place of the encoder that the other options describe.
  TORCH_ARG(AnyModule, custom_encoder);
  /// Takes the place of the decoder that the other options describe.
  TORCH_ARG(AnyModule, custom_decoder);
};

} // namespace torch::nn
