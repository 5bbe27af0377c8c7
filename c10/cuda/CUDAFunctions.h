// Devices: how many, which is current, waiting for them.
#pragma once

#include <c10/core/Device.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAMacros.h>

#include <cuda_runtime_api.h>

#include <cstdint>
#include <optional>
#include <string>

namespace c10::cuda {

/// Number of devices; 0 without a driver. Asked once.
C10_CUDA_API DeviceIndex device_count() noexcept;
/// Why device_count() is 0; empty when it is not.
C10_CUDA_API const std::string& device_count_failure() noexcept;
/// Throws, saying why, when there is no device.
C10_CUDA_API DeviceIndex device_count_ensure_non_zero();

C10_CUDA_API DeviceIndex current_device();
C10_CUDA_API void set_device(DeviceIndex device, bool force = false);
/// Waits for all work of the current device.
C10_CUDA_API void device_synchronize();

// The same as codes. Making a device current also makes its context (hundreds of MiB of its memory), so a guard that
// only returns to a device nobody has used yet keeps that as this thread's intention; it counts as the current device.
C10_CUDA_API cudaError_t GetDeviceCount(int* dev_count);
C10_CUDA_API cudaError_t GetDevice(DeviceIndex* device);
C10_CUDA_API cudaError_t SetDevice(DeviceIndex device, bool force = false);
/// SetDevice if the device has a context already, else remembers the intention.
C10_CUDA_API cudaError_t MaybeSetDevice(DeviceIndex device);
/// Makes a device current (-1: leaves it); returns the one before.
C10_CUDA_API DeviceIndex ExchangeDevice(DeviceIndex device);
C10_CUDA_API DeviceIndex MaybeExchangeDevice(DeviceIndex device);
/// Carries out this thread's intention.
C10_CUDA_API void SetTargetDevice();

/// Has anybody in this process used the device?
C10_CUDA_API bool hasPrimaryContext(DeviceIndex device_index);
C10_CUDA_API std::optional<DeviceIndex> getDeviceIndexWithPrimaryContext();

/// What to do when a program waits for a device where it could go on (a copy to the host, item()).
enum class SyncDebugMode { L_DISABLED = 0, L_WARN, L_ERROR };

class C10_CUDA_API WarningState {
 public:
  void set_sync_debug_mode(SyncDebugMode mode) {
    sync_debug_mode_ = mode;
  }
  SyncDebugMode get_sync_debug_mode() const {
    return sync_debug_mode_;
  }

 private:
  SyncDebugMode sync_debug_mode_ = SyncDebugMode::L_DISABLED;
};

C10_CUDA_API WarningState& warning_state();
/// Warns or throws as the mode says.
C10_CUDA_API void warn_or_error_on_sync();

C10_CUDA_API void memcpy_and_sync(void* dst, const void* src, int64_t nbytes, cudaMemcpyKind kind, cudaStream_t stream);
C10_CUDA_API void stream_synchronize(cudaStream_t stream);

} // namespace c10::cuda
