// How guards, streams and events of the core work on CUDA devices.
#pragma once

#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAStream.h>

namespace c10::cuda::impl {

struct C10_CUDA_API CUDAGuardImpl final : public c10::impl::DeviceGuardImplInterface {
  static constexpr DeviceType static_type = DeviceType::CUDA;

  CUDAGuardImpl() = default;
  explicit CUDAGuardImpl(DeviceType t) {
    TORCH_CHECK(t == DeviceType::CUDA, "CUDAGuardImpl is for CUDA devices, but got ", t);
  }

  DeviceType type() const override {
    return DeviceType::CUDA;
  }
  Device exchangeDevice(Device d) const override {
    check_type(d);
    return Device(DeviceType::CUDA, ExchangeDevice(d.index()));
  }
  Device getDevice() const override {
    return Device(DeviceType::CUDA, current_device());
  }
  void setDevice(Device d) const override {
    check_type(d);
    set_device(d.index());
  }
  void uncheckedSetDevice(Device d) const noexcept override;

  Stream getStream(Device d) const override {
    return getCurrentCUDAStream(d.index()).unwrap();
  }
  Stream getDefaultStream(Device d) const override {
    return getDefaultCUDAStream(d.index()).unwrap();
  }
  Stream getNewStream(Device d, int priority = 0) const override {
    return getStreamFromPool(priority, d.index()).unwrap();
  }
  Stream getStreamFromGlobalPool(Device d, bool isHighPriority = false) const override {
    return getStreamFromPool(isHighPriority, d.index()).unwrap();
  }
  Stream exchangeStream(Stream s) const override;
  void* getStreamNativeHandle(const Stream s) const override;
  bool queryStream(const Stream& stream) const override;
  void synchronizeStream(const Stream& stream) const override;
  bool isStreamCapturing(const Stream& stream) const override;

  void record(void** event, const Stream& stream, const DeviceIndex device_index, const EventFlag flag) const override;
  void block(void* event, const Stream& stream) const override;
  bool queryEvent(void* event) const override;
  void synchronizeEvent(void* event) const override;
  void destroyEvent(void* event, const DeviceIndex device_index) const noexcept override;
  double elapsedTime(void* event1, void* event2, const DeviceIndex device_index) const override;

  DeviceIndex deviceCount() const noexcept override {
    return device_count();
  }
  void synchronizeDevice(const DeviceIndex device_index) const override;
  void recordDataPtrOnStream(const c10::DataPtr& data, const Stream& stream) const override;

 private:
  static void check_type(Device d) {
    TORCH_CHECK(d.is_cuda(), "Expected a CUDA device, but got ", d);
  }
};

} // namespace c10::cuda::impl
