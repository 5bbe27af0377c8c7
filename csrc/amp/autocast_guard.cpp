#include <csrc/amp/autocast_guard.h>

#include <aten/autocast/autocast_mode.h>
#include <c10/util/Exception.h>
#include <csrc/cuda.h>

namespace torch::amp {

namespace autocast = at::autocast;

namespace {

// Whether autocast can run so on this machine; says why if not.
bool can_run(c10::DeviceType device_type, c10::ScalarType dtype) {
  if (dtype != at::kBFloat16 && dtype != at::kHalf) {
    TORCH_WARN(
        "In ", c10::DeviceTypeName(device_type),
        " autocast, but the target dtype is not supported. Disabling autocast.", " AutocastGuard got ", dtype,
        "; it takes BFloat16 or Half");
    return false;
  }
  if (device_type == at::kCUDA && !cuda::is_available()) {
    TORCH_WARN("CUDA is not available. Disabling autocast. ", cuda::unavailable_reason());
    return false;
  }
  return true;
}

} // namespace

AutocastGuard::AutocastGuard(c10::DeviceType device_type, AutocastOptions options)
    : device_type_(device_type),
      was_enabled_(autocast::is_autocast_enabled(device_type)),
      was_cache_enabled_(autocast::is_autocast_cache_enabled()),
      previous_dtype_(autocast::get_autocast_dtype(device_type)) {
  const c10::ScalarType dtype = options.dtype().value_or(previous_dtype_);
  const bool enabled = options.enabled() && can_run(device_type, dtype);
  if (enabled) {
    autocast::set_autocast_dtype(device_type, dtype);
  }
  autocast::set_autocast_enabled(device_type, enabled);
  autocast::set_autocast_cache_enabled(options.cache_enabled().value_or(was_cache_enabled_));
  autocast::increment_nesting();
}

AutocastGuard::~AutocastGuard() {
  if (autocast::decrement_nesting() == 0) {
    autocast::clear_cache();
  }
  autocast::set_autocast_enabled(device_type_, was_enabled_);
  autocast::set_autocast_dtype(device_type_, previous_dtype_);
  autocast::set_autocast_cache_enabled(was_cache_enabled_);
}

} // namespace torch::amp
