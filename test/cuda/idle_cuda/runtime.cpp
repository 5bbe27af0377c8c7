// A CUDA runtime with a mock device (sm_90) that does nothing: launches and copies return at once, memory is addresses
// without pages until somebody writes there, events have always happened. What remains of a program's time is the
// host's own. What a copy brings to the host is zeros. No graphs.
//
// Loaded before all others (LD_PRELOAD), it stands for libcudart.so.13. The functions that are not here are made by
// idle_cuda.py; they return zero.
#include "counts.h"

#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <sys/mman.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>

IdleCudaCounts idle_cuda_counts;
IdleCudaFailures idle_cuda_failures;

namespace {

// As much as valgrind, which has 128 GiB of addresses, has room for: allocators take more than twice of it.
constexpr std::size_t kDeviceMemory = std::size_t{20} << 30;

/// Addresses for memory of one kind, given once and never again. The kernel gives pages to those that are touched.
class Arena {
 public:
  explicit Arena(std::size_t bytes) : size_(bytes), base_(reserve(bytes)) {}
  void* take(std::size_t bytes) {
    constexpr std::size_t kAlignment = std::size_t{2} << 20;
    return base_ + next_.fetch_add((bytes + kAlignment) / kAlignment * kAlignment);
  }
  bool has(const void* pointer) const {
    const auto* const place = static_cast<const char*>(pointer);
    return place >= base_ && place < base_ + size_;
  }

 private:
  static char* reserve(std::size_t bytes) {
    void* const memory =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
      std::perror("idle_cuda: mmap");
      std::abort();
    }
    return static_cast<char*>(memory);
  }
  const std::size_t size_;
  char* const base_;
  std::atomic<std::size_t> next_{0};
};

Arena& device_memory() {
  static Arena arena(3 * kDeviceMemory);
  return arena;
}
Arena& host_memory() {
  static Arena arena(std::size_t{4} << 30);
  return arena;
}

template <class Handle>
cudaError_t new_handle(Handle* handle) {
  static std::atomic<std::uintptr_t> next{0x1000};
  ++idle_cuda_counts.other_calls;
  *handle = reinterpret_cast<Handle>(next.fetch_add(16));
  return cudaSuccess;
}

cudaError_t counted(std::int64_t& count) {
  ++count;
  return cudaSuccess;
}
cudaError_t other() {
  return counted(idle_cuda_counts.other_calls);
}

/// One, or as many as IDLE_CUDA_DEVICES says.
int device_count() {
  static const int count = [] {
    const char* const wanted = std::getenv("IDLE_CUDA_DEVICES");
    return wanted != nullptr ? std::atoi(wanted) : 1;
  }();
  return count;
}
thread_local int current_device = 0;
thread_local cudaError_t last_error = cudaSuccess;

/// What the device is asked to do.
cudaError_t work(std::int64_t& count) {
  ++count;
  return static_cast<cudaError_t>(idle_cuda_failures.device);
}
/// With IDLE_CUDA_LAUNCHES each launch prints the mangled name of its kernel (c++filt reads it).
bool names_launches() {
  static const bool wanted = std::getenv("IDLE_CUDA_LAUNCHES") != nullptr;
  return wanted;
}
std::map<const void*, const char*>& kernel_names() {
  static std::map<const void*, const char*> names;
  return names;
}

cudaError_t launch(const void* function) {
  if (names_launches()) {
    const auto found = kernel_names().find(function);
    std::fprintf(stderr, "launch %s\n", found != kernel_names().end() ? found->second : "of an unknown kernel");
  }
  ++idle_cuda_counts.launches;
  last_error = static_cast<cudaError_t>(idle_cuda_failures.launch);
  return last_error;
}
cudaError_t allocate(void** memory, void* address) {
  ++idle_cuda_counts.memory_calls;
  *memory = idle_cuda_failures.memory ? nullptr : address;
  last_error = idle_cuda_failures.memory ? cudaErrorMemoryAllocation : cudaSuccess;
  return last_error;
}

cudaError_t copy(void* to, std::size_t bytes) {
  if (!device_memory().has(to)) {
    std::memset(to, 0, bytes);
  }
  return work(idle_cuda_counts.copies);
}

struct Configuration {
  dim3 grid, block;
  std::size_t shared = 0;
  void* stream = nullptr;
};
thread_local Configuration configuration;

} // namespace

