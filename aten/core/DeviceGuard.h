// Guards for the device of an argument: `at::OptionalDeviceGuard guard(at::device_of(self));`
#pragma once

#include <aten/core/IListRef.h>
#include <aten/core/Tensor.h>
#include <c10/core/DeviceGuard.h>

#include <optional>

namespace at {

using c10::DeviceGuard;
using c10::OptionalDeviceGuard;

/// None for an undefined tensor.
inline std::optional<Device> device_of(const Tensor& t) {
  return t.defined() ? std::optional<Device>(t.device()) : std::nullopt;
}
inline std::optional<Device> device_of(const std::optional<Tensor>& t) {
  return t.has_value() ? device_of(*t) : std::nullopt;
}
/// Of the first tensor; none for an empty list.
inline std::optional<Device> device_of(ITensorListRef t) {
  return t.empty() ? std::nullopt : device_of(*t.begin());
}

} // namespace at
