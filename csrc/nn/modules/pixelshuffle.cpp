#include <csrc/nn/modules/pixelshuffle.h>

#include <csrc/nn/functional/pixelshuffle.h>

#include <ostream>

namespace F = torch::nn::functional;

namespace torch::nn {

PixelShuffleImpl::PixelShuffleImpl(const PixelShuffleOptions& options_) : options(options_) {}

void PixelShuffleImpl::reset() {}

void PixelShuffleImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::PixelShuffle(upscale_factor=" << options.upscale_factor() << ")";
}

Tensor PixelShuffleImpl::forward(const Tensor& input) {
  return F::pixel_shuffle(input, options);
}

PixelUnshuffleImpl::PixelUnshuffleImpl(const PixelUnshuffleOptions& options_) : options(options_) {}

void PixelUnshuffleImpl::reset() {}

void PixelUnshuffleImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::PixelUnshuffle(downscale_factor=" << options.downscale_factor() << ")";
}

Tensor PixelUnshuffleImpl::forward(const Tensor& input) {
  return F::pixel_unshuffle(input, options);
}

} // namespace torch::nn
