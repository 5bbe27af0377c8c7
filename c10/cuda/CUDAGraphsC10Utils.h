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

/// How many captures by CUDAGraph are underway in this process; where it is zero, nobody need ask a stream.
C10_CUDA_API int captures_underway() noexcept;
C10_CUDA_API void count_captures(int change) noexcept;
/// Throws if the current stream is being captured: what waits for the device would break the capture.
C10_CUDA_API void assert_not_capturing(const char* attempt);

/// Makes the device's context if there is none.
inline CaptureStatus currentStreamCaptureStatusMayInitCtx() {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  C10_CUDA_CHECK(cudaStreamIsCapturing(getCurrentCUDAStream(), &status));
  return CaptureStatus(status);
}

} // namespace c10::cuda
