#pragma once

#include <aten/cuda/CUDAGeneratorImpl.h>
#include <aten/cuda/PhiloxUtils.cuh>
#include <c10/core/StreamGuard.h>
#include <c10/cuda/CUDAGraphsC10Utils.h>
#include <c10/cuda/CUDAGuard.h>
#include <csrc/compat/aten/cuda/CUDAEvent.h>

#include <string>

namespace at::cuda {

inline CaptureStatus currentStreamCaptureStatus() {
  return c10::cuda::hasPrimaryContext(c10::cuda::current_device()) ? c10::cuda::currentStreamCaptureStatusMayInitCtx()
                                                                   : CaptureStatus::None;
}

inline void assertNotCapturing(const std::string& attempt) {
  const CaptureStatus status = currentStreamCaptureStatus();
  TORCH_CHECK(
      status == CaptureStatus::None, attempt, " during CUDA graph capture. Current cudaStreamCaptureStatus: ", status);
}

} // namespace at::cuda
