// Handles of cuDNN.
#pragma once

#include <c10/macros/Export.h>

#include <cudnn.h>

namespace at::native {

/// The calling thread's handle for the current device, set to the current stream. Opens cuDNN, and throws where there
/// is none.
TORCH_CUDA_CPP_API cudnnHandle_t getCudnnHandle();

} // namespace at::native
