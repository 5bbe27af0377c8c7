#include <aten/detail/PrivateUse1HooksInterface.h>

#include <aten/core/GeneratorForPrivateuseone.h>
#include <aten/core/pinned_memory.h>
#include <aten/core/random.h>
#include <c10/util/Exception.h>

#include <atomic>

namespace at {
namespace {

std::atomic<PrivateUse1HooksInterface*> registered_hooks{nullptr};

void seed_all(uint64_t seed) {
  const PrivateUse1HooksInterface& hooks = detail::getPrivateUse1Hooks();
  for (c10::DeviceIndex i = 0; i < hooks.deviceCount(); ++i) {
    Generator generator = hooks.getDefaultGenerator(i);
    const std::lock_guard<std::mutex> lock(generator.mutex());
    generator.set_current_seed(seed);
  }
}

} // namespace

Generator PrivateUse1HooksInterface::getNewGenerator(c10::DeviceIndex device_index) const {
  return GetGeneratorForPrivateuse1(device_index);
}
void PrivateUse1HooksInterface::resizePrivateUse1Bytes(const c10::Storage&, size_t) const {
  TORCH_CHECK_NOT_IMPLEMENTED(false, "The backend does not implement resizePrivateUse1Bytes().");
}

void RegisterPrivateUse1HooksInterface(PrivateUse1HooksInterface* hook) {
  TORCH_CHECK(hook != nullptr, "RegisterPrivateUse1HooksInterface: the hooks are null");
  PrivateUse1HooksInterface* before = nullptr;
  TORCH_CHECK(
      registered_hooks.compare_exchange_strong(before, hook),
      "PrivateUse1HooksInterface only could be registered once.");
  detail::register_device_seeding(&seed_all);
  detail::register_pinned_memory(
      c10::DeviceType::PrivateUse1,
      {[] { return detail::getPrivateUse1Hooks().getPinnedMemoryAllocator(); },
       [](const void* data) { return detail::getPrivateUse1Hooks().isPinnedPtr(data); }});
}

bool isPrivateUse1HooksRegistered() {
  return registered_hooks.load() != nullptr;
}

namespace detail {

const PrivateUse1HooksInterface& getPrivateUse1Hooks() {
  const PrivateUse1HooksInterface* hooks = registered_hooks.load();
  TORCH_CHECK(
      hooks != nullptr, "Please register PrivateUse1HooksInterface by `RegisterPrivateUse1HooksInterface` first.");
  return *hooks;
}

} // namespace detail
} // namespace at
