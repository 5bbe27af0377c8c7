// Options of pixel shuffling, which trades channels for resolution.
#pragma once

#include <csrc/arg.h>
#include <csrc/types.h>

#include <cstdint>

namespace torch::nn {

struct TORCH_API PixelShuffleOptions {
  PixelShuffleOptions(int64_t upscale_factor);
  TORCH_ARG(int64_t, upscale_factor);
};

struct TORCH_API PixelUnshuffleOptions {
  PixelUnshuffleOptions(int64_t downscale_factor);
  TORCH_ARG(int64_t, downscale_factor);
};

namespace functional {

using PixelShuffleFuncOptions = PixelShuffleOptions;
using PixelUnshuffleFuncOptions = PixelUnshuffleOptions;

} // namespace functional
} // namespace torch::nn
