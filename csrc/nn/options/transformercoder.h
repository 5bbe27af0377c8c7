// Options of a transformer's encoder and decoder.
#pragma once

#include <c10/util/Indirect.h>
#include <csrc/arg.h>
#include <csrc/nn/modules/container/any.h>
#include <csrc/nn/modules/transformerlayer.h>

#include <cstdint>

namespace torch::nn::detail {
// What options keep a layer in. Only their source knows it, so that programs do not compile holders of the layers.
struct EncoderLayerPlace;
struct DecoderLayerPlace;
} // namespace torch::nn::detail

extern template class TORCH_API c10::Indirect<torch::nn::detail::EncoderLayerPlace>;
extern template class TORCH_API c10::Indirect<torch::nn::detail::DecoderLayerPlace>;

namespace torch::nn {

/// `num_layers` copies of a layer, then `norm` if it is not empty.
struct TORCH_API TransformerEncoderOptions {
  TransformerEncoderOptions(TransformerEncoderLayer encoder_layer, int64_t num_layers);
  TransformerEncoderOptions(const TransformerEncoderLayerOptions& encoder_layer_options, int64_t num_layers);
  /// The layer that is copied.
  auto encoder_layer(const TransformerEncoderLayer& new_encoder_layer) -> decltype(*this);
  const TransformerEncoderLayer& encoder_layer() const noexcept;
  TransformerEncoderLayer& encoder_layer();

 private:
  c10::Indirect<detail::EncoderLayerPlace> encoder_layer_;

 public:
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
  auto decoder_layer(const TransformerDecoderLayer& new_decoder_layer) -> decltype(*this);
  const TransformerDecoderLayer& decoder_layer() const noexcept;
  TransformerDecoderLayer& decoder_layer();

 private:
  c10::Indirect<detail::DecoderLayerPlace> decoder_layer_;

 public:
  /// Copies. Throws unless positive.
  TORCH_ARG(int64_t, num_layers);
  /// A normalization of the result; none if empty.
  TORCH_ARG(AnyModule, norm);
};

} // namespace torch::nn