extern "C" {

/// Addresses of the mock device, for the driver's functions.
void* idle_cuda_addresses(std::size_t bytes) {
  return device_memory().take(bytes);
}

// ---- what nvcc makes of <<<>>> and of a file with kernels ----------------------------------------

void** __cudaRegisterFatBinary(void*) {
  static void* handle = nullptr;
  return &handle;
}
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void**) {}
void __cudaRegisterFunction(
    void**, const char* function, char*, const char* name, int, uint3*, uint3*, dim3*, dim3*, int*) {
  if (names_launches()) {
    kernel_names()[function] = name;
  }
}
void __cudaRegisterVar() {}
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared, CUstream_st* stream) {
  configuration = {grid, block, shared, stream};
  return 0;
}
cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, std::size_t* shared, void* stream) {
  *grid = configuration.grid;
  *block = configuration.block;
  *shared = configuration.shared;
  *static_cast<void**>(stream) = configuration.stream;
  return cudaSuccess;
}
cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* function) {
  *kernel = static_cast<cudaKernel_t>(const_cast<void*>(function));
  return cudaSuccess;
}
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3, dim3, void**, std::size_t, cudaStream_t) {
  return launch(kernel);
}
cudaError_t cudaLaunchKernel(const void* function, dim3, dim3, void**, std::size_t, cudaStream_t) {
  return launch(function);
}
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t*, const void* function, void**) {
  return launch(function);
}
cudaError_t cudaLaunchCooperativeKernel(const void* function, dim3, dim3, void**, std::size_t, cudaStream_t) {
  return launch(function);
}
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void*) {
  *attributes = {};
  attributes->maxThreadsPerBlock = 1024;
  attributes->numRegs = 32;
  attributes->binaryVersion = attributes->ptxVersion = 90;
  return other();
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void*, int, std::size_t) {
  *blocks = 4;
  return other();
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int* blocks, const void*, int, std::size_t, unsigned) {
  *blocks = 4;
  return other();
}
cudaError_t cudaGetSymbolAddress(void** address, const void*) {
  *address = device_memory().take(1);
  return other();
}

// ---- devices -----------------------------------------------------------------------------------------

cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = CUDART_VERSION;
  return other();
}
cudaError_t cudaDriverGetVersion(int* version) {
  *version = CUDART_VERSION;
  return other();
}
cudaError_t cudaGetDeviceCount(int* count) {
  *count = device_count();
  return other();
}
cudaError_t cudaGetDevice(int* device) {
  *device = current_device;
  return other();
}
cudaError_t cudaSetDevice(int device) {
  ++idle_cuda_counts.other_calls;
  if (device < 0 || device >= device_count()) {
    return cudaErrorInvalidDevice;
  }
  current_device = device;
  return cudaSuccess;
}
cudaError_t cudaDeviceSynchronize() {
  return work(idle_cuda_counts.waits);
}
cudaError_t cudaDeviceCanAccessPeer(int* can, int, int) {
  *can = 0;
  return other();
}
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  *least = 0;
  *greatest = -5;
  return other();
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* p, int) {
  *p = {};
  std::strcpy(p->name, "idle device");
  p->major = 9;
  p->multiProcessorCount = 132;
  p->maxThreadsPerMultiProcessor = 2048;
  p->maxBlocksPerMultiProcessor = 32;
  p->maxThreadsPerBlock = 1024;
  for (int i = 0; i < 3; ++i) {
    p->maxThreadsDim[i] = i == 2 ? 64 : 1024;
    p->maxGridSize[i] = i == 0 ? 0x7fffffff : 65535;
  }
  p->sharedMemPerBlock = 48 << 10;
  p->sharedMemPerBlockOptin = 227 << 10;
  p->sharedMemPerMultiprocessor = 228 << 10;
  p->regsPerBlock = p->regsPerMultiprocessor = 64 << 10;
  p->l2CacheSize = 50 << 20;
  p->totalGlobalMem = kDeviceMemory;
  p->warpSize = 32;
  p->unifiedAddressing = p->managedMemory = p->concurrentKernels = p->cooperativeLaunch = 1;
  p->textureAlignment = 512;
  return other();
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  static const cudaDeviceProp properties = [&] {
    cudaDeviceProp p;
    cudaGetDeviceProperties(&p, device);
    return p;
  }();
  switch (attribute) {
    case cudaDevAttrComputeCapabilityMajor:
      *value = properties.major;
      break;
    case cudaDevAttrComputeCapabilityMinor:
      *value = properties.minor;
      break;
    case cudaDevAttrMultiProcessorCount:
      *value = properties.multiProcessorCount;
      break;
    case cudaDevAttrMaxThreadsPerBlock:
      *value = properties.maxThreadsPerBlock;
      break;
    case cudaDevAttrMaxThreadsPerMultiProcessor:
      *value = properties.maxThreadsPerMultiProcessor;
      break;
    case cudaDevAttrMaxBlocksPerMultiprocessor:
      *value = properties.maxBlocksPerMultiProcessor;
      break;
    case cudaDevAttrMaxSharedMemoryPerBlock:
      *value = static_cast<int>(properties.sharedMemPerBlock);
      break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      *value = static_cast<int>(properties.sharedMemPerBlockOptin);
      break;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
      *value = static_cast<int>(properties.sharedMemPerMultiprocessor);
      break;
    case cudaDevAttrMaxRegistersPerBlock:
      *value = properties.regsPerBlock;
      break;
    case cudaDevAttrWarpSize:
      *value = properties.warpSize;
      break;
    case cudaDevAttrMaxGridDimX:
      *value = properties.maxGridSize[0];
      break;
    case cudaDevAttrMaxGridDimY:
      *value = properties.maxGridSize[1];
      break;
    case cudaDevAttrMaxGridDimZ:
      *value = properties.maxGridSize[2];
      break;
    case cudaDevAttrL2CacheSize:
      *value = properties.l2CacheSize;
      break;
    default:
      *value = 1;
      break;
  }
  return other();
}

