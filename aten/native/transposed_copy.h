// Copies in which source and destination are dense along different dimensions: t().contiguous(), NCHW to NHWC, and the
// like, converting or not.
#pragma once

namespace at {

struct TensorIteratorBase;

namespace native {

/// Copies operand 1 to operand 0 when each is dense along a dimension of its own. Otherwise nothing happens and the result
/// is false.
bool copy_transposed(const TensorIteratorBase& iter);

} // namespace native
} // namespace at
