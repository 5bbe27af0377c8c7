// What the CPU library asks of the CUDA plugin, which it opens on first use of a CUDA device.
#pragma once

#include <c10/macros/Export.h>

#include <cstdint>
#include <string>

namespace c10 {
struct Allocator;
}

namespace at {

struct Generator;

/// Implemented by libtensor_cuda.so. This base is what there is without it: no devices, and the reason as a message.
struct TORCH_API CUDAHooksInterface {
  virtual ~CUDAHooksInterface() = default;

  virtual int64_t device_count() const {
    return 0;
  }
  /// Why there is no usable device; empty when there is one.
  virtual std::string unavailable_reason() const;
  virtual bool has_cudnn() const {
    return false;
  }
  virtual int64_t current_device() const;
  virtual void manual_seed(uint64_t seed) const;
  virtual void manual_seed_all(uint64_t seed) const;
  virtual void synchronize(int64_t device_index) const;
  /// What random operators draw from on a device; -1 is the current one. Throws without the plugin.
  virtual const Generator& default_generator(int64_t device_index) const;
  virtual Generator new_generator(int64_t device_index) const;
};

namespace detail {

/// The hooks of the plugin, or the base without it. The first call looks for a driver and then for the plugin beside
/// this library; later calls are one load.
TORCH_API const CUDAHooksInterface& getCUDAHooks();

/// Throws an error that says why when no CUDA device can be used.
TORCH_API void require_cuda(const char* what);

/// Called by the plugin while it is loaded.
TORCH_API void register_cuda_hooks(const CUDAHooksInterface* hooks);

} // namespace detail
} // namespace at
