// A whole transformer.
#pragma once

#include <csrc/nn/cloneable.h>
#include <csrc/nn/modules/common.h>
#include <csrc/nn/modules/container/any.h>
#include <csrc/nn/options/transformer.h>

#include <cstdint>

namespace torch::nn {

/// Encoder and decoder (Vaswani et al. 2017): from `src` [S, N, d_model] and `tgt` [T, N, d_model] to [T, N, d_model].
class TORCH_API TransformerImpl : public Cloneable<TransformerImpl> {
 public:
  explicit TransformerImpl(TransformerOptions options_);

  /// Masks as for MultiheadAttention.
  Tensor forward(
      const Tensor& src,
      const Tensor& tgt,
      const Tensor& src_mask = {},
      const Tensor& tgt_mask = {},
      const Tensor& memory_mask = {},
      const Tensor& src_key_padding_mask = {},
      const Tensor& tgt_key_padding_mask = {},
      const Tensor& memory_key_padding_mask = {});

  void reset() override;
  void reset_parameters();

  /// [sz, sz] with -inf above the diagonal and 0 elsewhere: no position sees a later one.
  static Tensor generate_square_subsequent_mask(int64_t sz);

  TransformerOptions options;
  AnyModule encoder;
  AnyModule decoder;

 protected:
  DefaultArgs _forward_default_args() override;
};
using Transformer = BuiltinHolder<TransformerImpl>;

} // namespace torch::nn
