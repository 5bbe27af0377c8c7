// What of the driver's interface the plugin looks up in libcuda.so.1: the context of a device, and memory behind
// reserved addresses.
#include "device_memory.h"
#include "streams.h"

#include <cuda.h>

#include <cstdint>
#include <map>
#include <mutex>

namespace {

std::mutex mutex;
struct Pages {
  std::size_t size;
  int device;
};
/// What a handle stands for; the memory is taken when it is mapped.
std::map<CUmemGenericAllocationHandle, Pages>& handles() {
  static auto* const all = new std::map<CUmemGenericAllocationHandle, Pages>();
  return *all;
}

void* pointer(CUdeviceptr address) {
  return reinterpret_cast<void*>(address); // NOLINT: an address as a number
}

} // namespace

extern "C" {

CUresult cuDevicePrimaryCtxGetState(CUdevice, unsigned* flags, int* active) {
  *flags = 0;
  *active = 1;
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice) {
  *value = attribute == CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED ? 1 : 0;
  return CUDA_SUCCESS;
}
CUresult cuGetErrorString(CUresult, const char** text) {
  *text = "an error of the emulated driver";
  return CUDA_SUCCESS;
}

CUresult cuMemGetAllocationGranularity(
    std::size_t* bytes, const CUmemAllocationProp*, CUmemAllocationGranularity_flags) {
  *bytes = std::size_t{2} << 20;
  return CUDA_SUCCESS;
}
CUresult cuMemAddressReserve(CUdeviceptr* address, std::size_t size, std::size_t, CUdeviceptr, unsigned long long) {
  *address = reinterpret_cast<CUdeviceptr>(emulated::reserve_addresses(size));
  return *address != 0 ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}
CUresult cuMemAddressFree(CUdeviceptr address, std::size_t size) {
  emulated::release_addresses(pointer(address), size);
  return CUDA_SUCCESS;
}
CUresult cuMemCreate(
    CUmemGenericAllocationHandle* handle, std::size_t size, const CUmemAllocationProp* p, unsigned long long) {
  if (emulated::refuse_while_capturing() != cudaSuccess) {
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  }
  static CUmemGenericAllocationHandle made = 0;
  const std::lock_guard<std::mutex> lock(mutex);
  *handle = ++made;
  handles()[*handle] = {size, p->location.id};
  return CUDA_SUCCESS;
}
CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
  const std::lock_guard<std::mutex> lock(mutex);
  return handles().erase(handle) == 1 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
CUresult cuMemMap(
    CUdeviceptr address,
    std::size_t size,
    std::size_t offset,
    CUmemGenericAllocationHandle handle,
    unsigned long long) {
  const std::lock_guard<std::mutex> lock(mutex);
  const auto found = handles().find(handle);
  if (found == handles().end() || found->second.size != size || offset != 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  return emulated::take_pages(pointer(address), size, found->second.device) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}
/// Does not wait for the device: whoever unmaps has waited.
CUresult cuMemUnmap(CUdeviceptr address, std::size_t size) {
  emulated::give_pages_back(pointer(address), size);
  return CUDA_SUCCESS;
}
CUresult cuMemSetAccess(CUdeviceptr, std::size_t, const CUmemAccessDesc*, std::size_t) {
  return CUDA_SUCCESS;
}

} // extern "C"
