// Channels as pixels, and back.
#pragma once

#include <csrc/nn/cloneable.h>
#include <csrc/nn/options/pixelshuffle.h>

namespace torch::nn {

/// [..., C * r^2, H, W] to [..., C, H * r, W * r].
struct TORCH_API PixelShuffleImpl : public Cloneable<PixelShuffleImpl> {
  explicit PixelShuffleImpl(const PixelShuffleOptions& options_);

  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);

  PixelShuffleOptions options;
};
using PixelShuffle = BuiltinHolder<PixelShuffleImpl>;

/// [..., C, H * r, W * r] to [..., C * r^2, H, W].
struct TORCH_API PixelUnshuffleImpl : public Cloneable<PixelUnshuffleImpl> {
  explicit PixelUnshuffleImpl(const PixelUnshuffleOptions& options_);

  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);

  PixelUnshuffleOptions options;
};
using PixelUnshuffle = BuiltinHolder<PixelUnshuffleImpl>;

} // namespace torch::nn
