// The CUDA runtime of an emulated device, for a plugin of translated kernels: devices, memory and copies; streams.cpp
// has the rest.
#include "device_memory.h"
#include "streams.h"
#include "test/cuda/emulated/submit.h"

#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>

#include <cuda_runtime_api.h>

#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

using namespace emulated;

namespace {

cudaMemoryType type_of(const void* pointer) {
  cudaPointerAttributes attributes;
  cudaPointerGetAttributes(&attributes, pointer);
  return attributes.type;
}

/// What the caching allocator takes back is overwritten when the block's stream comes to it: who uses it later is
/// wrong.
void overwrite_released_blocks() {
  namespace allocator = c10::cuda::CUDACachingAllocator;
  using Entry = allocator::TraceEntry;
  if (allocator::get()->name() != "native") {
    return;
  }
  allocator::get()->attachAllocatorTraceTracker([](const Entry& entry) {
    const c10::cuda::CUDAGuard guard(entry.device_);
    const auto stream = static_cast<cudaStream_t>(entry.stream_);
    if (entry.action_ != Entry::FREE_COMPLETED || !is_stream(stream)) {
      return;
    }
    // Blocks from outside of a graph are not its to overwrite at each launch.
    const bool of_common_pool = entry.mempool_ == c10::MempoolId_t(0, 0);
    if (!of_common_pool || !is_capturing(stream)) {
      auto* const address = reinterpret_cast<void*>(entry.addr_); // NOLINT: an address as a number
      enqueue(
          stream, [address, size = entry.size_] { std::memset(address, 0xff, size); }, Origin::kEmulator);
    }
  });
}

/// An asynchronous copy. The host's pageable memory is read before the call returns and written before it returns, as
/// in CUDA.
cudaError_t copy(void* to, const void* from, std::size_t size, cudaStream_t stream) {
  const bool from_pageable = type_of(from) == cudaMemoryTypeUnregistered,
             to_pageable = type_of(to) == cudaMemoryTypeUnregistered;
  if ((from_pageable || to_pageable) && is_capturing(stream)) {
    return invalidate_capture(stream);
  }
  if (from_pageable) {
    const auto* const bytes = static_cast<const char*>(from);
    const auto staged = std::make_shared<std::string>(bytes, bytes + size);
    const cudaError_t error = enqueue(stream, [to, staged] { std::memcpy(to, staged->data(), staged->size()); });
    return error == cudaSuccess && to_pageable ? finish(stream) : error;
  }
  const cudaError_t error = enqueue(stream, [=] { std::memmove(to, from, size); });
  return error == cudaSuccess && to_pageable ? finish(stream) : error;
}

cudaError_t allocate(void** memory, std::size_t size, cudaMemoryType type) {
  if (const cudaError_t error = refuse_while_capturing(); error != cudaSuccess) {
    return error;
  }
  *memory = take_memory(size, type, current_device());
  return *memory != nullptr ? cudaSuccess : remember(cudaErrorMemoryAllocation);
}

} // namespace

void emulator::submit(cudaStream_t stream, std::function<void()> work) {
  static std::once_flag once;
  std::call_once(once, &overwrite_released_blocks);
  C10_CUDA_CHECK(enqueue_kernel(stream, std::move(work)));
}

extern "C" {

// ---- devices
// ---------------------------------------------------------------------------------------------------------------

cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  *can = device != peer;
  return cudaSuccess;
}
cudaError_t cudaDeviceEnablePeerAccess(int, unsigned) {
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr, int) {
  *value = 0;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  *least = 0;
  *greatest = -5;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* p, int) {
  *p = {};
  std::strcpy(p->name, "emulated");
  p->major = 9;
  p->multiProcessorCount = 2;
  p->maxThreadsPerMultiProcessor = 1024;
  p->maxThreadsPerBlock = 1024;
  p->sharedMemPerBlock = 48 << 10;
  p->sharedMemPerBlockOptin = 163 << 10;
  p->totalGlobalMem = kDeviceBytes;
  p->warpSize = 32;
  return cudaSuccess;
}

