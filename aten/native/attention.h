// What attention's kernel for tensor cores takes.
#pragma once

#include <aten/core/Tensor.h>

#include <cstdint>

namespace at::native {

/// 16-bit floats, and heads whose rows are whole pieces of 16 bytes and fit the registers. Tensors of 4 dimensions.
inline bool fits_tensor_cores(const TensorBase& query, const TensorBase& key, const TensorBase& value) {
  const auto fits = [](int64_t size) { return size % 8 == 0 && size > 0 && size <= 128; };
  constexpr int64_t kMost = int64_t{1} << 30; // elements counted in 32 bits
  return (query.scalar_type() == kHalf || query.scalar_type() == kBFloat16) && fits(query.size(3)) && fits(value.size(3)) &&
      query.size(0) * query.size(1) < kMost / 64 && query.size(2) < kMost && key.size(2) < kMost &&
      query.size(0) * query.size(1) * ((query.size(2) + key.size(2)) / 64 + 2) < kMost;
}

} // namespace at::native
