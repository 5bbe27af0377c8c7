// Launches of what goes over rows of an embedding's table.
#pragma once

#include <aten/native/cuda/index_error.h>
#include <c10/core/ScalarType.h>

#include <cuda_runtime_api.h>

#include <cstdint>

namespace at::native::cuda {

/// Scales down the rows that indices name and whose norm is above `max_norm`, each once.
struct RenormRows {
  std::int64_t n; // indices
  const std::int64_t* indices;
  const std::int64_t* positions; // of sorted indices before; null: they are as given, and few
  c10::ScalarType dtype; // floating
  void* table;
  std::int64_t width, row_stride, column_stride; // of the table
  double max_norm, norm_type;
  IndexCheck check;
  cudaStream_t stream;
};
void launch_renorm_rows(const RenormRows& p);

/// Row `index` of `sums` becomes the sum of the rows of `grads` whose index that is, in their order. Other rows stay as
/// they are.
struct SumRows {
  std::int64_t n; // indices, and rows of `grads`: few
  const std::int64_t* indices;
  c10::ScalarType dtype; // floating
  const void* grads; // contiguous
  void* sums;
  std::int64_t width, row_stride; // of `sums`
  std::int64_t skip; // an index to pass over
  bool mean; // divided by their number
  IndexCheck check;
  cudaStream_t stream;
};
/// So few that each block may look at all indices.
inline constexpr std::int64_t kFewIndices = 3072;
void launch_sum_rows(const SumRows& p);

} // namespace at::native::cuda
