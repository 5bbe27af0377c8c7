// Options of a transformer's encoder and decoder.
#pragma once

#include <csrc/arg.h>
#include <csrc/nn/modules/container/any.h>
#include <csrc/nn/modules/transformerlayer.h>

#include <cstdint>

namespace torch::nn {

/// `num_layers` copies of a layer, then `norm` if it is not empty.
struct TORCH_API TransformerEncoderOptions {
  TransformerEncoderOptions(TransformerEncoderLayer encoder_layer, int64_t num_layers);
  TransformerEncoderOptions(const TransformerEncoderLayerOptions& encoder_layer_options, int64_t num_layers);
  /// The layer that is copied.
  TORCH_ARG(TransformerEncoderLayer, encoder_layer) = nullptr;
  /// Copies. Throws unless positive.
  TORCH_ARG(int64_t, num_layers);
  /// A normalization of the result; none if empty.
  TORCH_ARG(AnyModule, norm);
};

/// `num_layers` copies of a layer, then `norm` if it is not empty.
struct TORCH_API TransformerDecoderOptions {
  TransformerDecoderOptions(TransformerDecoderLayer decoder_layer, int64_t num_layers);
  TransformerDecoderOptions(const TransformerDecoderLayerOptions& decoder_layer_options, int64_t num_layers);
  /// The layer that is copied.
  TORCH_ARG(TransformerDecoderLayer, decoder_layer) = nullptr;
  /// Copies. Throws unless positive.
  TORCH_ARG(int64_t, num_layers);
  /// A normalization of the result; none if empty.
  TORCH_ARG(AnyModule, norm);
};

} // namespace torch::nn
