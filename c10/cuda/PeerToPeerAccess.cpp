#include <c10/cuda/PeerToPeerAccess.h>

#include <c10/cuda/CUDACachingAllocator.h>

#include <atomic>
#include <mutex>

namespace c10::cuda {
namespace {

enum class Access : int8_t { kUnknown, kNo, kYes };

constinit std::atomic<Access> known[C10_COMPILE_TIME_MAX_GPUS][C10_COMPILE_TIME_MAX_GPUS];

} // namespace

bool get_p2p_access(DeviceIndex source_dev, DeviceIndex dest_dev) {
  const DeviceIndex count = device_count_ensure_non_zero();
  TORCH_CHECK(source_dev >= 0 && source_dev < count, static_cast<int>(source_dev), " is not a device");
  TORCH_CHECK(dest_dev >= 0 && dest_dev < count, static_cast<int>(dest_dev), " is not a device");
  if (source_dev == dest_dev) {
    return true;
  }
  std::atomic<Access>& access = known[source_dev][dest_dev];
  if (const Access found = access.load(std::memory_order_acquire); found != Access::kUnknown) {
    return found == Access::kYes;
  }
  static std::mutex mutex;
  const std::lock_guard<std::mutex> lock(mutex);
  if (access.load(std::memory_order_acquire) == Access::kUnknown) {
    int possible = 0;
    C10_CUDA_CHECK(cudaDeviceCanAccessPeer(&possible, source_dev, dest_dev));
    if (possible != 0) {
      CUDACachingAllocator::enablePeerAccess(source_dev, dest_dev);
    }
    access.store(possible != 0 ? Access::kYes : Access::kNo, std::memory_order_release);
  }
  return access.load(std::memory_order_acquire) == Access::kYes;
}

} // namespace c10::cuda
