#include <aten/detail/PrivateUse1HooksInterface.h>

#include <aten/core/GeneratorForPrivateuseone.h>
#include <aten/detail/CUDAHooksInterface.h>
#include <aten/native/resize.h>
#include <aten/random.h>
#include <c10/util/Exception.h>

#include <atomic>

namespace at {
namespace {

[[noreturn]] void not_implemented(const char* what) {
  TORCH_CHECK_NOT_IMPLEMENTED(
      false, "The backend does not implement ", what, "() of at::AcceleratorHooksInterface, which this call needs.");
}

std::atomic<PrivateUse1HooksInterface*> registered{nullptr};

void seed_all(uint64_t seed) {
  const PrivateUse1HooksInterface& hooks = detail::getPrivateUse1Hooks();
  for (c10::DeviceIndex i = 0; i < hooks.deviceCount(); ++i) {
    Generator generator = hooks.getDefaultGenerator(i);
    const std::lock_guard<std::mutex> lock(generator.mutex());
    generator.set_current_seed(seed);
  }
}

/// The CUDA plugin, seen as an accelerator like others.
struct CudaAccelerator final : AcceleratorHooksInterface {
  bool isBuilt() const override { return isAvailable(); }
  bool isAvailable() const override { return deviceCount() > 0; }
  bool hasPrimaryContext(c10::DeviceIndex) const override { return isAvailable(); }
  void init() const override { detail::require_cuda("initialize CUDA"); }
  c10::DeviceIndex deviceCount() const override {
    return static_cast<c10::DeviceIndex>(detail::getCUDAHooks().device_count());
  }
  c10::DeviceIndex getCurrentDevice() const override {
    return static_cast<c10::DeviceIndex>(detail::getCUDAHooks().current_device());
  }
  bool isPinnedPtr(const void* data) const override { return detail::is_pinned_memory(c10::DeviceType::CUDA, data); }
  c10::Allocator* getPinnedMemoryAllocator() const override { return detail::pinned_memory_allocator(); }
};

} // namespace

// ---- what a backend leaves out -----------------------------------------------------------

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

bool PrivateUse1HooksInterface::hasPrimaryContext(c10::DeviceIndex) const {
  not_implemented("hasPrimaryContext");
}
Generator PrivateUse1HooksInterface::getNewGenerator(c10::DeviceIndex device_index) const {
  return GetGeneratorForPrivateuse1(device_index);
}
void PrivateUse1HooksInterface::resizePrivateUse1Bytes(const c10::Storage&, size_t) const {
  not_implemented("resizePrivateUse1Bytes");
}

// ---- registration ------------------------------------------------------------------------

void RegisterPrivateUse1HooksInterface(PrivateUse1HooksInterface* hook) {
  TORCH_CHECK(hook != nullptr, "RegisterPrivateUse1HooksInterface: the hooks are null");
  PrivateUse1HooksInterface* before = nullptr;
  TORCH_CHECK(
      registered.compare_exchange_strong(before, hook), "PrivateUse1HooksInterface only could be registered once.");
  detail::register_device_seeding(&seed_all);
  detail::register_pinned_memory(
      c10::DeviceType::PrivateUse1,
      {[] { return detail::getPrivateUse1Hooks().getPinnedMemoryAllocator(); },
       [](const void* data) { return detail::getPrivateUse1Hooks().isPinnedPtr(data); }});
}

bool isPrivateUse1HooksRegistered() {
  return registered.load() != nullptr;
}

namespace detail {

const PrivateUse1HooksInterface& getPrivateUse1Hooks() {
  const PrivateUse1HooksInterface* hooks = registered.load();
  TORCH_CHECK(
      hooks != nullptr, "Please register PrivateUse1HooksInterface by `RegisterPrivateUse1HooksInterface` first.");
  return *hooks;
}

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
