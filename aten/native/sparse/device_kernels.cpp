#include <aten/native/sparse/device_kernels.h>

#include <array>
#include <atomic>

namespace at::native {

namespace {

constexpr size_t kDeviceTypes = static_cast<size_t>(c10::DeviceType::COMPILE_TIME_MAX_DEVICE_TYPES);
std::array<std::atomic<const SparseDeviceKernels*>, kDeviceTypes> registered_sparse_kernels{};

} // namespace

void register_sparse_kernels(c10::DeviceType device, const SparseDeviceKernels* kernels) {
  registered_sparse_kernels[static_cast<size_t>(device)].store(kernels, std::memory_order_release);
}

const SparseDeviceKernels* sparse_kernels(const Tensor& t) {
  const c10::DeviceType device = t.device().type();
  const SparseDeviceKernels* kernels =
      registered_sparse_kernels[static_cast<size_t>(device)].load(std::memory_order_acquire);
  TORCH_CHECK_NOT_IMPLEMENTED(
      kernels != nullptr || device == c10::DeviceType::CPU,
      "sparse tensors are on the CPU and on CUDA devices, got device ", t.device());
  return kernels;
}

} // namespace at::native
