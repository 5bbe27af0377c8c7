// The driver's functions that allocators ask for, on the mock device: pages are there from the start.
#include "counts.h"

#include <cuda.h>

extern "C" {

void* idle_cuda_addresses(std::size_t bytes);

CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute, CUdevice) {
  *value = 1;
  return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxGetState(CUdevice, unsigned* flags, int* active) {
  *flags = 0;
  *active = 1;
  return CUDA_SUCCESS;
}
CUresult cuCtxGetCurrent(CUcontext* context) {
  *context = reinterpret_cast<CUcontext>(0x1000);
  return CUDA_SUCCESS;
}
CUresult cuGetErrorString(CUresult, const char** text) {
  *text = "an error of the idle driver";
  return CUDA_SUCCESS;
}
CUresult cuMemGetAllocationGranularity(
    std::size_t* granularity, const CUmemAllocationProp*, CUmemAllocationGranularity_flags) {
  *granularity = std::size_t{2} << 20;
  return CUDA_SUCCESS;
}
CUresult cuMemAddressReserve(CUdeviceptr* address, std::size_t bytes, std::size_t, CUdeviceptr, unsigned long long) {
  *address = reinterpret_cast<CUdeviceptr>(idle_cuda_addresses(bytes));
  return CUDA_SUCCESS;
}
CUresult cuMemCreate(
    CUmemGenericAllocationHandle* handle, std::size_t, const CUmemAllocationProp*, unsigned long long) {
  *handle = 1;
  ++idle_cuda_counts.memory_calls;
  return idle_cuda_failures.memory ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
}

} // extern "C"
