// Launches of random numbers that are functions of a key.
#pragma once

#include <c10/core/ScalarType.h>

#include <cuda_runtime_api.h>

#include <cstdint>

namespace at::native::cuda {

/// Rows of contiguous elements with a key each.
struct PhiloxFill {
  c10::ScalarType dtype;
  const std::uint64_t* keys; // [rows, 2]
  std::int64_t rows, width;
  void* out;
  cudaStream_t stream;
};
void launch_philox_uniform(const PhiloxFill& p, double low, double high);
void launch_philox_normal(const PhiloxFill& p, double mean, double std);
/// Any integer dtype; range and start modulo 2^64.
void launch_philox_randint(const PhiloxFill& p, std::uint64_t range, std::uint64_t from, bool whole);

/// out[s] = the keys that stand number + s blocks after `keys`, for s < splits; `number` is in device memory if it is
/// not null.
struct PhiloxKeys {
  const std::uint64_t* keys;
  std::int64_t n, splits;
  std::uint64_t first;
  const std::uint64_t* number;
  std::uint64_t* out;
  cudaStream_t stream;
};
void launch_philox_keys(const PhiloxKeys& p);

} // namespace at::native::cuda
