// Guards that make a CUDA device or stream current until they go out of scope. The generic ones of
// <c10/core/DeviceGuard.h> do the same for a device whose type is known at run time only; these save the virtual calls.
#pragma once

#include <c10/core/impl/InlineDeviceGuard.h>
#include <c10/core/impl/InlineStreamGuard.h>
#include <c10/cuda/impl/CUDAGuardImpl.h>

#include <optional>
#include <vector>

namespace c10::cuda {

/// Makes a device current.
struct CUDAGuard {
  explicit CUDAGuard() = delete;
  explicit CUDAGuard(DeviceIndex device_index) : guard_(device_index) {}
  explicit CUDAGuard(Device device) : guard_(device) {}

  void set_device(Device device) {
    guard_.set_device(device);
  }
  void reset_device(Device device) {
    guard_.reset_device(device);
  }
  void set_index(DeviceIndex device_index) {
    guard_.set_index(device_index);
  }
  Device original_device() const {
    return guard_.original_device();
  }
  Device current_device() const {
    return guard_.current_device();
  }

 private:
  c10::impl::InlineDeviceGuard<impl::CUDAGuardImpl> guard_;
};

/// The same, but does nothing until it is given a device.
struct OptionalCUDAGuard {
  explicit OptionalCUDAGuard() = default;
  explicit OptionalCUDAGuard(std::optional<Device> device_opt) : guard_(device_opt) {}
  explicit OptionalCUDAGuard(std::optional<DeviceIndex> device_index_opt) : guard_(device_index_opt) {}

  void set_device(Device device) {
    guard_.set_device(device);
  }
  void reset_device(Device device) {
    guard_.reset_device(device);
  }
  void set_index(DeviceIndex device_index) {
    guard_.set_index(device_index);
  }
  std::optional<Device> original_device() const {
    return guard_.original_device();
  }
  std::optional<Device> current_device() const {
    return guard_.current_device();
  }
  /// Restores the device now.
  void reset() {
    guard_.reset();
  }

 private:
  c10::impl::InlineOptionalDeviceGuard<impl::CUDAGuardImpl> guard_;
};

/// Makes a stream and its device current.
struct CUDAStreamGuard {
  explicit CUDAStreamGuard() = delete;
  explicit CUDAStreamGuard(Stream stream) : guard_(stream) {}

  void reset_stream(Stream stream) {
    guard_.reset_stream(stream);
  }
  CUDAStream original_stream() const {
    return CUDAStream(CUDAStream::UNCHECKED, guard_.original_stream());
  }
  CUDAStream current_stream() const {
    return CUDAStream(CUDAStream::UNCHECKED, guard_.current_stream());
  }
  Device current_device() const {
    return guard_.current_device();
  }
  Device original_device() const {
    return guard_.original_device();
  }

 private:
  c10::impl::InlineStreamGuard<impl::CUDAGuardImpl> guard_;
};

/// The same, but does nothing until it is given a stream.
struct OptionalCUDAStreamGuard {
  explicit OptionalCUDAStreamGuard() = default;
  explicit OptionalCUDAStreamGuard(Stream stream) : guard_(stream) {}
  explicit OptionalCUDAStreamGuard(std::optional<Stream> stream_opt) : guard_(stream_opt) {}

  void reset_stream(Stream stream) {
    guard_.reset_stream(stream);
  }
  std::optional<CUDAStream> original_stream() const {
    return as_cuda(guard_.original_stream());
  }
  std::optional<CUDAStream> current_stream() const {
    return as_cuda(guard_.current_stream());
  }
  /// Restores stream and device now.
  void reset() {
    guard_.reset();
  }

 private:
  static std::optional<CUDAStream> as_cuda(std::optional<Stream> stream) {
    return stream ? std::make_optional(CUDAStream(CUDAStream::UNCHECKED, *stream)) : std::nullopt;
  }

  c10::impl::InlineOptionalStreamGuard<impl::CUDAGuardImpl> guard_;
};

/// Makes several streams current, each on its device. The current device stays.
struct CUDAMultiStreamGuard {
  explicit CUDAMultiStreamGuard(ArrayRef<CUDAStream> streams) : guard_(unwrap(streams)) {}

 private:
  static std::vector<Stream> unwrap(ArrayRef<CUDAStream> streams) {
    return std::vector<Stream>(streams.begin(), streams.end());
  }

  c10::impl::InlineMultiStreamGuard<impl::CUDAGuardImpl> guard_;
};

} // namespace c10::cuda
