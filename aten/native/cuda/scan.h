// Launches of running sums and products, logarithms of running sums, and running extrema.
#pragma once

#include <c10/core/ScalarType.h>

#include <cuda_runtime_api.h>

#include <cstdint>

namespace at::native::cuda {

/// Contiguous elements as outer x size x inner, scanned along `size`.
struct ScanShape {
  std::int64_t outer, size, inner;
  cudaStream_t stream;
  std::int64_t most_rows = INT32_MAX; // of one launch
};

/// Integers, floating or complex. `in` may be `out`.
struct Scan {
  ScanShape shape;
  c10::ScalarType dtype;
  bool multiply;
  const void* in;
  void* out;
};
void launch_scan(const Scan& p);

/// Floating or complex.
void launch_log_scan(const ScanShape& p, c10::ScalarType dtype, const void* in, void* out);

/// The index of the last of equal elements; NaN is beyond all. Bytes, integers or floating.
void launch_running_extremum(
    const ScanShape& p, c10::ScalarType dtype, bool greatest, const void* in, void* values, std::int64_t* indices);

} // namespace at::native::cuda
