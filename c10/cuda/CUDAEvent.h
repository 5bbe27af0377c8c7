// CUDA events as objects.
#pragma once

#include <c10/cuda/CUDAMacros.h>
#include <c10/cuda/CUDAStream.h>

#include <cuda_runtime_api.h>

#include <optional>

namespace c10::cuda {

/// A mark in a stream that other streams and the host can wait for. The runtime's event is made when it is recorded
/// first, on the stream's device. Moves, does not copy.
struct C10_CUDA_API CUDAEvent {
  CUDAEvent() noexcept = default;
  /// cudaEventDefault measures time, cudaEventDisableTiming (the default here) is cheaper.
  CUDAEvent(unsigned int flags) noexcept : flags_(flags) {}
  /// An event of another process.
  CUDAEvent(DeviceIndex device_index, const cudaIpcEventHandle_t* handle);
  CUDAEvent(CUDAEvent&& other) noexcept;
  CUDAEvent& operator=(CUDAEvent&& other) noexcept;
  CUDAEvent(const CUDAEvent&) = delete;
  CUDAEvent& operator=(const CUDAEvent&) = delete;
  ~CUDAEvent();

  operator cudaEvent_t() const {
    return event();
  }
  friend bool operator<(const CUDAEvent& left, const CUDAEvent& right) {
    return left.event_ < right.event_;
  }

  std::optional<c10::Device> device() const {
    return isCreated() ? std::make_optional(Device(DeviceType::CUDA, device_index_)) : std::nullopt;
  }
  bool isCreated() const {
    return event_ != nullptr;
  }
  DeviceIndex device_index() const {
    return device_index_;
  }
  cudaEvent_t event() const {
    return event_;
  }

  void create(DeviceIndex device_index);
  void record();
  void record(const CUDAStream& stream);
  void recordOnce(const CUDAStream& stream) {
    if (!was_recorded_) {
      record(stream);
    }
  }
  /// Work given to the stream from now on waits for the event. Nothing happens if it was never recorded.
  void block(const CUDAStream& stream);
  /// Has it happened? True if it was never recorded.
  bool query() const;
  void synchronize() const;
  /// Milliseconds from this event to the other.
  float elapsed_time(const CUDAEvent& other) const;
  /// For another process.
  void ipc_handle(cudaIpcEventHandle_t* handle);

 private:
  unsigned int flags_ = cudaEventDisableTiming;
  bool was_recorded_ = false;
  DeviceIndex device_index_ = -1;
  cudaEvent_t event_ = nullptr;
};

} // namespace c10::cuda
