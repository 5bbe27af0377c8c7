// Launches of tril, triu and the lists of their indices.
#pragma once

#include <aten/native/cuda/OffsetCalculator.h>
#include <aten/native/support/triangle_indices.h>
#include <c10/core/ScalarType.h>

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace at::native::cuda {

/// out = self where lower ? col <= row + diagonal : col >= row + diagonal, else 0; where both are the same memory, what
/// is kept is not touched. Columns are dimension 0, rows dimension 1 of `places`.
struct Triangle {
  OffsetCalculator<2> places; ///< bytes, of out and self; counts groups of `group` columns
  std::uint32_t positions, rows;
  int group; ///< 1, or as many elements as 16 bytes hold: then a group is a run at a multiple of 16 bytes in both
  char* out;
  const char* self;
  std::size_t element_size;
  std::int64_t diagonal;
  bool lower;
};
void launch_triangle(const Triangle& triangle, cudaStream_t stream);

/// Rows, then columns, of a triangle of at least one element: twice `count` integers or floating numbers.
void launch_triangle_indices(const TriangleIndices& triangle, c10::ScalarType dtype, void* out, cudaStream_t stream);

} // namespace at::native::cuda
