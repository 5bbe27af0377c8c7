// The CUDA part of the C interface that stands under <torch/csrc/stable>: streams are cudaStream_t, handles of cuBLAS
// cublasHandle_t. Functions return TORCH_SUCCESS or TORCH_FAILURE as the others do, see <csrc/stable/shim.h>. A device
// of -1 is the current one.
#pragma once

#include <c10/cuda/CUDAMacros.h>
#include <csrc/stable/shim.h>

struct CUDAGuardOpaque;
struct CUDAStreamGuardOpaque;
using CUDAGuardHandle = CUDAGuardOpaque*;
using CUDAStreamGuardHandle = CUDAStreamGuardOpaque*;

extern "C" {

/// Makes a device current until the guard is deleted.
C10_CUDA_API AOTITorchError aoti_torch_create_cuda_guard(int32_t device_index, CUDAGuardHandle* ret_guard);
C10_CUDA_API AOTITorchError aoti_torch_delete_cuda_guard(CUDAGuardHandle guard);
C10_CUDA_API AOTITorchError aoti_torch_cuda_guard_set_index(CUDAGuardHandle guard, int32_t device_index);
/// Makes a stream of the caller's current, and its device, until the guard is deleted.
C10_CUDA_API AOTITorchError
aoti_torch_create_cuda_stream_guard(void* stream, int32_t device_index, CUDAStreamGuardHandle* ret_guard);
C10_CUDA_API AOTITorchError aoti_torch_delete_cuda_stream_guard(CUDAStreamGuardHandle guard);

C10_CUDA_API AOTITorchError aoti_torch_get_current_cuda_stream(int32_t device_index, void** ret_stream);
C10_CUDA_API AOTITorchError torch_set_current_cuda_stream(void* stream, int32_t device_index);
C10_CUDA_API AOTITorchError
torch_get_cuda_stream_from_pool(bool isHighPriority, int32_t device_index, void** ret_stream);
C10_CUDA_API AOTITorchError torch_cuda_stream_synchronize(void* stream, int32_t device_index);
/// That of the current device and stream.
C10_CUDA_API AOTITorchError torch_get_current_cuda_blas_handle(void** ret_handle);

/// Memory of the caching allocator, on the current device and stream.
C10_CUDA_API AOTITorchError aoti_torch_cuda_caching_allocator_raw_alloc(uint64_t nbytes, void** ret_ptr);
C10_CUDA_API AOTITorchError aoti_torch_cuda_caching_allocator_raw_delete(void* ptr);

/// `error_msg` becomes null for cudaSuccess, otherwise what C10_CUDA_CHECK would say, to be given to the function
/// below.
C10_CUDA_API AOTITorchError torch_c10_cuda_check_msg(
    int32_t err,
    const char* filename,
    const char* function_name,
    uint32_t line_number,
    bool include_device_assertions,
    char** error_msg);
C10_CUDA_API void torch_c10_cuda_free_error_msg(char* error_msg);

} // extern "C"
