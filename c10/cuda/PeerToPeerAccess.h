#pragma once

#include <c10/core/Device.h>
#include <c10/cuda/CUDAMacros.h>

namespace c10::cuda {

/// Can kernels and copies on `source_dev` reach memory of `dest_dev` directly? The first question for a pair turns the
/// access on where the machine allows it.
C10_CUDA_API bool get_p2p_access(DeviceIndex source_dev, DeviceIndex dest_dev);

} // namespace c10::cuda
