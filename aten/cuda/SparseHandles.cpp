#include <aten/cuda/CUDAContextLight.h>
#include <aten/cuda/DeviceThreadHandles.h>
#include <aten/cuda/Exceptions.h>
#include <aten/cuda/Libraries.h>
#include <c10/cuda/CUDAGraphsC10Utils.h>
#include <c10/cuda/CUDAStream.h>

#include <optional>

namespace at::cuda {
namespace {

const LibraryFunction<Library::cuSPARSE, decltype(cusparseCreate)> create_sparse_handle{"cusparseCreate"};
const LibraryFunction<Library::cuSPARSE, decltype(cusparseSetStream)> set_sparse_stream{"cusparseSetStream"};

class SparseHandle {
 public:
  SparseHandle() {
    const c10::cuda::CUDAStreamCaptureModeGuard relaxed(cudaStreamCaptureModeRelaxed);
    TORCH_CUDASPARSE_CHECK(create_sparse_handle(&handle_));
  }
  cusparseHandle_t on(const c10::cuda::CUDAStream& stream) {
    if (stream_ != stream.unwrap()) {
      stream_.reset();
      TORCH_CUDASPARSE_CHECK(set_sparse_stream(handle_, stream.stream()));
      stream_ = stream.unwrap();
    }
    return handle_;
  }

 private:
  cusparseHandle_t handle_ = nullptr; // never destroyed, like the pool
  std::optional<c10::Stream> stream_;
};

} // namespace

cusparseHandle_t getCurrentCUDASparseHandle() {
  const c10::DeviceIndex device = c10::cuda::current_device();
  c10::cuda::SetTargetDevice();
  return DeviceThreadHandles<SparseHandle>::get(device).on(c10::cuda::getCurrentCUDAStream(device));
}

namespace sparse {

const char* cusparseGetErrorMessage(cusparseStatus_t status) {
  switch (status) {
    case CUSPARSE_STATUS_SUCCESS:
      return "CUSPARSE_STATUS_SUCCESS";
    case CUSPARSE_STATUS_NOT_INITIALIZED:
      return "CUSPARSE_STATUS_NOT_INITIALIZED";
    case CUSPARSE_STATUS_ALLOC_FAILED:
      return "CUSPARSE_STATUS_ALLOC_FAILED";
    case CUSPARSE_STATUS_INVALID_VALUE:
      return "CUSPARSE_STATUS_INVALID_VALUE";
    case CUSPARSE_STATUS_ARCH_MISMATCH:
      return "CUSPARSE_STATUS_ARCH_MISMATCH";
    case CUSPARSE_STATUS_EXECUTION_FAILED:
      return "CUSPARSE_STATUS_EXECUTION_FAILED";
    case CUSPARSE_STATUS_INTERNAL_ERROR:
      return "CUSPARSE_STATUS_INTERNAL_ERROR";
    case CUSPARSE_STATUS_NOT_SUPPORTED:
      return "CUSPARSE_STATUS_NOT_SUPPORTED";
    case CUSPARSE_STATUS_INSUFFICIENT_RESOURCES:
      return "CUSPARSE_STATUS_INSUFFICIENT_RESOURCES";
    default:
      return "Unknown cusparse error number";
  }
}

} // namespace sparse
} // namespace at::cuda
