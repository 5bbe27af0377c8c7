// Is a stream's work being captured into a graph?
#pragma once

#include <c10/core/Allocator.h>
#include <c10/cuda/CUDAStream.h>

#include <cuda_runtime_api.h>

#include <ostream>

namespace c10::cuda {

using c10::CaptureId_t;
using c10::MempoolId_t;

/// How the runtime treats calls that a capture forbids, on this thread and in this scope.
struct CUDAStreamCaptureModeGuard {
  CUDAStreamCaptureModeGuard(cudaStreamCaptureMode desired) : mode_(desired) {
    C10_CUDA_CHECK(cudaThreadExchangeStreamCaptureMode(&mode_));
  }
  CUDAStreamCaptureModeGuard(const CUDAStreamCaptureModeGuard&) = delete;
  CUDAStreamCaptureModeGuard& operator=(const CUDAStreamCaptureModeGuard&) = delete;
  ~CUDAStreamCaptureModeGuard() {
    C10_CUDA_CHECK_WARN(cudaThreadExchangeStreamCaptureMode(&mode_));
  }

 private:
  cudaStreamCaptureMode mode_;
};

enum class CaptureStatus : int {
  None = cudaStreamCaptureStatusNone,
  Active = cudaStreamCaptureStatusActive,
  Invalidated = cudaStreamCaptureStatusInvalidated,
};

inline std::ostream& operator<<(std::ostream& out, CaptureStatus status) {
  switch (status) {
    case CaptureStatus::None:
      return out << "cudaStreamCaptureStatusNone";
    case CaptureStatus::Active:
      return out << "cudaStreamCaptureStatusActive";
    case CaptureStatus::Invalidated:
      return out << "cudaStreamCaptureStatusInvalidated";
  }
  return out << static_cast<int>(status);
}

/// Makes the device's context if there is none.
inline CaptureStatus currentStreamCaptureStatusMayInitCtx() {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  C10_CUDA_CHECK(cudaStreamIsCapturing(getCurrentCUDAStream(), &status));
  return CaptureStatus(status);
}

} // namespace c10::cuda
