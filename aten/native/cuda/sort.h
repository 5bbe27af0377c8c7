// Launches of sorting and of finding true elements.
#pragma once

#include <c10/core/ScalarType.h>

#include <cuda_runtime_api.h>

#include <cstdint>

namespace at::native::cuda {

/// Rows of contiguous elements, sorted stably. NaN is the largest value.
struct SortRows {
  std::int64_t rows, size; // rows * size < 2^31
  c10::ScalarType dtype; // bool, integer or floating
  bool descending;
  const void* in;
  void* values;
  std::int64_t* indices;
  cudaStream_t stream;
};
void launch_sort(const SortRows& p);

/// n keys, stably by the bits [begin_bit, end_bit) of their order, and values beside them. NaN is the largest key.
struct SortPairs {
  c10::ScalarType dtype; // of the keys: bool, integer or floating
  const void* keys_in;
  void* keys_out; // may be null
  const void* values_in;
  void* values_out;
  int value_size; // 1, 2, 4, 8 or 16 bytes; 0 for no values
  std::int64_t n; // below 2^31
  bool descending;
  int begin_bit, end_bit;
  cudaStream_t stream;
};
void launch_sort_pairs(const SortPairs& p);

/// 0 to n - 1 in the order of n random 64-bit keys, which are overwritten.
void launch_order_of_keys(std::uint64_t* keys, std::int64_t n, std::int64_t* order, cudaStream_t stream);

/// The positions of flags that are not 0, in order, to `positions` (room for n); their number to `count`, on the device.
void launch_find_true(
    const std::uint8_t* flags, std::int64_t n, std::int64_t* positions, std::int64_t* count, cudaStream_t stream);

} // namespace at::native::cuda
