// What the CPU library asks of this plugin. Loading registers; nothing here touches a device before it is called.
#include <aten/core/random.h>
#include <aten/cuda/CUDAContextLight.h>
#include <aten/cuda/CUDAGeneratorImpl.h>
#include <aten/cuda/Libraries.h>
#include <aten/cuda/default_generators.h>
#include <aten/detail/CUDAHooksInterface.h>
#include <c10/cuda/CUDAGuard.h>

namespace at::cuda {
namespace {

struct CUDAHooks final : at::CUDAHooksInterface {
  int64_t device_count() const override {
    return c10::cuda::device_count();
  }
  std::string unavailable_reason() const override {
    return c10::cuda::device_count_failure();
  }
  bool has_cudnn() const override {
    return has_library(Library::cuDNN);
  }
  int64_t current_device() const override {
    return c10::cuda::current_device();
  }
  void manual_seed(uint64_t seed) const override {
    Generator generator = detail::getDefaultCUDAGenerator();
    const std::lock_guard<std::mutex> lock(generator.mutex());
    generator.set_current_seed(seed);
  }
  void manual_seed_all(uint64_t seed) const override {
    detail::seed_all_default_generators(seed);
  }
  void synchronize(int64_t device_index) const override {
    const int64_t count = c10::cuda::device_count_ensure_non_zero();
    TORCH_CHECK(
        device_index >= -1 && device_index < count, "Device index out of range: ", device_index, ", there are ", count,
        " CUDA devices");
    const c10::cuda::CUDAGuard guard(static_cast<c10::DeviceIndex>(device_index));
    c10::cuda::device_synchronize();
  }
  const Generator& default_generator(int64_t device_index) const override {
    return detail::getDefaultCUDAGenerator(static_cast<DeviceIndex>(device_index));
  }
  Generator new_generator(int64_t device_index) const override {
    return detail::createCUDAGenerator(static_cast<DeviceIndex>(device_index));
  }
};

[[maybe_unused]] const bool registered = [] {
  at::detail::register_cuda_hooks(new CUDAHooks());
  at::detail::register_device_seeding(&detail::seed_all_default_generators);
  return true;
}();

} // namespace
} // namespace at::cuda
