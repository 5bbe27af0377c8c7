// Launches of pointwise kernels whose operands are of different dtypes, or whose parameters depend on the dtype itself.
#pragma once

#include <aten/native/cuda/pointwise_plan.h>

#include <cstddef>
#include <optional>

namespace at::native::cuda {

/// Operands: result, condition (bytes), self, other; elements of `size` bytes.
void launch_where(const PointwisePlan& plan, std::size_t size);
/// The same for operands of different dtypes.
void launch_where_mixed(const PointwisePlan& plan);
/// Operands: result, mask (bytes), self; `value` points to an element of `size` bytes.
void launch_masked_fill(const PointwisePlan& plan, std::size_t size, const void* value);
void launch_nextafter(const PointwisePlan& plan);
void launch_nan_to_num(
    const PointwisePlan& plan, std::optional<double> nan, std::optional<double> posinf, std::optional<double> neginf);

} // namespace at::native::cuda
