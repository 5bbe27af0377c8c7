#include <csrc/nn/options/transformer.h>
#include <csrc/nn/options/transformercoder.h>

namespace torch::nn::detail {
struct EncoderLayerPlace {
  TransformerEncoderLayer layer = nullptr;
};
struct DecoderLayerPlace {
  TransformerDecoderLayer layer = nullptr;
};
} // namespace torch::nn::detail

template class c10::Indirect<torch::nn::detail::EncoderLayerPlace>;
template class c10::Indirect<torch::nn::detail::DecoderLayerPlace>;

namespace torch::nn {

TransformerOptions::TransformerOptions(int64_t d_model, int64_t nhead) : d_model_(d_model), nhead_(nhead) {}

TransformerOptions::TransformerOptions(
    int64_t d_model, int64_t nhead, int64_t num_encoder_layers, int64_t num_decoder_layers)
    : d_model_(d_model),
      nhead_(nhead),
      num_encoder_layers_(num_encoder_layers),
      num_decoder_layers_(num_decoder_layers) {}

TransformerEncoderOptions::TransformerEncoderOptions(TransformerEncoderLayer encoder_layer, int64_t num_layers)
    : encoder_layer_(detail::EncoderLayerPlace{std::move(encoder_layer)}), num_layers_(num_layers) {}

TransformerEncoderOptions::TransformerEncoderOptions(
    const TransformerEncoderLayerOptions& encoder_layer_options, int64_t num_layers)
    : encoder_layer_(detail::EncoderLayerPlace{TransformerEncoderLayer(encoder_layer_options)}),
      num_layers_(num_layers) {}

TransformerDecoderOptions::TransformerDecoderOptions(TransformerDecoderLayer decoder_layer, int64_t num_layers)
    : decoder_layer_(detail::DecoderLayerPlace{std::move(decoder_layer)}), num_layers_(num_layers) {}

TransformerDecoderOptions::TransformerDecoderOptions(
    const TransformerDecoderLayerOptions& decoder_layer_options, int64_t num_layers)
    : decoder_layer_(detail::DecoderLayerPlace{TransformerDecoderLayer(decoder_layer_options)}),
      num_layers_(num_layers) {}

auto TransformerEncoderOptions::encoder_layer(const TransformerEncoderLayer& new_encoder_layer) -> decltype(*this) {
  encoder_layer_->layer = new_encoder_layer;
  return *this;
}
const TransformerEncoderLayer& TransformerEncoderOptions::encoder_layer() const noexcept {
  return encoder_layer_->layer;
}
TransformerEncoderLayer& TransformerEncoderOptions::encoder_layer() {
  return encoder_layer_->layer;
}

auto TransformerDecoderOptions::decoder_layer(const TransformerDecoderLayer& new_decoder_layer) -> decltype(*this) {
  decoder_layer_->layer = new_decoder_layer;
  return *this;
}
const TransformerDecoderLayer& TransformerDecoderOptions::decoder_layer() const noexcept {
  return decoder_layer_->layer;
}
TransformerDecoderLayer& TransformerDecoderOptions::decoder_layer() {
  return decoder_layer_->layer;
}

} // namespace torch::nn
