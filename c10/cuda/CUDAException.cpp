#include <c10/cuda/CUDAException.h>

#include <c10/cuda/impl/RecentOperators.h>

#include <string>

namespace c10::cuda {
namespace {

/// After these every further call fails with the same code: the context is lost.
bool is_sticky(cudaError_t error) {
  switch (error) {
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchFailure:
    case cudaErrorLaunchTimeout:
    case cudaErrorAssert:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorECCUncorrectable:
      return true;
    default:
      return false;
  }
}

std::string advice(cudaError_t error) {
  switch (error) {
    case cudaErrorInsufficientDriver:
      return "\nThere is no NVIDIA driver, or it is older than the CUDA runtime; nvidia-smi shows its version.";
    case cudaErrorNoDevice:
      return "\nThere is a driver, but no GPU that it can use; CUDA_VISIBLE_DEVICES may hide it.";
    case cudaErrorInvalidDevice:
      return "\nThere is no device of that number; torch::cuda::device_count() tells how many there are.";
    case cudaErrorNoKernelImageForDevice:
      return "\nThe library was built for other GPU architectures; build it with this one in "
             "TENSOR_CUDA_ARCHITECTURES.";
    case cudaErrorStreamCaptureUnsupported:
    case cudaErrorStreamCaptureImplicit:
      return "\nA CUDA graph is being captured, and this call may not be part of one (or, from another thread, not "
             "come "
             "meanwhile). Take it out of the capture, or capture in mode cudaStreamCaptureModeThreadLocal.";
    case cudaErrorStreamCaptureInvalidated:
      return "\nAn earlier call that may not be captured has broken the capture of this CUDA graph.";
    case cudaErrorStreamCaptureUnjoined:
    case cudaErrorStreamCaptureUnmatched:
    case cudaErrorStreamCaptureIsolation:
      return "\nEach stream that takes part in the capture of a CUDA graph must wait for an event of it first, and the "
             "stream "
             "that began the capture must wait for an event of each at the end.";
    default:
      break;
  }
  if (is_sticky(error)) {
    const std::string recent = impl::recent_operators();
    return "\nThe device's context is lost, so every CUDA call of this process fails from now on. A kernel's failure "
           "is "
           "reported by a later call: the place below need not be the cause. CUDA_LAUNCH_BLOCKING=1 makes each launch "
           "wait and so shows it." +
        (recent.empty() ? recent : " This thread's last operators on CUDA, newest first: " + recent + ".");
  }
  return "";
}

std::string message(const char* opening, int32_t err) {
  const auto error = static_cast<cudaError_t>(err);
  return std::string(opening) + cudaGetErrorString(error) + " (" + cudaGetErrorName(error) + ", code " +
      std::to_string(err) + ")" + advice(error);
}

} // namespace

void c10_cuda_check_implementation(
    int32_t err, const char* filename, const char* function_name, uint32_t line_number, bool /*device_assertions*/) {
  if (static_cast<cudaError_t>(err) == cudaSuccess) {
    return;
  }
  static_cast<void>(cudaGetLastError());
  throw CUDAError({function_name, filename, line_number}, err, message("CUDA error: ", err));
}

void c10_cuda_warn_implementation(int32_t err, const char* filename, const char* function_name, uint32_t line_number) {
  static_cast<void>(cudaGetLastError());
  warn(Warning(UserWarning(), {function_name, filename, line_number}, message("CUDA warning: ", err), false));
}

} // namespace c10::cuda
