#include <c10/cuda/CUDAStream.h>

#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/impl/StreamId.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <ostream>

namespace c10::cuda {
namespace {

using impl::kStreamPriorities;
using impl::kStreamsPerPool;
static_assert(max_compile_time_stream_priorities == kStreamPriorities);

/// The pool of one priority on one device. Streams are made when first asked for.
struct Pool {
  std::array<std::atomic<cudaStream_t>, kStreamsPerPool> streams{};
  std::atomic<uint32_t> next{0};
};

Pool& pool(DeviceIndex device, int priority) {
  // Static: constant-initialised and never destroyed, like the streams.
  static constinit Pool pools[C10_COMPILE_TIME_MAX_GPUS][kStreamPriorities];
  return pools[device][priority];
}

cudaStream_t pool_handle(DeviceIndex device, impl::PoolStream which) {
  std::atomic<cudaStream_t>& slot = pool(device, which.priority).streams[static_cast<size_t>(which.index)];
  if (cudaStream_t made = slot.load(std::memory_order_acquire); C10_LIKELY(made != nullptr)) {
    return made;
  }
  static std::mutex mutex;
  const std::lock_guard<std::mutex> lock(mutex);
  cudaStream_t stream = slot.load(std::memory_order_acquire);
  if (stream == nullptr) {
    const CUDAGuard guard(device);
    C10_CUDA_CHECK(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, -which.priority));
    slot.store(stream, std::memory_order_release);
  }
  return stream;
}

/// Ids of this thread's current streams; zero is the default stream.
thread_local constinit std::array<StreamId, C10_COMPILE_TIME_MAX_GPUS> current_streams{};

DeviceIndex checked_device(DeviceIndex device) {
  if (device == -1) {
    return current_device();
  }
  device_count_ensure_non_zero();
  TORCH_CHECK(
      device >= 0 && device < device_count(), "Device index value ", static_cast<int>(device),
      " is out of index range [0, ", static_cast<int>(device_count()), ")");
  return device;
}

CUDAStream named(DeviceIndex device, StreamId id) {
  return CUDAStream(CUDAStream::UNCHECKED, Stream(Stream::UNSAFE, Device(DeviceType::CUDA, device), id));
}

} // namespace

cudaStream_t CUDAStream::stream() const {
  const StreamId id = stream_.id();
  if (id == impl::kDefaultStreamId) {
    return nullptr;
  }
  if (!impl::is_pool_stream(id)) {
    return static_cast<cudaStream_t>(impl::external_stream(id));
  }
  TORCH_CHECK(
      impl::is_valid_pool_stream(id), "Unrecognized stream ", stream_, " (its id is none that CUDA streams have)");
  return pool_handle(checked_device(device_index()), impl::pool_stream(id));
}

bool CUDAStream::query() const {
  const CUDAGuard guard(device());
  const cudaError_t error = cudaStreamQuery(stream());
  if (error == cudaErrorNotReady) {
    static_cast<void>(cudaGetLastError());
    return false;
  }
  C10_CUDA_CHECK(error);
  return true;
}

void CUDAStream::synchronize() const {
  const CUDAGuard guard(device());
  stream_synchronize(stream());
}

bool CUDAStream::is_capturing() const {
  const CUDAGuard guard(device());
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  C10_CUDA_CHECK(cudaStreamIsCapturing(stream(), &status));
  return status != cudaStreamCaptureStatusNone;
}

int CUDAStream::priority() const {
  const CUDAGuard guard(device());
  int priority = 0;
  C10_CUDA_CHECK(cudaStreamGetPriority(stream(), &priority));
  return priority;
}

std::tuple<int, int> CUDAStream::priority_range() {
  int least = 0;
  int greatest = 0;
  C10_CUDA_CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  return {least, std::max(greatest, 1 - kStreamPriorities)};
}

CUDAStream getStreamFromPool(const int priority, DeviceIndex device) {
  TORCH_CHECK(priority <= 0, "Expected cuda stream priority to be less than or equal to 0, got ", priority);
  const DeviceIndex index = checked_device(device);
  const int which = std::min(-priority, kStreamPriorities - 1);
  const uint32_t turn = pool(index, which).next.fetch_add(1, std::memory_order_relaxed);
  const impl::PoolStream stream{which, static_cast<int>(turn % kStreamsPerPool)};
  pool_handle(index, stream);
  return named(index, impl::pool_stream_id(stream));
}

CUDAStream getStreamFromPool(const bool isHighPriority, DeviceIndex device) {
  return getStreamFromPool(isHighPriority ? 1 - kStreamPriorities : 0, device);
}

CUDAStream getStreamFromExternal(cudaStream_t ext_stream, DeviceIndex device_index) {
  return named(checked_device(device_index), impl::external_stream_id(ext_stream));
}

CUDAStream getDefaultCUDAStream(DeviceIndex device_index) {
  return named(checked_device(device_index), impl::kDefaultStreamId);
}

CUDAStream getCurrentCUDAStream(DeviceIndex device_index) {
  const DeviceIndex device = checked_device(device_index);
  return named(device, current_streams[static_cast<size_t>(device)]);
}

void setCurrentCUDAStream(CUDAStream stream) {
  current_streams[static_cast<size_t>(checked_device(stream.device_index()))] = stream.id();
}

std::ostream& operator<<(std::ostream& stream, const CUDAStream& s) {
  return stream << s.unwrap();
}

} // namespace c10::cuda
