// Launches of embedding_bag.
#pragma once

#include <aten/native/cuda/index_error.h>
#include <c10/core/ScalarType.h>

#include <cuda_runtime_api.h>

#include <cstdint>

namespace at::native::cuda {

/// Each bag b reduces the rows of a table that indices [offsets[b], offsets[b + 1]) name; a bag without an offset after
/// its own ends with them.
struct EmbeddingBag {
  enum Mode : std::int32_t { Sum, Mean, Max };

  std::int64_t bags, count, width, offset_count, padding_idx;
  Mode mode;
  c10::ScalarType dtype; // of the table, floating
  const void *table, *scales; // contiguous; scales may be null
  const std::int64_t *indices, *offsets;
  void* out;
  // Any may be null: of each bag its size, which sums leave 0; the rows of maxima, or else the sizes again; the bag of
  // each index.
  std::int64_t *sizes, *places, *bag_of;
  bool one_more; // `sizes` and `indices` of sums go on for one element, which is 0
  IndexCheck check, check_offset;
  cudaStream_t stream;
};
void launch_embedding_bag(const EmbeddingBag& p);

} // namespace at::native::cuda
