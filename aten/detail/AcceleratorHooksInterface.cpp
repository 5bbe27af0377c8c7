#include <aten/detail/AcceleratorHooksInterface.h>

#include <aten/core/pinned_memory.h>
#include <aten/detail/CUDAHooksInterface.h>
#include <aten/detail/PrivateUse1HooksInterface.h>
#include <c10/util/Exception.h>

namespace at {
namespace {

[[noreturn]] void not_implemented(const char* what) {
  TORCH_CHECK_NOT_IMPLEMENTED(
      false, "The backend does not implement ", what, "() of at::AcceleratorHooksInterface, which this call needs.");
}

/// The CUDA plugin, seen as an accelerator like others.
struct CudaAccelerator final : AcceleratorHooksInterface {
  bool isBuilt() const override {
    return isAvailable();
  }
  bool isAvailable() const override {
    return deviceCount() > 0;
  }
  bool hasPrimaryContext(c10::DeviceIndex) const override {
    return isAvailable();
  }
  void init() const override {
    detail::require_cuda("initialize CUDA");
  }
  c10::DeviceIndex deviceCount() const override {
    return static_cast<c10::DeviceIndex>(detail::getCUDAHooks().device_count());
  }
  c10::DeviceIndex getCurrentDevice() const override {
    return static_cast<c10::DeviceIndex>(detail::getCUDAHooks().current_device());
  }
  const Generator& getDefaultGenerator(c10::DeviceIndex device_index) const override {
    return detail::getCUDAHooks().default_generator(device_index);
  }
  Generator getNewGenerator(c10::DeviceIndex device_index) const override {
    return detail::getCUDAHooks().new_generator(device_index);
  }
  bool isPinnedPtr(const void* data) const override {
    return detail::is_pinned_memory(c10::DeviceType::CUDA, data);
  }
  c10::Allocator* getPinnedMemoryAllocator() const override {
    return detail::pinned_memory_allocator();
  }
};

} // namespace

bool AcceleratorHooksInterface::hasPrimaryContext(c10::DeviceIndex) const {
  not_implemented("hasPrimaryContext");
}
void AcceleratorHooksInterface::init() const {
  not_implemented("init");
}
void AcceleratorHooksInterface::setCurrentDevice(c10::DeviceIndex) const {
  not_implemented("setCurrentDevice");
}
c10::DeviceIndex AcceleratorHooksInterface::getCurrentDevice() const {
  not_implemented("getCurrentDevice");
}
c10::DeviceIndex AcceleratorHooksInterface::exchangeDevice(c10::DeviceIndex) const {
  not_implemented("exchangeDevice");
}
c10::DeviceIndex AcceleratorHooksInterface::maybeExchangeDevice(c10::DeviceIndex) const {
  not_implemented("maybeExchangeDevice");
}
bool AcceleratorHooksInterface::isPinnedPtr(const void*) const {
  return false;
}
c10::Allocator* AcceleratorHooksInterface::getPinnedMemoryAllocator() const {
  not_implemented("getPinnedMemoryAllocator");
}
c10::Device AcceleratorHooksInterface::getDeviceFromPtr(void*) const {
  not_implemented("getDeviceFromPtr");
}
const Generator& AcceleratorHooksInterface::getDefaultGenerator(c10::DeviceIndex) const {
  not_implemented("getDefaultGenerator");
}
Generator AcceleratorHooksInterface::getNewGenerator(c10::DeviceIndex) const {
  not_implemented("getNewGenerator");
}

namespace detail {

const AcceleratorHooksInterface& getAcceleratorHooks(c10::DeviceType type) {
  static const CudaAccelerator cuda;
  switch (type) {
    case c10::DeviceType::CUDA:
      return cuda;
    case c10::DeviceType::PrivateUse1:
      return getPrivateUse1Hooks();
    default:
      TORCH_CHECK(false, c10::DeviceTypeName(type), " device type not an accelerator.");
  }
}

} // namespace detail
} // namespace at
