#include <aten/cuda/CUDAContextLight.h>
#include <aten/cuda/DeviceThreadHandles.h>
#include <aten/cuda/Exceptions.h>
#include <aten/cuda/Libraries.h>
#include <c10/cuda/CUDAGraphsC10Utils.h>
#include <c10/cuda/CUDAStream.h>

#include <optional>

namespace at::cuda {
namespace {

const LibraryFunction<Library::cuSOLVER, decltype(cusolverDnCreate)> create_handle{"cusolverDnCreate"};
const LibraryFunction<Library::cuSOLVER, decltype(cusolverDnSetStream)> set_handle_stream{"cusolverDnSetStream"};

class SolverHandle {
 public:
  SolverHandle() {
    const c10::cuda::CUDAStreamCaptureModeGuard relaxed(cudaStreamCaptureModeRelaxed);
    TORCH_CUSOLVER_CHECK(create_handle(&handle_));
  }
  cusolverDnHandle_t on(const c10::cuda::CUDAStream& stream) {
    if (stream_ != stream.unwrap()) {
      stream_.reset();
      TORCH_CUSOLVER_CHECK(set_handle_stream(handle_, stream.stream()));
      stream_ = stream.unwrap();
    }
    return handle_;
  }

 private:
  cusolverDnHandle_t handle_ = nullptr; // never destroyed, like the pool
  std::optional<c10::Stream> stream_;
};

} // namespace

cusolverDnHandle_t getCurrentCUDASolverDnHandle() {
  const c10::DeviceIndex device = c10::cuda::current_device();
  c10::cuda::SetTargetDevice();
  return DeviceThreadHandles<SolverHandle>::get(device).on(c10::cuda::getCurrentCUDAStream(device));
}

namespace solver {

const char* cusolverGetErrorMessage(cusolverStatus_t status) {
  switch (status) {
    case CUSOLVER_STATUS_SUCCESS:
      return "CUSOLVER_STATUS_SUCCESS";
    case CUSOLVER_STATUS_NOT_INITIALIZED:
      return "CUSOLVER_STATUS_NOT_INITIALIZED";
    case CUSOLVER_STATUS_ALLOC_FAILED:
      return "CUSOLVER_STATUS_ALLOC_FAILED";
    case CUSOLVER_STATUS_INVALID_VALUE:
      return "CUSOLVER_STATUS_INVALID_VALUE";
    case CUSOLVER_STATUS_ARCH_MISMATCH:
      return "CUSOLVER_STATUS_ARCH_MISMATCH";
    case CUSOLVER_STATUS_EXECUTION_FAILED:
      return "CUSOLVER_STATUS_EXECUTION_FAILED";
    case CUSOLVER_STATUS_INTERNAL_ERROR:
      return "CUSOLVER_STATUS_INTERNAL_ERROR";
    case CUSOLVER_STATUS_MATRIX_TYPE_NOT_SUPPORTED:
      return "CUSOLVER_STATUS_MATRIX_TYPE_NOT_SUPPORTED";
    case CUSOLVER_STATUS_NOT_SUPPORTED:
      return "CUSOLVER_STATUS_NOT_SUPPORTED";
    default:
      return "Unknown cusolver error number";
  }
}

} // namespace solver
} // namespace at::cuda
