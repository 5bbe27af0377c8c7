// The CUDA runtime of an emulated device, for a plugin of translated kernels: whatever is asked of a stream is done at once. Sorting, which is CUB's on a device, is the CPU's. There are no graphs.
#include "device_memory.h"

#include <aten/Functions.h>
#include <aten/TensorOperators.h>
#include <aten/cuda/Sleep.h>
#include <aten/from_blob.h>
#include <aten/native/cuda/sort.h>

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <numeric>
#include <string>

namespace {

struct Block {
  std::size_t size;
  cudaMemoryType kind;
};

std::mutex mutex;
std::map<const char*, Block>& blocks() {
  static std::map<const char*, Block> all;
  return all;
}

cudaError_t allocate(void** memory, std::size_t size, cudaMemoryType kind) {
  constexpr std::size_t kAlignment = 512;
  *memory = kind == cudaMemoryTypeDevice ? emulated::take_device_memory(size)
                                         : std::aligned_alloc(kAlignment, (size / kAlignment + 1) * kAlignment);
  if (*memory == nullptr) {
    return cudaErrorMemoryAllocation;
  }
  const std::lock_guard<std::mutex> lock(mutex);
  blocks()[static_cast<const char*>(*memory)] = {size, kind};
  return cudaSuccess;
}

cudaError_t release(void* memory, cudaMemoryType kind) {
  {
    const std::lock_guard<std::mutex> lock(mutex);
    blocks().erase(static_cast<const char*>(memory));
  }
  kind == cudaMemoryTypeDevice ? emulated::give_device_memory_back(memory) : std::free(memory);
  return cudaSuccess;
}

/// A stream or an event: something to point to.
template <class Handle>
cudaError_t make(Handle* handle) {
  *handle = reinterpret_cast<Handle>(new char);
  return cudaSuccess;
}

constexpr cudaError_t kNone = cudaErrorNotSupported;

} // namespace

extern "C" {

cudaError_t cudaGetDeviceCount(int* count) {
  *count = 1;
  return cudaSuccess;
}
cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) {
  return device == 0 ? cudaSuccess : cudaErrorInvalidDevice;
}
cudaError_t cudaDeviceSynchronize() {
  return cudaSuccess;
}
cudaError_t cudaDeviceCanAccessPeer(int* can, int, int) {
  *can = 0;
  return cudaSuccess;
}
cudaError_t cudaDeviceEnablePeerAccess(int, unsigned) {
  return kNone;
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
  p->totalGlobalMem = std::size_t{8} << 30;
  p->warpSize = 32;
  return cudaSuccess;
}
const char* cudaGetErrorName(cudaError_t) {
  return "an error of the emulated runtime";
}
const char* cudaGetErrorString(cudaError_t) {
  return "an error of the emulated runtime";
}
cudaError_t cudaGetLastError() {
  return cudaSuccess;
}
cudaError_t cudaPeekAtLastError() {
  return cudaSuccess;
}

cudaError_t cudaMalloc(void** memory, std::size_t size) {
  return allocate(memory, size, cudaMemoryTypeDevice);
}
cudaError_t cudaHostAlloc(void** memory, std::size_t size, unsigned) {
  return allocate(memory, size, cudaMemoryTypeHost);
}
cudaError_t cudaFree(void* memory) {
  return release(memory, cudaMemoryTypeDevice);
}
cudaError_t cudaFreeHost(void* memory) {
  return release(memory, cudaMemoryTypeHost);
}
cudaError_t cudaMemGetInfo(std::size_t* left, std::size_t* all) {
  *left = std::size_t{7} << 30;
  *all = std::size_t{8} << 30;
  return cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t size, cudaMemcpyKind, cudaStream_t) {
  std::memmove(to, from, size);
  return cudaSuccess;
}
cudaError_t cudaMemcpyPeerAsync(void* to, int, const void* from, int, std::size_t size, cudaStream_t) {
  std::memmove(to, from, size);
  return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void* to, int value, std::size_t size, cudaStream_t) {
  std::memset(to, value, size);
  return cudaSuccess;
}
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  *attributes = {};
  attributes->type = cudaMemoryTypeUnregistered;
  const auto* const place = static_cast<const char*>(pointer);
  const std::lock_guard<std::mutex> lock(mutex);
  auto after = blocks().upper_bound(place);
  if (after != blocks().begin() && place < (--after)->first + after->second.size) {
    attributes->type = after->second.kind;
    attributes->devicePointer = attributes->hostPointer = const_cast<void*>(pointer);
  }
  return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  return make(event);
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete reinterpret_cast<char*>(event);
  return cudaSuccess;
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t, cudaEvent_t) {
  *milliseconds = 1;
  return cudaSuccess;
}
cudaError_t cudaEventQuery(cudaEvent_t) {
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t) {
  return cudaSuccess;
}
cudaError_t cudaEventSynchronize(cudaEvent_t) {
  return cudaSuccess;
}
cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t*, cudaEvent_t) {
  return kNone;
}
cudaError_t cudaIpcOpenEventHandle(cudaEvent_t*, cudaIpcEventHandle_t) {
  return kNone;
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned, int) {
  return make(stream);
}
cudaError_t cudaStreamGetPriority(cudaStream_t, int* priority) {
  *priority = 0;
  return cudaSuccess;
}
cudaError_t cudaStreamQuery(cudaStream_t) {
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t) {
  return cudaSuccess;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned) {
  return cudaSuccess;
}
cudaError_t cudaStreamIsCapturing(cudaStream_t, cudaStreamCaptureStatus* status) {
  *status = cudaStreamCaptureStatusNone;
  return cudaSuccess;
}
cudaError_t cudaStreamGetCaptureInfo(
    cudaStream_t, cudaStreamCaptureStatus* status, unsigned long long*, cudaGraph_t*, const cudaGraphNode_t**, const cudaGraphEdgeData**,
    std::size_t*) {
  *status = cudaStreamCaptureStatusNone;
  return cudaSuccess;
}

