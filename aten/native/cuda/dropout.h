// Launches of dropout in one pass.
#pragma once

#include <aten/cuda/PhiloxCudaState.h>
#include <c10/core/ScalarType.h>

#include <cuda_runtime_api.h>

#include <cstdint>

namespace at::native::cuda {

/// Dense arrays of n > 0 elements of a floating dtype, in one order.
struct Dropout {
  c10::ScalarType dtype;
  const void* in;
  void* out;
  bool* mask;
  std::int64_t n;
  double scale;
  cudaStream_t stream;
};

/// out = in * mask * scale, with a mask that is true with probability `keep`. `philox` and `blocks` as random_launch(n,
/// 4) has them. The numbers are those of PyTorch: a thread draws four for as many elements as it reads at once, side by
/// side.
void launch_dropout(const Dropout& p, double keep, PhiloxCudaState philox, unsigned blocks);

/// The same with a mask that is there.
void launch_masked_scale(const Dropout& p);

} // namespace at::native::cuda
