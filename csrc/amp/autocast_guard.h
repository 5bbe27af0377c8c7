// torch::amp::AutocastGuard: a region in which operators run in the precision that suits them.
#pragma once

#include <c10/core/DeviceType.h>
#include <c10/core/ScalarType.h>
#include <c10/macros/Export.h>
#include <csrc/arg.h>

#include <optional>

namespace torch {
namespace amp {

struct TORCH_API AutocastOptions {
  AutocastOptions() = default;
  /* implicit */ AutocastOptions(c10::ScalarType dtype) : dtype_(dtype) {}

  /// The lower precision, bfloat16 or half. Unset: what at::autocast::get_autocast_dtype says, at first bfloat16 on the
  /// CPU and half on CUDA.
  TORCH_ARG(std::optional<c10::ScalarType>, dtype);
  /// Without it the region runs as if there were no autocast: for a part that needs its own precision.
  TORCH_ARG(bool, enabled) = true;
  /// Whether casts of weights are kept until the outermost region ends. Unset: as outside, at first true.
  TORCH_ARG(std::optional<bool>, cache_enabled);
};

/// Turns autocast on for one device type on this thread while it lives, and then sets what was before:
///     {
///       torch::amp::AutocastGuard autocast(torch::kCPU);
///       loss = torch::nn::functional::cross_entropy(model->forward(x), target);
///     }
///     loss.backward();   // outside: each gradient is computed in the precision of its forward pass
/// Guards nest; they must end in the reverse order of their beginning, on their thread.
///
/// Throws for device types without autocast. Warns and leaves autocast off for other dtypes than bfloat16 and half, and
/// for CUDA where there is no device.
class TORCH_API AutocastGuard {
 public:
  explicit AutocastGuard(c10::DeviceType device_type, AutocastOptions options = {});
  AutocastGuard(const AutocastGuard&) = delete;
  AutocastGuard& operator=(const AutocastGuard&) = delete;
  ~AutocastGuard();

 private:
  const c10::DeviceType device_type_;
  const bool was_enabled_;
  const bool was_cache_enabled_;
  const c10::ScalarType previous_dtype_;
};

} // namespace amp
} // namespace torch
