#pragma once

#include <c10/core/Device.h>
#include <c10/macros/Export.h>

namespace at::cuda {

/// The device whose memory it is. Throws for host memory.
TORCH_CUDA_CPP_API c10::Device getDeviceFromPtr(void* ptr);

} // namespace at::cuda
