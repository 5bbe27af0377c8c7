// Kernels whose failed assertions are told apart by launch. Here an assertion stops the kernel as CUDA_KERNEL_ASSERT
// does, and nothing more is recorded: the two arguments that such kernels have in addition are null.
#pragma once

#include <c10/cuda/CUDAException.h>

#include <cstdint>

namespace c10::cuda {
struct DeviceAssertionsData;
} // namespace c10::cuda

/// The last parameters of a kernel, and their names for the functions that it calls.
#define TORCH_DSA_KERNEL_ARGS \
  [[maybe_unused]] c10::cuda::DeviceAssertionsData *const assertions_data, [[maybe_unused]] uint32_t assertion_caller_id
#define TORCH_DSA_KERNEL_ARGS_PASS assertions_data, assertion_caller_id

/// Launches such a kernel and checks the launch.
#define TORCH_DSA_KERNEL_LAUNCH(kernel, blocks, threads, shared_mem, stream, ...)                       \
  do {                                                                                                  \
    (kernel)<<<blocks, threads, shared_mem, stream>>>(                                                  \
        __VA_ARGS__, static_cast<c10::cuda::DeviceAssertionsData*>(nullptr), static_cast<uint32_t>(0)); \
    C10_CUDA_KERNEL_LAUNCH_CHECK();                                                                     \
  } while (0)
