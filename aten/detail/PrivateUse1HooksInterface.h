// The hooks of a backend on the key PrivateUse1.
#pragma once

#include <aten/detail/AcceleratorHooksInterface.h>
#include <c10/core/Storage.h>

namespace at {

struct TORCH_API PrivateUse1HooksInterface : AcceleratorHooksInterface {
  /// Nothing to prepare.
  void init() const override {}
  /// Unless overridden, from the function given to REGISTER_GENERATOR_PRIVATEUSE1.
  Generator getNewGenerator(c10::DeviceIndex device_index = -1) const override;
  /// Kept for backends that implement it; storages are resized through the allocator, without this.
  virtual void resizePrivateUse1Bytes(const c10::Storage& storage, size_t newsize) const;
};

struct TORCH_API PrivateUse1HooksArgs {};

/// Once, at start-up; `hook` lives for ever. Its generators are seeded by at::manual_seed, and its pinned memory serves
/// Tensor::pin_memory. Throws when other hooks are there already.
TORCH_API void RegisterPrivateUse1HooksInterface(PrivateUse1HooksInterface* hook);
TORCH_API bool isPrivateUse1HooksRegistered();

namespace detail {
/// Throws when none were registered.
TORCH_API const PrivateUse1HooksInterface& getPrivateUse1Hooks();
} // namespace detail

} // namespace at
