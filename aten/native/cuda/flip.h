// Launches of flip and cross.
#pragma once

#include <aten/native/cuda/strided_walk.h>
#include <c10/core/ScalarType.h>

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace at::native::cuda {

/// Elements of `size` bytes from operand 1 to operand 0.
void launch_flip(const StridedLaunch<2>& walk, std::size_t size, cudaStream_t stream);

/// Operand 0 = operand 1 x operand 2: vectors of three elements, `steps` bytes apart.
void launch_cross(c10::ScalarType dtype, const StridedLaunch<3>& walk, const std::int64_t (&steps)[3], cudaStream_t stream);

} // namespace at::native::cuda
