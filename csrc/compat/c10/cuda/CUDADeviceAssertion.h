#pragma once

#include <c10/macros/Macros.h>
#include <csrc/compat/c10/cuda/CUDADeviceAssertionHost.h>

/// An assertion within a kernel that takes TORCH_DSA_KERNEL_ARGS.
#define CUDA_KERNEL_ASSERT2(condition) CUDA_KERNEL_ASSERT(condition)
