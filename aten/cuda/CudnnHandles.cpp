#if __has_include(<cudnn.h>)
#include <cudnn.h>
#endif

#if defined(CUDNN_MAJOR) && CUDNN_MAJOR == 9 // aten/cuda/Libraries.cpp opens that

#include <aten/cuda/DeviceThreadHandles.h>
#include <aten/cuda/Libraries.h>
#include <aten/cuda/CudnnHandle.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGraphsC10Utils.h>
#include <c10/cuda/CUDAStream.h>
#include <c10/util/Exception.h>

#include <optional>

namespace at::native {

namespace {

template <class F>
using DnnCall = at::cuda::LibraryFunction<at::cuda::Library::cuDNN, F>;

const DnnCall<decltype(cudnnCreate)> create_dnn_handle{"cudnnCreate"};
const DnnCall<decltype(cudnnSetStream)> set_dnn_stream{"cudnnSetStream"};
const DnnCall<decltype(cudnnGetErrorString)> dnn_error_string{"cudnnGetErrorString"};

void check_handle_call(cudnnStatus_t status, const char* call) {
  TORCH_CHECK(status == CUDNN_STATUS_SUCCESS, "cuDNN error: ", dnn_error_string(status), " when calling ", call);
}

class DnnHandle {
 public:
  DnnHandle() {
    const c10::cuda::CUDAStreamCaptureModeGuard relaxed(cudaStreamCaptureModeRelaxed);
    check_handle_call(create_dnn_handle(&handle_), "cudnnCreate");
  }
  cudnnHandle_t on(const c10::cuda::CUDAStream& stream) {
    if (stream_ != stream.unwrap()) {
      stream_.reset();
      check_handle_call(set_dnn_stream(handle_, stream.stream()), "cudnnSetStream");
      stream_ = stream.unwrap();
    }
    return handle_;
  }

 private:
  cudnnHandle_t handle_ = nullptr; // never destroyed, like the pool
  std::optional<c10::Stream> stream_;
};

} // namespace

cudnnHandle_t getCudnnHandle() {
  const c10::DeviceIndex device = c10::cuda::current_device();
  c10::cuda::SetTargetDevice();
  return at::cuda::DeviceThreadHandles<DnnHandle>::get(device).on(c10::cuda::getCurrentCUDAStream(device));
}

} // namespace at::native

#endif
