// Properties of CUDA devices, and handles of the CUDA libraries.
#pragma once

#include <c10/core/Allocator.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/macros/Export.h>

#include <cublasLt.h>
#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <cusolverDn.h>
#include <cusparse.h>

#include <cstddef>
#include <cstdint>

namespace at::cuda {

inline int64_t getNumGPUs() {
  return c10::cuda::device_count();
}
inline bool is_available() {
  return c10::cuda::device_count() > 0;
}

TORCH_CUDA_CPP_API cudaDeviceProp* getCurrentDeviceProperties();
TORCH_CUDA_CPP_API cudaDeviceProp* getDeviceProperties(c10::DeviceIndex device);
TORCH_CUDA_CPP_API int warp_size();
TORCH_CUDA_CPP_API bool canDeviceAccessPeer(c10::DeviceIndex device, c10::DeviceIndex peer_device);

/// The caching allocator.
TORCH_CUDA_CPP_API c10::Allocator* getCUDADeviceAllocator();

// Note [cuBLAS handles]
// A handle is expensive to make and must not be used by two threads at once. So a thread takes one for each device it
// uses from a pool and gives it back when it ends. At each call here the handle is set to the current stream and given
// the workspace of that stream; a workspace of ours keeps cuBLAS from allocating, and so from waiting.

/// The calling thread's handle for the current device, set to the current stream unless `setup` is false.
TORCH_CUDA_CPP_API cublasHandle_t getCurrentCUDABlasHandle(bool setup = true);
TORCH_CUDA_CPP_API cublasLtHandle_t getCurrentCUDABlasLtHandle();

/// The calling thread's handle for the current device, set to the current stream. Opens cuSOLVER, and throws where
/// there is none.
TORCH_CUDA_CPP_API cusolverDnHandle_t getCurrentCUDASolverDnHandle();
/// The same for cuSPARSE.
TORCH_CUDA_CPP_API cusparseHandle_t getCurrentCUDASparseHandle();

/// Bytes of cuBLAS workspace for each stream: from CUBLAS_WORKSPACE_CONFIG (":SIZE:COUNT[:SIZE:COUNT...]", KiB), else
/// 32 MiB on compute capability 9, 8.1 MiB before.
TORCH_CUDA_CPP_API size_t getChosenWorkspaceSize();
/// The same for cuBLASLt, from CUBLASLT_WORKSPACE_SIZE (a number of KiB).
TORCH_CUDA_CPP_API size_t getCUDABlasLtWorkspaceSize();
/// getCUDABlasLtWorkspaceSize() bytes for the current stream, kept until clearCublasWorkspaces.
TORCH_CUDA_CPP_API void* getCUDABlasLtWorkspace();
/// Gives the workspaces of all streams back.
TORCH_CUDA_CPP_API void clearCublasWorkspaces();

} // namespace at::cuda
