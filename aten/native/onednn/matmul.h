#pragma once
// Matrix products by oneDNN.

#include <c10/core/ScalarType.h>
#include <c10/macros/Macros.h>

#include <cstddef>
#include <cstdint>

namespace at::native::onednn {

/// C = beta * C + alpha * A B (+ bias along rows), for `batch` matrices. Strides are in elements: batch, row, column;
/// each operand needs stride 1 in its row or column dimension, otherwise oneDNN would run its reference code.
struct Matmul {
  c10::ScalarType dtype;
  int64_t batch, m, n, k;
  int64_t a_strides[3], b_strides[3], c_strides[3];
  float alpha = 1, beta = 0;
};

/// Runs the product on Float or BFloat16 data; `bias` has n adjacent elements or is null. Returns false, with nothing
/// written, when oneDNN has no fast kernel for the case on this CPU.
TORCH_API bool matmul(const Matmul& problem, const void* a, const void* b, void* c, const void* bias);

/// Primitives held by the cache that all threads share, and their greatest number.
TORCH_API size_t matmul_cache_size();
inline constexpr size_t kMatmulCacheCapacity = 1024;

} // namespace at::native::onednn