const char* cudaGetErrorName(cudaError_t error) {
  return error == cudaSuccess ? "cudaSuccess" : "an error of the idle runtime";
}
const char* cudaGetErrorString(cudaError_t error) {
  return error == cudaSuccess ? "no error" : "an error of the idle runtime";
}
cudaError_t cudaPeekAtLastError() {
  ++idle_cuda_counts.other_calls;
  return idle_cuda_failures.device != 0 ? static_cast<cudaError_t>(idle_cuda_failures.device) : last_error;
}
cudaError_t cudaGetLastError() {
  const cudaError_t error = cudaPeekAtLastError();
  last_error = cudaSuccess;
  return error;
}

/// The driver's functions: those of the idle driver.
cudaError_t cudaGetDriverEntryPointByVersion(
    const char* symbol, void** function, unsigned, unsigned long long, cudaDriverEntryPointQueryResult* status) {
  *function = dlsym(RTLD_DEFAULT, symbol);
  if (status != nullptr) {
    *status = *function != nullptr ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
  }
  ++idle_cuda_counts.other_calls;
  return cudaSuccess;
}

// ---- memory --------------------------------------------------------------------------------------------

cudaError_t cudaMalloc(void** memory, std::size_t size) {
  return allocate(memory, device_memory().take(size));
}
cudaError_t cudaMallocAsync(void** memory, std::size_t size, cudaStream_t) {
  return cudaMalloc(memory, size);
}
cudaError_t cudaHostAlloc(void** memory, std::size_t size, unsigned) {
  return allocate(memory, host_memory().take(size));
}
cudaError_t cudaMallocHost(void** memory, std::size_t size) {
  return cudaHostAlloc(memory, size, 0);
}
cudaError_t cudaFree(void*) {
  return counted(idle_cuda_counts.memory_calls);
}
cudaError_t cudaFreeAsync(void*, cudaStream_t) {
  return counted(idle_cuda_counts.memory_calls);
}
cudaError_t cudaFreeHost(void*) {
  return counted(idle_cuda_counts.memory_calls);
}
cudaError_t cudaMemGetInfo(std::size_t* left, std::size_t* all) {
  *left = *all = kDeviceMemory;
  return other();
}
cudaError_t cudaMemcpy(void* to, const void*, std::size_t size, cudaMemcpyKind) {
  return copy(to, size);
}
cudaError_t cudaMemcpyAsync(void* to, const void*, std::size_t size, cudaMemcpyKind, cudaStream_t) {
  return copy(to, size);
}
cudaError_t cudaMemcpyPeerAsync(void*, int, const void*, int, std::size_t, cudaStream_t) {
  return work(idle_cuda_counts.copies);
}
cudaError_t cudaMemset(void*, int, std::size_t) {
  return work(idle_cuda_counts.memsets);
}
cudaError_t cudaMemsetAsync(void*, int, std::size_t, cudaStream_t) {
  return work(idle_cuda_counts.memsets);
}
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  *attributes = {};
  const bool on_device = device_memory().has(pointer);
  attributes->type = on_device     ? cudaMemoryTypeDevice
      : host_memory().has(pointer) ? cudaMemoryTypeHost
                                   : cudaMemoryTypeUnregistered;
  attributes->devicePointer = attributes->hostPointer = const_cast<void*>(pointer);
  return other();
}

// ---- streams and events ----------------------------------------------------------------------------------

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return new_handle(stream);
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  return new_handle(stream);
}
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned, int) {
  return new_handle(stream);
}
cudaError_t cudaStreamGetPriority(cudaStream_t, int* priority) {
  *priority = 0;
  return other();
}
cudaError_t cudaStreamSynchronize(cudaStream_t) {
  return work(idle_cuda_counts.waits);
}
cudaError_t cudaStreamIsCapturing(cudaStream_t, cudaStreamCaptureStatus* status) {
  *status = cudaStreamCaptureStatusNone;
  return other();
}
cudaError_t cudaStreamGetCaptureInfo(
    cudaStream_t,
    cudaStreamCaptureStatus* status,
    unsigned long long*,
    cudaGraph_t*,
    const cudaGraphNode_t**,
    const cudaGraphEdgeData**,
    std::size_t*) {
  *status = cudaStreamCaptureStatusNone;
  return other();
}
cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return new_handle(event);
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  return new_handle(event);
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t, cudaEvent_t) {
  *milliseconds = 1;
  return other();
}
cudaError_t cudaEventSynchronize(cudaEvent_t) {
  return work(idle_cuda_counts.waits);
}

/// What the functions that are not here do. With IDLE_CUDA_TRACE it says who was called.
int idle_cuda_call(const char* name) {
  static const bool traced = std::getenv("IDLE_CUDA_TRACE") != nullptr;
  if (traced) {
    std::fprintf(stderr, "idle_cuda: %s\n", name);
  }
  ++idle_cuda_counts.other_calls;
  return 0;
}

} // extern "C"
