// Options of pixel shuffling, which trades channels for resolution.
#pragma once

#include <csrc/arg.h>
#include <csrc/types.h>

#include <cstdint>

namespace torch::nn {

/// Options of PixelShuffle and F::pixel_shuffle.
struct TORCH_API PixelShuffleOptions {
  PixelShuffleOptions(int64_t upscale_factor);
  /// r: height and width grow by it. Throws when used unless positive.
  TORCH_ARG(int64_t, upscale_factor);
};

/// Options of PixelUnshuffle and F::pixel_unshuffle.
struct TORCH_API PixelUnshuffleOptions {
  PixelUnshuffleOptions(int64_t downscale_factor);
  /// r: height and width shrink by it. Throws when used unless positive.
  TORCH_ARG(int64_t, downscale_factor);
};

namespace functional {

using PixelShuffleFuncOptions = PixelShuffleOptions;
using PixelUnshuffleFuncOptions = PixelUnshuffleOptions;

} // namespace functional
} // namespace torch::nn
