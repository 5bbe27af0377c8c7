#pragma once

#include <aten/cuda/CUDAContext.h>

#include <cfloat> // FLT_MIN, which kernels of programs use without naming it

// Code of programs within at::native that says cuda::getCurrentCUDAStream() means at::cuda, whatever at::native::cuda
// has.
namespace at::native::cuda {
using namespace at::cuda;
} // namespace at::native::cuda
