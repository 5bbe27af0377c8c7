// Transformer, its encoder and decoder, and their layers.
#include <csrc/nn/modules/transformer.h>
#include <csrc/nn/modules/transformercoder.h>
#include <csrc/nn/modules/transformerlayer.h>

#include <aten/Functions.h>
#include <c10/util/Exception.h>
#include <csrc/nn/init.h>

#include <limits>

namespace torch::nn {

namespace {

Tensor activate(const activation_t& activation, const Tensor& input) {
  if (std::holds_alternative<enumtype::kReLU>(activation)) {
    return at::relu(input);
  }
  if (std::holds_alternative<enumtype::kGELU>(activation)) {
    return at::gelu(input);
  }
  return std::get<std::function<Tensor(const Tensor&)>>(activation)(input);
}

template <class Layer, class Options>
void register_attention(Layer& layer, MultiheadAttention& attention, const char* name, const Options& options) {
  attention = layer.register_module(
      name,
      MultiheadAttention(MultiheadAttentionOptions(options.d_model(), options.nhead()).dropout(options.dropout())));
}

template <class Layer>
void register_norm(Layer& layer, LayerNorm& norm, const char* name) {
  norm = layer.register_module(name, LayerNorm(LayerNormOptions({layer.options.d_model()})));
}

// `num_layers` copies of a layer.
template <class LayerHolder>
ModuleList copies_of(const LayerHolder& layer, int64_t num_layers) {
  TORCH_CHECK(num_layers > 0, "a transformer's encoder and decoder need at least one layer, not ", num_layers);
  ModuleList copies;
  for (int64_t i = 0; i < num_layers; ++i) {
    copies->push_back(layer->clone());
  }
  return copies;
}

// A fresh copy of the norm in the options, under the same name.
void replace_norm(Module& module, AnyModule& norm, const AnyModule& prototype) {
  if (!norm.is_empty()) {
    module.unregister_module("norm");
  }
  norm = prototype.clone();
  if (!norm.is_empty()) {
    module.register_module("norm", norm.ptr());
  }
}

} // namespace

TransformerEncoderLayerImpl::TransformerEncoderLayerImpl(int64_t d_model, int64_t nhead)
    : TransformerEncoderLayerImpl(TransformerEncoderLayerOptions(d_model, nhead)) {}

TransformerEncoderLayerImpl::TransformerEncoderLayerImpl(TransformerEncoderLayerOptions options_)
    : options(std::move(options_)) {
  TransformerEncoderLayerImpl::reset();
}

void TransformerEncoderLayerImpl::reset() {
  register_attention(*this, self_attn, "self_attn", options);
  linear1 = register_module("linear1", Linear(options.d_model(), options.dim_feedforward()));
  dropout = register_module("dropout", Dropout(options.dropout()));
  linear2 = register_module("linear2", Linear(options.dim_feedforward(), options.d_model()));
  register_norm(*this, norm1, "norm1");
  register_norm(*this, norm2, "norm2");
  dropout1 = register_module("dropout1", Dropout(options.dropout()));
  dropout2 = register_module("dropout2", Dropout(options.dropout()));
}

void TransformerEncoderLayerImpl::reset_parameters() {
  self_attn->_reset_parameters();
  linear1->reset_parameters();
  linear2->reset_parameters();
  norm1->reset_parameters();
  norm2->reset_parameters();
}

Tensor TransformerEncoderLayerImpl::forward(
    const Tensor& src, const Tensor& src_mask, const Tensor& src_key_padding_mask) {
  const Tensor attended = std::get<0>(self_attn(src, src, src, src_key_padding_mask, /*need_weights=*/false, src_mask));
  const Tensor x = norm1(src + dropout1(attended));
  return norm2(x + dropout2(linear2(dropout(activate(options.activation(), linear1(x))))));
}

TransformerDecoderLayerImpl::TransformerDecoderLayerImpl(int64_t d_model, int64_t nhead)
    : TransformerDecoderLayerImpl(TransformerDecoderLayerOptions(d_model, nhead)) {}

TransformerDecoderLayerImpl::TransformerDecoderLayerImpl(TransformerDecoderLayerOptions options_)
    : options(std::move(options_)) {
  TransformerDecoderLayerImpl::reset();
}

void TransformerDecoderLayerImpl::reset() {
  register_attention(*this, self_attn, "self_attn", options);
  register_attention(*this, multihead_attn, "multihead_attn", options);
  linear1 = register_module("linear1", Linear(options.d_model(), options.dim_feedforward()));
  dropout = register_module("dropout", Dropout(options.dropout()));
  linear2 = register_module("linear2", Linear(options.dim_feedforward(), options.d_model()));
  register_norm(*this, norm1, "norm1");
  register_norm(*this, norm2, "norm2");
  register_norm(*this, norm3, "norm3");
  dropout1 = register_module("dropout1", Dropout(options.dropout()));
  dropout2 = register_module("dropout2", Dropout(options.dropout()));
  dropout3 = register_module("dropout3", Dropout(options.dropout()));
}

void TransformerDecoderLayerImpl::reset_parameters() {
  self_attn->_reset_parameters();
  multihead_attn->_reset_parameters();
  linear1->reset_parameters();
  linear2->reset_parameters();
  norm1->reset_parameters();
  norm2->reset_parameters();
  norm3->reset_parameters();
}

Tensor TransformerDecoderLayerImpl::activation(const Tensor& input) {
  return activate(options.activation(), input);
}

Tensor TransformerDecoderLayerImpl::forward(
    Tensor tgt,
    const Tensor& memory,
    const Tensor& tgt_mask,
    const Tensor& memory_mask,
    const Tensor& tgt_key_padding_mask,
    const Tensor& memory_key_padding_mask) {
  const Tensor to_itself =
      std::get<0>(self_attn(tgt, tgt, tgt, tgt_key_padding_mask, /*need_weights=*/false, tgt_mask));
  Tensor x = norm1(tgt + dropout1(to_itself));
  const Tensor to_memory =
      std::get<0>(multihead_attn(x, memory, memory, memory_key_padding_mask, /*need_weights=*/false, memory_mask));
  x = norm2(x + dropout2(to_memory));
  return norm3(x + dropout3(linear2(dropout(activation(linear1(x))))));
}

TransformerEncoderImpl::TransformerEncoderImpl(TransformerEncoderLayer encoder_layer, int64_t num_layers)
    : TransformerEncoderImpl(TransformerEncoderOptions(std::move(encoder_layer), num_layers)) {}

TransformerEncoderImpl::TransformerEncoderImpl(TransformerEncoderOptions options_) : options(std::move(options_)) {
  TransformerEncoderImpl::reset();
}

void TransformerEncoderImpl::reset() {
  layers = register_module("layers", copies_of(options.encoder_layer(), options.num_layers()));
  norm = AnyModule();
  replace_norm(*this, norm, options.norm());
}

void TransformerEncoderImpl::reset_parameters() {
  for (size_t i = 0; i < layers->size(); ++i) {
    layers->at<TransformerEncoderLayerImpl>(i).reset_parameters();
  }
  replace_norm(*this, norm, options.norm());
}

Tensor TransformerEncoderImpl::forward(const Tensor& src, const Tensor& src_mask, const Tensor& src_key_padding_mask) {
  Tensor output = src;
  for (size_t i = 0; i < layers->size(); ++i) {
    output = detail::call_forward(layers->at<TransformerEncoderLayerImpl>(i), output, src_mask, src_key_padding_mask);
  }
  return norm.is_empty() ? output : norm.forward<Tensor>(output);
}

TransformerDecoderImpl::TransformerDecoderImpl(TransformerDecoderLayer decoder_layer, int64_t num_layers)
    : TransformerDecoderImpl(TransformerDecoderOptions(std::move(decoder_layer), num_layers)) {}

TransformerDecoderImpl::TransformerDecoderImpl(TransformerDecoderOptions options_) : options(std::move(options_)) {
  TransformerDecoderImpl::reset();
}

void TransformerDecoderImpl::reset() {
  layers = register_module("layers", copies_of(options.decoder_layer(), options.num_layers()));
  norm = AnyModule();
  replace_norm(*this, norm, options.norm());
}

void TransformerDecoderImpl::reset_parameters() {
  for (size_t i = 0; i < layers->size(); ++i) {
    layers->at<TransformerDecoderLayerImpl>(i).reset_parameters();
  }
  replace_norm(*this, norm, options.norm());
}

Tensor TransformerDecoderImpl::forward(
    const Tensor& tgt,
    const Tensor& memory,
    const Tensor& tgt_mask,
    const Tensor& memory_mask,
    const Tensor& tgt_key_padding_mask,
    const Tensor& memory_key_padding_mask) {
  Tensor output = tgt;
  for (size_t i = 0; i < layers->size(); ++i) {
    output = detail::call_forward(
        layers->at<TransformerDecoderLayerImpl>(i), output, memory, tgt_mask, memory_mask, tgt_key_padding_mask,
        memory_key_padding_mask);
  }
  return norm.is_empty() ? output : norm.forward<Tensor>(output);
}

TransformerImpl::TransformerImpl(TransformerOptions options_) : options(std::move(options_)) {
  TransformerImpl::reset();
}

void TransformerImpl::reset() {
  const auto layer_norm = [&] { return AnyModule(LayerNorm(LayerNormOptions({options.d_model()}))); };
  if (options.custom_encoder().is_empty()) {
    encoder = AnyModule(TransformerEncoder(TransformerEncoderOptions(
                                               TransformerEncoderLayerOptions(options.d_model(), options.nhead())
                                                   .dim_feedforward(options.dim_feedforward())
                                                   .dropout(options.dropout())
                                                   .activation(options.activation()),
                                               options.num_encoder_layers())
                                               .norm(layer_norm())));
  } else {
    encoder = options.custom_encoder().clone();
  }
  register_module("encoder", encoder.ptr());
  if (options.custom_decoder().is_empty()) {
    decoder = AnyModule(TransformerDecoder(TransformerDecoderOptions(
                                               TransformerDecoderLayerOptions(options.d_model(), options.nhead())
                                                   .dim_feedforward(options.dim_feedforward())
                                                   .dropout(options.dropout())
                                                   .activation(options.activation()),
                                               options.num_decoder_layers())
                                               .norm(layer_norm())));
  } else {
    decoder = options.custom_decoder().clone();
  }
  register_module("decoder", decoder.ptr());
  reset_parameters();
}

void TransformerImpl::reset_parameters() {
  for (const Tensor& parameter : parameters()) {
    if (parameter.dim() > 1) {
      init::xavier_uniform_(parameter);
    }
  }
}

Tensor TransformerImpl::forward(
    const Tensor& src,
    const Tensor& tgt,
    const Tensor& src_mask,
    const Tensor& tgt_mask,
    const Tensor& memory_mask,
    const Tensor& src_key_padding_mask,
    const Tensor& tgt_key_padding_mask,
    const Tensor& memory_key_padding_mask) {
  TORCH_CHECK(
      src.dim() == 3 && tgt.dim() == 3, "src and tgt should have 3 dimensions, but got ", src.dim(), " and ",
      tgt.dim());
  TORCH_CHECK(
      src.size(1) == tgt.size(1), "src and tgt should have equal batch size (at dim 1), but got ", src.size(1), " and ",
      tgt.size(1));
  TORCH_CHECK(
      src.size(2) == options.d_model() && tgt.size(2) == options.d_model(),
      "src and tgt should have same feature size as d_model (at dim 2), but got ", src.size(2), " and ", tgt.size(2),
      " while d_model is ", options.d_model());
  const Tensor memory = encoder.forward<Tensor>(src, src_mask, src_key_padding_mask);
  return decoder.forward<Tensor>(tgt, memory, tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask);
}

Tensor TransformerImpl::generate_square_subsequent_mask(int64_t sz) {
  TORCH_CHECK(sz > 0, "generate_square_subsequent_mask: sz must be positive, but is ", sz);
  return at::triu(at::full({sz, sz}, -std::numeric_limits<double>::infinity(), at::kFloat), 1);
}

Module::DefaultArgs TransformerEncoderImpl::_forward_default_args() {
  return {{1, AnyValue(Tensor())}, {2, AnyValue(Tensor())}};
}

Module::DefaultArgs TransformerDecoderImpl::_forward_default_args() {
  return {{2, AnyValue(Tensor())}, {3, AnyValue(Tensor())}, {4, AnyValue(Tensor())}, {5, AnyValue(Tensor())}};
}

Module::DefaultArgs TransformerImpl::_forward_default_args() {
  return {{2, AnyValue(Tensor())}, {3, AnyValue(Tensor())}, {4, AnyValue(Tensor())},
          {5, AnyValue(Tensor())}, {6, AnyValue(Tensor())}, {7, AnyValue(Tensor())}};
}

Module::DefaultArgs TransformerEncoderLayerImpl::_forward_default_args() {
  return {{1, AnyValue(Tensor())}, {2, AnyValue(Tensor())}};
}

Module::DefaultArgs TransformerDecoderLayerImpl::_forward_default_args() {
  return {{2, AnyValue(Tensor())}, {3, AnyValue(Tensor())}, {4, AnyValue(Tensor())}, {5, AnyValue(Tensor())}};
}

} // namespace torch::nn
