// What attention's kernels on CUDA take.
#pragma once

#include <aten/core/Tensor.h>

#include <cstdint>

namespace at::native {

/// The kernels that work in tiles, without the matrix of all weights: float, and 16-bit floats on tensor cores. Heads
/// must fit the registers. Tensors of 4 dimensions, [batch, heads, length, size].
inline bool fits_tiles(const TensorBase& query, const TensorBase& key, const TensorBase& value) {
  const c10::ScalarType dtype = query.scalar_type();
  const int64_t most_elements = dtype == kFloat ? 128 : 256;
  const auto fits = [&](int64_t size) { return size > 0 && size <= most_elements; };
  constexpr int64_t kMost = int64_t{1} << 29; // blocks and elements are counted in 32 bits
  constexpr int64_t kLeastTile = 16;
  const int64_t heads = query.size(0) * query.size(1);
  return (dtype == kFloat || dtype == kHalf || dtype == kBFloat16) && fits(query.size(3)) && fits(value.size(3)) &&
      heads < kMost / 64 && query.size(2) < kMost && key.size(2) < kMost &&
      heads * ((query.size(2) + key.size(2)) / kLeastTile + 2) < kMost;
}

} // namespace at::native
