// `with torch.autocast(...)` in programs.
#pragma once

#include <aten/core/ivalue.h>
#include <c10/core/DeviceType.h>
#include <c10/core/ScalarType.h>

#include <optional>

namespace torch::jit {

/// The thread's settings before the block.
struct AutocastSettings {
  c10::DeviceType device;
  bool enabled;
  c10::ScalarType dtype;
  bool cache_enabled;
};

/// If the object is one of Python's class torch.amp.autocast_mode.autocast, its settings become those of the thread;
/// returns the ones before.
std::optional<AutocastSettings> enter_autocast(const c10::IValue& context);
void leave_autocast(const AutocastSettings& before);

} // namespace torch::jit
