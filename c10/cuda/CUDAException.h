// Failed CUDA calls as exceptions.
#pragma once

#include <c10/cuda/CUDAMacros.h>
#include <c10/macros/Macros.h>
#include <c10/util/Exception.h>

#include <cuda_runtime_api.h>

#include <cstdint>

namespace c10 {
/// A failed CUDA call; get_error_code() is its cudaError_t.
using CUDAError = AcceleratorError;
} // namespace c10

namespace c10::cuda {

/// Throws CUDAError for a code other than cudaSuccess: "CUDA error: ", what the runtime says of it, what to do. Clears
/// the runtime's last error.
C10_CUDA_API void c10_cuda_check_implementation(
    int32_t err, const char* filename, const char* function_name, uint32_t line_number, bool include_device_assertions);

/// The same as a warning.
C10_CUDA_API void c10_cuda_warn_implementation(
    int32_t err, const char* filename, const char* function_name, uint32_t line_number);

} // namespace c10::cuda

#define C10_CUDA_CHECK(EXPR)                                                                               \
  do {                                                                                                     \
    const cudaError_t c10_cuda_err_ = (EXPR);                                                              \
    if (C10_UNLIKELY(c10_cuda_err_ != cudaSuccess)) {                                                      \
      ::c10::cuda::c10_cuda_check_implementation(                                                          \
          static_cast<int32_t>(c10_cuda_err_), __FILE__, __func__, static_cast<uint32_t>(__LINE__), true); \
    }                                                                                                      \
  } while (0)

#define C10_CUDA_CHECK_WARN(EXPR)                                                                    \
  do {                                                                                               \
    const cudaError_t c10_cuda_err_ = (EXPR);                                                        \
    if (C10_UNLIKELY(c10_cuda_err_ != cudaSuccess)) {                                                \
      ::c10::cuda::c10_cuda_warn_implementation(                                                     \
          static_cast<int32_t>(c10_cuda_err_), __FILE__, __func__, static_cast<uint32_t>(__LINE__)); \
    }                                                                                                \
  } while (0)

/// Marks a call whose error the caller looks at itself.
#define C10_CUDA_ERROR_HANDLED(EXPR) EXPR

#define C10_CUDA_IGNORE_ERROR(EXPR)          \
  do {                                       \
    if ((EXPR) != cudaSuccess) {             \
      static_cast<void>(cudaGetLastError()); \
    }                                        \
  } while (0)

#define C10_CUDA_CLEAR_ERROR() static_cast<void>(cudaGetLastError())

/// After each kernel launch: did the launch itself go well? (What happens in the kernel is reported by a later call.)
#define C10_CUDA_KERNEL_LAUNCH_CHECK() C10_CUDA_CHECK(cudaGetLastError())
