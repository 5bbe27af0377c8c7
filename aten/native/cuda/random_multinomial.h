// Launch of drawing categories with replacement.
#pragma once

#include <aten/cuda/PhiloxCudaState.h>
#include <c10/core/ScalarType.h>

#include <cuda_runtime_api.h>

#include <cstdint>

namespace at::native::cuda {

// Note [The order of drawn categories]
// The same seed gives the samples that PyTorch gives: a thread for each sample of a row, in blocks of 128 threads, side
// by side for the samples and, for rows, up to 65535 above each other; with more rows a thread goes on with a row that
// many further. It takes the first of the four numbers of each draw.

/// Samples of each row, by its probabilities and their sums up to each category; all contiguous.
struct CategoryDraws {
  static constexpr std::int64_t kThreads = 128, kMostRows = 65535;

  std::int64_t rows, categories, samples;
  c10::ScalarType dtype; // float or double
  const void *chances, *sums;
  std::int64_t* out;
  PhiloxCudaState philox;
  cudaStream_t stream;

  std::int64_t rows_at_once() const {
    return rows < kMostRows ? rows : kMostRows;
  }
  /// Of the generator, for this launch.
  std::uint64_t offset_increment() const {
    return static_cast<std::uint64_t>((rows - 1) / rows_at_once() + 1) * 4;
  }
};
void launch_category_draws(const CategoryDraws& p);

} // namespace at::native::cuda
