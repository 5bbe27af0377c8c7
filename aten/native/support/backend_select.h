// How operators without tensor arguments find their backend.
#pragma once

#include <c10/core/Device.h>
#include <c10/core/DispatchKeySet.h>
#include <c10/core/Layout.h>
#include <c10/core/ScalarType.h>

#include <optional>

namespace at::native {

/// The keys that a factory with these options is sent to. Opens the CUDA plugin when a CUDA device is asked for, and
/// throws when that cannot be used.
TORCH_API c10::DispatchKeySet backend_of_options(
    std::optional<c10::ScalarType> dtype, std::optional<c10::Layout> layout, std::optional<c10::Device> device);

} // namespace at::native
