// Launches of cross.
#pragma once

#include <aten/native/cuda/strided_walk.h>
#include <c10/core/ScalarType.h>

#include <cuda_runtime_api.h>

#include <cstdint>

namespace at::native::cuda {

/// Operand 0 = operand 1 x operand 2: vectors of three elements, `steps` bytes apart.
void launch_cross(
    c10::ScalarType dtype, const StridedLaunch<3>& walk, const std::int64_t (&steps)[3], cudaStream_t stream);

} // namespace at::native::cuda
