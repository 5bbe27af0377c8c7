#pragma once
// Products with a right factor that oneDNN has packed ahead.

#include <aten/native/onednn/Activation.h>
#include <c10/macros/Export.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace at::native::onednn {

/// C = activation(A B + bias) of floats, with A (m x k) and C (m x n) by rows, `a_stride` and `c_stride` apart.
struct PackedMatmul {
  int64_t m, n, k;
  int64_t a_stride, c_stride;
  bool has_bias = false;
  Activation activation = Activation::None;
};

/// How B is packed for a product.
struct PackedLayout {
  size_t bytes;
  /// Equal where the bytes would be.
  std::string id;
};

/// Nothing where oneDNN has no fast kernel for it on this CPU.
std::optional<PackedLayout> packed_layout(const PackedMatmul& problem);

/// Packs B, whose element (i, j) lies at b[i * row_stride + j * col_stride], into memory of packed_layout()'s bytes.
void pack_right_factor(
    const PackedMatmul& problem, const float* b, int64_t row_stride, int64_t col_stride, void* packed);

/// Runs the product. `bias` has n adjacent elements or is null, as the problem says.
void packed_matmul(const PackedMatmul& problem, const float* a, const void* packed, float* c, const float* bias);

} // namespace at::native::onednn
