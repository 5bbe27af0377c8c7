#include <aten/cuda/CUDAContextLight.h>

#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAGuard.h>

#include <array>
#include <memory>
#include <mutex>

namespace at::cuda {

cudaDeviceProp* getDeviceProperties(c10::DeviceIndex device) {
  struct Slot {
    std::once_flag once;
    cudaDeviceProp properties{};
  };
  // Asking the driver takes milliseconds.
  static auto* const known = new std::array<Slot, C10_COMPILE_TIME_MAX_GPUS>();
  const c10::DeviceIndex count = c10::cuda::device_count_ensure_non_zero();
  if (device == -1) {
    device = c10::cuda::current_device();
  }
  TORCH_CHECK(
      device >= 0 && device < count, "device=", static_cast<int>(device), ", num_gpus=", static_cast<int>(count));
  Slot& slot = (*known)[static_cast<size_t>(device)];
  std::call_once(slot.once, [&] { C10_CUDA_CHECK(cudaGetDeviceProperties(&slot.properties, device)); });
  return &slot.properties;
}

cudaDeviceProp* getCurrentDeviceProperties() {
  return getDeviceProperties(c10::cuda::current_device());
}

int warp_size() {
  return getCurrentDeviceProperties()->warpSize;
}

bool canDeviceAccessPeer(c10::DeviceIndex device, c10::DeviceIndex peer_device) {
  const c10::DeviceIndex count = c10::cuda::device_count_ensure_non_zero();
  const auto check = [&](const char* name, c10::DeviceIndex index) {
    TORCH_CHECK(
        index >= 0 && index < count, name, "=", static_cast<int>(index), ", num_gpus=", static_cast<int>(count));
  };
  check("device", device);
  check("peer_device", peer_device);
  int possible = 0;
  C10_CUDA_CHECK(cudaDeviceCanAccessPeer(&possible, device, peer_device));
  return possible != 0;
}

c10::Allocator* getCUDADeviceAllocator() {
  return c10::cuda::CUDACachingAllocator::get();
}

} // namespace at::cuda
