#include <c10/cuda/CUDAFunctions.h>

#include <c10/cuda/CUDAGraphsC10Utils.h>
#include <c10/cuda/impl/AfterWait.h>

#include <dlfcn.h>

#include <algorithm>
#include <cstring>
#include <limits>

namespace c10::cuda {
namespace {

struct Discovery {
  DeviceIndex count = 0;
  std::string failure;
};

Discovery discover() {
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error == cudaSuccess && count > 0) {
    return {static_cast<DeviceIndex>(std::min<int>(count, C10_COMPILE_TIME_MAX_GPUS)), ""};
  }
  static_cast<void>(cudaGetLastError());
  if (error == cudaErrorInsufficientDriver) {
    return {0, "there is no NVIDIA driver on this machine, or it is older than the CUDA runtime of the plugin"};
  }
  return {0, error == cudaSuccess ? "the driver shows no device" : std::string(cudaGetErrorString(error))};
}

const Discovery& discovery() {
  static const Discovery found = discover();
  return found;
}

/// Where the thread means to be, though the device has no context yet; -1: where the runtime says.
thread_local DeviceIndex target_device = -1;

/// A function of the driver; null without one. The plugin does not link to it, so that it can be opened anywhere.
void* driver_function(const char* name) {
  static void* const driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
  return driver != nullptr ? dlsym(driver, name) : nullptr;
}

/// A device index from the runtime.
DeviceIndex narrow(int device) {
  TORCH_INTERNAL_ASSERT(
      device >= 0 && device <= std::numeric_limits<DeviceIndex>::max(), "the runtime gave device ", device);
  return static_cast<DeviceIndex>(device);
}

} // namespace

DeviceIndex device_count() noexcept {
  return discovery().count;
}

const std::string& device_count_failure() noexcept {
  return discovery().failure;
}

DeviceIndex device_count_ensure_non_zero() {
  TORCH_CHECK(device_count() > 0, "No CUDA GPUs are available: ", device_count_failure());
  return device_count();
}

DeviceIndex current_device() {
  DeviceIndex device = -1;
  C10_CUDA_CHECK(GetDevice(&device));
  return device;
}

void set_device(DeviceIndex device, bool force) {
  C10_CUDA_CHECK(SetDevice(device, force));
}

void device_synchronize() {
  assert_not_capturing("Waiting for a device");
  if (warning_state().get_sync_debug_mode() != SyncDebugMode::L_DISABLED) {
    warn_or_error_on_sync();
  }
  C10_CUDA_CHECK(cudaDeviceSynchronize());
  impl::after_wait();
}

cudaError_t GetDeviceCount(int* dev_count) {
  return cudaGetDeviceCount(dev_count);
}

cudaError_t GetDevice(DeviceIndex* device) {
  if (target_device >= 0) {
    *device = target_device;
    return cudaSuccess;
  }
  int current = -1;
  const cudaError_t error = cudaGetDevice(&current);
  if (error == cudaSuccess) {
    *device = narrow(current);
  }
  return error;
}

cudaError_t SetDevice(DeviceIndex device, bool force) {
  if (device < 0) {
    return cudaErrorInvalidDevice;
  }
  target_device = -1;
  int current = -1;
  if (!force) {
    const cudaError_t error = cudaGetDevice(&current);
    if (error != cudaSuccess) {
      return error;
    }
  }
  return current == device ? cudaSuccess : cudaSetDevice(device);
}

cudaError_t MaybeSetDevice(DeviceIndex device) {
  // Mostly a guard returns to where the thread already is.
  int current = -1;
  if (cudaGetDevice(&current) == cudaSuccess && current == device) {
    target_device = -1;
    return cudaSuccess;
  }
  if (hasPrimaryContext(device)) {
    return SetDevice(device);
  }
  target_device = device;
  return cudaSuccess;
}

DeviceIndex ExchangeDevice(DeviceIndex device) {
  const DeviceIndex before = current_device();
  // An intention to be there is not yet being there.
  if (device >= 0 && (device != before || target_device >= 0)) {
    set_device(device);
  }
  return before;
}

DeviceIndex MaybeExchangeDevice(DeviceIndex device) {
  const DeviceIndex before = current_device();
  if (device >= 0 && device != before) {
    C10_CUDA_CHECK(MaybeSetDevice(device));
  }
  return before;
}

void SetTargetDevice() {
  if (target_device >= 0) {
    set_device(target_device);
  }
}

bool hasPrimaryContext(DeviceIndex device_index) {
  TORCH_CHECK(
      device_index >= 0 && device_index < device_count(),
      "hasPrimaryContext expects a valid device index, but got device_index=", static_cast<int>(device_index),
      "; there are ", static_cast<int>(device_count()), " devices");
  // int cuDevicePrimaryCtxGetState(CUdevice, unsigned int* flags, int* active); a CUdevice is its number.
  using GetState = int (*)(int, unsigned int*, int*);
  static const auto get_state = reinterpret_cast<GetState>(driver_function("cuDevicePrimaryCtxGetState"));
  unsigned int flags = 0;
  int active = 0;
  return get_state != nullptr && get_state(device_index, &flags, &active) == 0 && active != 0;
}

std::optional<DeviceIndex> getDeviceIndexWithPrimaryContext() {
  if (device_count() == 0) {
    return std::nullopt;
  }
  const DeviceIndex current = current_device();
  if (hasPrimaryContext(current)) {
    return current;
  }
  for (DeviceIndex device = 0; device < device_count(); ++device) {
    if (hasPrimaryContext(device)) {
      return device;
    }
  }
  return std::nullopt;
}

WarningState& warning_state() {
  static WarningState state;
  return state;
}

void warn_or_error_on_sync() {
  switch (warning_state().get_sync_debug_mode()) {
    case SyncDebugMode::L_ERROR:
      TORCH_CHECK(false, "called a synchronizing CUDA operation");
    case SyncDebugMode::L_WARN:
      TORCH_WARN("called a synchronizing CUDA operation");
      break;
    case SyncDebugMode::L_DISABLED:
      break;
  }
}

void memcpy_and_sync(void* dst, const void* src, int64_t nbytes, cudaMemcpyKind kind, cudaStream_t stream) {
  assert_not_capturing("Copying and waiting for it");
  TORCH_INTERNAL_ASSERT(nbytes >= 0);
  C10_CUDA_CHECK(cudaMemcpyAsync(dst, src, static_cast<size_t>(nbytes), kind, stream));
  stream_synchronize(stream);
}

void stream_synchronize(cudaStream_t stream) {
  assert_not_capturing("Waiting for a stream");
  if (warning_state().get_sync_debug_mode() != SyncDebugMode::L_DISABLED) {
    warn_or_error_on_sync();
  }
  C10_CUDA_CHECK(cudaStreamSynchronize(stream));
  impl::after_wait();
}

} // namespace c10::cuda
