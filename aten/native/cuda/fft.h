// The launch of what cuFFT leaves out of the transform of real numbers.
#pragma once

#include <c10/core/ScalarType.h>

#include <cuda_runtime_api.h>

#include <cstdint>

namespace at::native::cuda {

/// Spectra of real numbers over three dimensions (those that are missing have size 1), of which the first size[2] / 2 +
/// 1 indices of the last are there. The others are the conjugates of their mirror images. Strides count complex
/// elements.
struct FftMirror {
  c10::ScalarType dtype; // of the parts: half, float or double
  std::int64_t batch, distance;
  std::int64_t size[3], stride[3];
  void* data;
  cudaStream_t stream;
};
void launch_fft_mirror(const FftMirror& p);

} // namespace at::native::cuda
