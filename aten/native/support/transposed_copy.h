// Copies in which source and destination are dense along different dimensions: t().contiguous(), NCHW to NHWC, and the
// like, converting or not.
#pragma once

#include <cstdint>

namespace at {

struct TensorIteratorBase;

namespace native {

/// Copies operand 1 to operand 0 when each is dense along a dimension of its own. Otherwise nothing happens and the
/// result is false.
bool copy_transposed(const TensorIteratorBase& iter);

/// Writes `rows` rows of `cols` elements of `size` bytes, which lie `src_stride` bytes apart, down by columns: element
/// (r, c) becomes dst[c * rows + r]. May write 15 bytes more.
void turn_tile(int size, const void* src, std::int64_t src_stride, std::int64_t rows, std::int64_t cols, void* dst);

} // namespace native
} // namespace at