cudaError_t cudaStreamBeginCapture(cudaStream_t, cudaStreamCaptureMode) {
  return kNone;
}
cudaError_t cudaStreamEndCapture(cudaStream_t, cudaGraph_t*) {
  return kNone;
}
cudaError_t cudaGraphDebugDotPrint(cudaGraph_t, const char*, unsigned) {
  return kNone;
}
cudaError_t cudaGraphDestroy(cudaGraph_t) {
  return kNone;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t) {
  return kNone;
}
cudaError_t cudaGraphGetNodes(cudaGraph_t, cudaGraphNode_t*, std::size_t*) {
  return kNone;
}
cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t*, cudaGraph_t, unsigned long long) {
  return kNone;
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t, cudaStream_t) {
  return kNone;
}

} // extern "C"

namespace at::native::cuda {

namespace {

Tensor tensor_at(const void* data, IntArrayRef sizes, c10::ScalarType dtype) {
  return at::from_blob(const_cast<void*>(data), sizes, at::TensorOptions(dtype));
}

} // namespace

void launch_sort(const SortRows& p) {
  const auto [values, indices] = at::sort(tensor_at(p.in, {p.rows, p.size}, p.dtype), /*stable=*/true, 1, p.descending);
  tensor_at(p.values, {p.rows, p.size}, p.dtype).copy_(values);
  tensor_at(p.indices, {p.rows, p.size}, at::kLong).copy_(indices);
}

void launch_sort_pairs(const SortPairs& p) {
  const Tensor keys = tensor_at(p.keys_in, {p.n}, p.dtype);
  Tensor by = keys;
  if (const int bits = p.end_bit - p.begin_bit; bits < 8 * static_cast<int>(c10::elementSize(p.dtype))) {
    by = keys.to(at::kLong).bitwise_right_shift(Scalar(p.begin_bit)).bitwise_and(Scalar((std::int64_t{1} << bits) - 1));
  }
  const Tensor order = std::get<1>(at::sort(by, /*stable=*/true, 0, p.descending));
  if (p.keys_out != nullptr) {
    tensor_at(p.keys_out, {p.n}, p.dtype).copy_(keys.index_select(0, order));
  }
  if (p.value_size != 0) {
    const Tensor values = tensor_at(p.values_in, {p.n, p.value_size}, at::kByte);
    tensor_at(p.values_out, {p.n, p.value_size}, at::kByte).copy_(values.index_select(0, order));
  }
}

void launch_order_of_keys(std::uint64_t* keys, std::int64_t n, std::int64_t* order, cudaStream_t) {
  std::iota(order, order + n, 0);
  std::stable_sort(order, order + n, [&](std::int64_t a, std::int64_t b) { return keys[a] < keys[b]; });
}

void launch_find_true(const std::uint8_t* flags, std::int64_t n, std::int64_t* positions, std::int64_t* count, cudaStream_t) {
  *count = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    if (flags[i] != 0) {
      positions[(*count)++] = i;
    }
  }
}

} // namespace at::native::cuda
