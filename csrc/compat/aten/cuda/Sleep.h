#pragma once

#include <c10/macros/Export.h>

#include <cstdint>

namespace at::cuda {

/// Keeps the current stream busy for so many cycles of the device's clock.
TORCH_CUDA_CU_API void sleep(int64_t cycles);

} // namespace at::cuda