const char* cudaGetErrorName(cudaError_t error) {
  switch (error) {
    case cudaErrorInvalidDevice:
      return "cudaErrorInvalidDevice";
    case cudaErrorInvalidResourceHandle:
      return "cudaErrorInvalidResourceHandle";
    case cudaErrorLaunchFailure:
      return "cudaErrorLaunchFailure";
    case cudaErrorStreamCaptureUnsupported:
      return "cudaErrorStreamCaptureUnsupported";
    case cudaErrorStreamCaptureInvalidated:
      return "cudaErrorStreamCaptureInvalidated";
    case cudaErrorStreamCaptureUnjoined:
      return "cudaErrorStreamCaptureUnjoined";
    case cudaErrorStreamCaptureIsolation:
      return "cudaErrorStreamCaptureIsolation";
    case cudaErrorStreamCaptureImplicit:
      return "cudaErrorStreamCaptureImplicit";
    case cudaErrorCapturedEvent:
      return "cudaErrorCapturedEvent";
    default:
      return "an error of the emulated runtime";
  }
}
const char* cudaGetErrorString(cudaError_t error) {
  switch (error) {
    case cudaErrorInvalidDevice:
      return "invalid device ordinal";
    case cudaErrorInvalidResourceHandle:
      return "invalid resource handle";
    case cudaErrorLaunchFailure:
      return Schedule::get().failure().c_str();
    case cudaErrorStreamCaptureUnsupported:
      return "operation not permitted when stream is capturing";
    case cudaErrorStreamCaptureInvalidated:
      return "operation failed due to a previous error during capture";
    case cudaErrorStreamCaptureUnjoined:
      return "capturing stream has unjoined work";
    case cudaErrorStreamCaptureIsolation:
      return "dependency created on uncaptured work in another stream";
    case cudaErrorStreamCaptureImplicit:
      return "operation would make the legacy stream depend on a capturing blocking stream";
    case cudaErrorCapturedEvent:
      return "operation not permitted on an event last recorded in a capturing stream";
    default:
      return "an error of the emulated runtime";
  }
}

// ---- memory
// ----------------------------------------------------------------------------------------------------------------

cudaError_t cudaMalloc(void** memory, std::size_t size) {
  return allocate(memory, size, cudaMemoryTypeDevice);
}
cudaError_t cudaHostAlloc(void** memory, std::size_t size, unsigned) {
  return allocate(memory, size, cudaMemoryTypeHost);
}
/// Waits for the device, as the real one does.
cudaError_t cudaFree(void* memory) {
  if (const cudaError_t error = refuse_while_capturing(); error != cudaSuccess) {
    return error;
  }
  finish_device();
  give_memory_back(memory);
  return cudaSuccess;
}
/// Does not wait: who gives memory back that a copy still needs is to find out.
cudaError_t cudaFreeHost(void* memory) {
  if (const cudaError_t error = refuse_while_capturing(); error != cudaSuccess) {
    return error;
  }
  give_memory_back(memory);
  return cudaSuccess;
}
cudaError_t cudaMemGetInfo(std::size_t* left, std::size_t* all) {
  *left = kDeviceBytes - device_bytes_taken(current_device());
  *all = kDeviceBytes;
  return cudaSuccess;
}
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  *attributes = {};
  attributes->type = type_of_memory(pointer, &attributes->device);
  if (attributes->type != cudaMemoryTypeUnregistered) {
    attributes->devicePointer = attributes->hostPointer = const_cast<void*>(pointer);
  }
  return cudaSuccess;
}

// ---- copies
// ----------------------------------------------------------------------------------------------------------------

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t size, cudaMemcpyKind, cudaStream_t stream) {
  return copy(to, from, size, stream);
}
cudaError_t cudaMemcpyPeerAsync(void* to, int, const void* from, int, std::size_t size, cudaStream_t stream) {
  return copy(to, from, size, stream);
}
cudaError_t cudaMemcpy(void* to, const void* from, std::size_t size, cudaMemcpyKind) {
  const cudaError_t error = copy(to, from, size, nullptr);
  return error == cudaSuccess ? finish(nullptr) : error;
}
cudaError_t cudaMemsetAsync(void* to, int value, std::size_t size, cudaStream_t stream) {
  return enqueue(stream, [=] { std::memset(to, value, size); });
}

// ---- what there is not
// -----------------------------------------------------------------------------------------------------

cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t*, cudaEvent_t) {
  return remember(cudaErrorNotSupported);
}
cudaError_t cudaIpcOpenEventHandle(cudaEvent_t*, cudaIpcEventHandle_t) {
  return remember(cudaErrorNotSupported);
}

} // extern "C"
