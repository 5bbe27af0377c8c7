#pragma once

#include <c10/core/TensorOptions.h>

#include <optional>

namespace at::native {

/// The four arguments of a factory's schema as one.
inline c10::TensorOptions make_options(
    std::optional<c10::ScalarType> dtype,
    std::optional<c10::Layout> layout,
    std::optional<c10::Device> device,
    std::optional<bool> pin_memory) {
  return c10::TensorOptions().dtype(dtype).layout(layout).device(device).pinned_memory(pin_memory);
}

} // namespace at::native
