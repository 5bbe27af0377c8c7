// The layers of a transformer (Vaswani et al. 2017).
#pragma once

#include <csrc/nn/cloneable.h>
#include <csrc/nn/modules/activation.h>
#include <csrc/nn/modules/common.h>
#include <csrc/nn/modules/dropout.h>
#include <csrc/nn/modules/linear.h>
#include <csrc/nn/modules/normalization.h>
#include <csrc/nn/options/transformerlayer.h>

#include <cstdint>

namespace torch::nn {

/// Attention of a sequence [S, N, d_model] to itself, then two linear layers; each is added to what it got and
/// normalized.
class TORCH_API TransformerEncoderLayerImpl : public Cloneable<TransformerEncoderLayerImpl> {
 public:
  TransformerEncoderLayerImpl(int64_t d_model, int64_t nhead);
  explicit TransformerEncoderLayerImpl(TransformerEncoderLayerOptions options_);

  /// Masks as for MultiheadAttention.
  Tensor forward(const Tensor& src, const Tensor& src_mask = {}, const Tensor& src_key_padding_mask = {});

  void reset() override;
  void reset_parameters();

  TransformerEncoderLayerOptions options;
  MultiheadAttention self_attn = nullptr;
  Linear linear1 = nullptr;
  Dropout dropout = nullptr;
  Linear linear2 = nullptr;
  LayerNorm norm1 = nullptr;
  LayerNorm norm2 = nullptr;
  Dropout dropout1 = nullptr;
  Dropout dropout2 = nullptr;

 protected:
  DefaultArgs _forward_default_args() override;
};
using TransformerEncoderLayer = BuiltinHolder<TransformerEncoderLayerImpl>;

/// Attention of a sequence [T, N, d_model] to itself, then to the encoder's result `memory` [S, N, d_model], then two
/// linear layers; each is added to what it got and normalized.
class TORCH_API TransformerDecoderLayerImpl : public Cloneable<TransformerDecoderLayerImpl> {
 public:
  TransformerDecoderLayerImpl(int64_t d_model, int64_t nhead);
  explicit TransformerDecoderLayerImpl(TransformerDecoderLayerOptions options_);

  /// Masks as for MultiheadAttention.
  Tensor forward(
      Tensor tgt,
      const Tensor& memory,
      const Tensor& tgt_mask = {},
      const Tensor& memory_mask = {},
      const Tensor& tgt_key_padding_mask = {},
      const Tensor& memory_key_padding_mask = {});

  void reset() override;
  void reset_parameters();

  TransformerDecoderLayerOptions options;
  MultiheadAttention self_attn = nullptr;
  Dropout dropout1 = nullptr;
  LayerNorm norm1 = nullptr;
  MultiheadAttention multihead_attn = nullptr;
  Dropout dropout2 = nullptr;
  LayerNorm norm2 = nullptr;
  Linear linear1 = nullptr;
  Dropout dropout = nullptr;
  Linear linear2 = nullptr;
  Dropout dropout3 = nullptr;
  LayerNorm norm3 = nullptr;

 protected:
  DefaultArgs _forward_default_args() override;
  Tensor activation(const Tensor& input);
};
using TransformerDecoderLayer = BuiltinHolder<TransformerDecoderLayerImpl>;

} // namespace torch::nn
