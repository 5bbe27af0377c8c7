#include <csrc/nn/options/pixelshuffle.h>

namespace torch::nn {

PixelShuffleOptions::PixelShuffleOptions(int64_t upscale_factor) : upscale_factor_(upscale_factor) {}
PixelUnshuffleOptions::PixelUnshuffleOptions(int64_t downscale_factor) : downscale_factor_(downscale_factor) {}

} // namespace torch::nn
