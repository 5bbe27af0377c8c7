// CUDA streams and each thread's current one.
#pragma once

#include <c10/core/DeviceGuard.h>
#include <c10/core/Stream.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAMacros.h>
#include <c10/util/Exception.h>

#include <cuda_runtime_api.h>

#include <cstddef>
#include <functional>
#include <iosfwd>
#include <tuple>

// Note [CUDA streams]
// Each thread has a current stream for each device; operators run on it. It begins as the default stream, which waits
// for nobody but is the same for all threads. Further streams come from pools: 32 for each device and priority, handed
// out in turn, made when first used and never destroyed; so two callers may be given the same one. A stream made
// elsewhere can be wrapped; its maker keeps it alive.

namespace c10::cuda {

/// Priorities 0 to -3; lower numbers run first. A device may know fewer.
static constexpr int max_compile_time_stream_priorities = 4;

/// A stream that is known to be a CUDA one. A name only, like Stream.
class C10_CUDA_API CUDAStream {
 public:
  enum Unchecked { UNCHECKED };

  explicit CUDAStream(Stream stream) : stream_(stream) {
    TORCH_CHECK(stream_.device_type() == DeviceType::CUDA, "Expected a CUDA stream, but got one of ", stream_.device());
  }
  explicit CUDAStream(Unchecked, Stream stream) : stream_(stream) {}

  bool operator==(const CUDAStream& other) const noexcept {
    return stream_ == other.stream_;
  }
  bool operator!=(const CUDAStream& other) const noexcept {
    return stream_ != other.stream_;
  }
  operator cudaStream_t() const {
    return stream();
  }
  operator Stream() const {
    return stream_;
  }
  Stream unwrap() const {
    return stream_;
  }

  DeviceType device_type() const {
    return DeviceType::CUDA;
  }
  DeviceIndex device_index() const {
    return stream_.device_index();
  }
  Device device() const {
    return Device(DeviceType::CUDA, device_index());
  }
  StreamId id() const {
    return stream_.id();
  }

  /// Is all work done?
  bool query() const;
  /// Waits until all work is done.
  void synchronize() const;
  /// Is its work being captured into a graph?
  bool is_capturing() const;
  int priority() const;
  /// The runtime's handle.
  cudaStream_t stream() const;

  struct c10::StreamData3 pack3() const {
    return stream_.pack3();
  }
  static CUDAStream unpack3(StreamId stream_id, DeviceIndex device_index, DeviceType device_type) {
    return CUDAStream(Stream::unpack3(stream_id, device_index, device_type));
  }
  /// (lowest, highest) priority that the current device and the pools know: (0, -3), say.
  static std::tuple<int, int> priority_range();

 private:
  Stream stream_;
};

/// The next stream of a pool. Device -1 is the current one.
C10_CUDA_API CUDAStream getStreamFromPool(const bool isHighPriority = false, DeviceIndex device = -1);
C10_CUDA_API CUDAStream getStreamFromPool(const int priority, DeviceIndex device = -1);
/// Wraps a stream made elsewhere.
C10_CUDA_API CUDAStream getStreamFromExternal(cudaStream_t ext_stream, DeviceIndex device_index);
C10_CUDA_API CUDAStream getDefaultCUDAStream(DeviceIndex device_index = -1);
C10_CUDA_API CUDAStream getCurrentCUDAStream(DeviceIndex device_index = -1);
/// For this thread, on the stream's device. Does not change the current device.
C10_CUDA_API void setCurrentCUDAStream(CUDAStream stream);

C10_CUDA_API std::ostream& operator<<(std::ostream& stream, const CUDAStream& s);

} // namespace c10::cuda

namespace std {
template <>
struct hash<c10::cuda::CUDAStream> {
  size_t operator()(c10::cuda::CUDAStream s) const noexcept {
    return std::hash<c10::Stream>{}(s.unwrap());
  }
};
} // namespace std
