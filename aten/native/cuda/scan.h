// Launches of running sums and products.
#pragma once

#include <c10/core/ScalarType.h>

#include <cuda_runtime_api.h>

#include <cstdint>

namespace at::native::cuda {

/// Contiguous elements as outer x size x inner, scanned along `size`. `in` may be `out`. Integers, floating or complex.
struct Scan {
  std::int64_t outer, size, inner;
  c10::ScalarType dtype;
  bool multiply;
  const void* in;
  void* out;
  cudaStream_t stream;
};
void launch_scan(const Scan& p);

} // namespace at::native::cuda
