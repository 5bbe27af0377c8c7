// Launches of where and masked_fill, whose operands are of different dtypes.
#pragma once

#include <aten/native/cuda/pointwise_plan.h>

#include <cstddef>

namespace at::native::cuda {

/// Operands: result, condition (bytes), self, other; elements of `size` bytes.
void launch_where(const PointwisePlan& plan, std::size_t size);
/// The same for operands of different dtypes.
void launch_where_mixed(const PointwisePlan& plan);
/// Operands: result, mask (bytes), self; `value` points to an element of `size` bytes.
void launch_masked_fill(const PointwisePlan& plan, std::size_t size, const void* value);

} // namespace at::native::cuda
