// The encoder and the decoder of a transformer: layers one after the other.
#pragma once

#include <csrc/nn/cloneable.h>
#include <csrc/nn/modules/common.h>
#include <csrc/nn/modules/container/any.h>
#include <csrc/nn/modules/container/modulelist.h>
#include <csrc/nn/options/transformercoder.h>

#include <cstdint>
#include <utility>

namespace torch::nn {

class TORCH_API TransformerEncoderImpl : public Cloneable<TransformerEncoderImpl> {
 public:
  TransformerEncoderImpl(TransformerEncoderLayer encoder_layer, int64_t num_layers);
  explicit TransformerEncoderImpl(TransformerEncoderOptions options_);

  Tensor forward(const Tensor& src, const Tensor& src_mask = {}, const Tensor& src_key_padding_mask = {});

  void reset() override;
  void reset_parameters();

  TransformerEncoderOptions options;
  ModuleList layers = nullptr;
  AnyModule norm;

 protected:
  DefaultArgs _forward_default_args() override;
};
using TransformerEncoder = BuiltinHolder<TransformerEncoderImpl>;

class TORCH_API TransformerDecoderImpl : public Cloneable<TransformerDecoderImpl> {
 public:
  TransformerDecoderImpl(TransformerDecoderLayer decoder_layer, int64_t num_layers);
  explicit TransformerDecoderImpl(TransformerDecoderOptions options_);

  Tensor forward(
      const Tensor& tgt,
      const Tensor& memory,
      const Tensor& tgt_mask = {},
      const Tensor& memory_mask = {},
      const Tensor& tgt_key_padding_mask = {},
      const Tensor& memory_key_padding_mask = {});

  void reset() override;
  void reset_parameters();

  TransformerDecoderOptions options;
  ModuleList layers = nullptr;
  AnyModule norm;

 protected:
  DefaultArgs _forward_default_args() override;
};
using TransformerDecoder = BuiltinHolder<TransformerDecoderImpl>;

} // namespace torch::nn
