// What programs ask of CUDA devices.
#pragma once

#include <c10/macros/Export.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace torch::cuda {

/// Number of usable CUDA devices; 0 without the plugin or a driver. Never throws.
TORCH_API size_t device_count();
/// Is there at least one device?
TORCH_API bool is_available();
/// Is cuDNN linked into the plugin?
TORCH_API bool cudnn_is_available();
/// Why is_available() is false, as a message; empty when it is true.
TORCH_API std::string unavailable_reason();

/// Seeds the current device's default generator, or every device's.
TORCH_API void manual_seed(uint64_t seed);
TORCH_API void manual_seed_all(uint64_t seed);
/// Waits for all work of a device (-1: the current one). Throws when there is no device.
TORCH_API void synchronize(int64_t device_index = -1);

} // namespace torch::cuda
