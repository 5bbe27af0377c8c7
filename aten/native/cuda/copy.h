// Copies between tensors of one CUDA device.
#pragma once

#include <aten/native/cuda/pointwise_plan.h>

#include <cstddef>

namespace at {

class TensorBase;

namespace native::cuda {

/// dst = src, converted, on the current stream. Shapes broadcast; memory must not overlap.
void copy_on_device(const TensorBase& dst, const TensorBase& src);

/// Elements of `size` bytes from operand 1 to operand 0, which have the same dtype.
void launch_move(const PointwisePlan& plan, std::size_t size);
/// Elements of any two dtypes.
void launch_convert(const PointwisePlan& plan, c10::ScalarType to, c10::ScalarType from);

} // namespace native::cuda
} // namespace at
