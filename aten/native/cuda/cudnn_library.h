// What all uses of cuDNN share: its functions, its failures and its descriptors. For sources that have found cudnn.h of
// version 9, the one that aten/cuda/Libraries.cpp opens.
#pragma once

#include <aten/core/Context.h>
#include <aten/cuda/CudnnHandle.h>
#include <aten/cuda/Libraries.h>
#include <c10/core/ScalarType.h>
#include <c10/util/Exception.h>

namespace at::native::cuda {

/// A function of cuDNN, looked up by its first call.
template <class F>
using DnnFunction = at::cuda::LibraryFunction<at::cuda::Library::cuDNN, F>;

inline const DnnFunction<decltype(cudnnGetErrorString)> dnn_error_string{"cudnnGetErrorString"};

/// False where cuDNN does not know how to do what it is asked for. Throws for real failures.
inline bool dnn_succeeds(cudnnStatus_t status, const char* call) {
  const bool refused = CUDNN_STATUS_BAD_PARAM <= status && status < CUDNN_STATUS_INTERNAL_ERROR;
  TORCH_CHECK(
      status == CUDNN_STATUS_SUCCESS || refused, "cuDNN error: ", dnn_error_string(status), " when calling ", call);
  return !refused;
}

inline void check_dnn(cudnnStatus_t status, const char* call) {
  TORCH_CHECK(dnn_succeeds(status, call), "cuDNN error: ", dnn_error_string(status), " when calling ", call);
}

/// A descriptor that is destroyed with its owner.
template <class T, const auto& kCreate, const auto& kDestroy>
class DnnDescriptor {
 public:
  DnnDescriptor() {
    check_dnn(kCreate(&descriptor_), "cuDNN's maker of descriptors");
  }
  DnnDescriptor(const DnnDescriptor&) = delete;
  DnnDescriptor& operator=(const DnnDescriptor&) = delete;
  ~DnnDescriptor() {
    static_cast<void>(kDestroy(descriptor_));
  }
  operator T() const {
    return descriptor_;
  }

 private:
  T descriptor_ = nullptr;
};

inline const DnnFunction<decltype(cudnnCreateTensorDescriptor)> create_dnn_tensor{"cudnnCreateTensorDescriptor"};
inline const DnnFunction<decltype(cudnnDestroyTensorDescriptor)> destroy_dnn_tensor{"cudnnDestroyTensorDescriptor"};
inline const DnnFunction<decltype(cudnnSetTensorNdDescriptor)> set_dnn_tensor{"cudnnSetTensorNdDescriptor"};
using DnnTensor = DnnDescriptor<cudnnTensorDescriptor_t, create_dnn_tensor, destroy_dnn_tensor>;

/// cuDNN's name of a floating dtype of 16, 32 or 64 bits.
inline cudnnDataType_t dnn_type(c10::ScalarType dtype) {
  return dtype == c10::ScalarType::Half    ? CUDNN_DATA_HALF
      : dtype == c10::ScalarType::BFloat16 ? CUDNN_DATA_BFLOAT16
      : dtype == c10::ScalarType::Float    ? CUDNN_DATA_FLOAT
                                           : CUDNN_DATA_DOUBLE;
}

/// What algorithms are told of the numbers they may use.
inline cudnnMathType_t dnn_math(c10::ScalarType dtype) {
  if (dtype == c10::ScalarType::Float) {
    const bool tf32 = at::globalContext().allowTF32CuDNN() && !at::NoTF32Guard::should_disable_tf32();
    return tf32 ? CUDNN_DEFAULT_MATH : CUDNN_FMA_MATH;
  }
  return dtype == c10::ScalarType::Double ? CUDNN_DEFAULT_MATH : CUDNN_TENSOR_OP_MATH;
}

} // namespace at::native::cuda
