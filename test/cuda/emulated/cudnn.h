// What the two parts of the emulated cuDNN share: convolution (cudnn.cpp) and recurrent layers (cudnn_rnn.cpp).
#pragma once

#include <cudnn.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace emulated {

struct TensorDescriptor {
  cudnnDataType_t type{};
  std::vector<int64_t> sizes, strides;
};

/// A descriptor behind the library's handle.
template <class T, class Handle>
T& as(Handle handle) {
  return *reinterpret_cast<T*>(handle);
}
template <class T, class Handle>
cudnnStatus_t make(Handle* handle) {
  *handle = reinterpret_cast<Handle>(new T);
  return CUDNN_STATUS_SUCCESS;
}
template <class T, class Handle>
cudnnStatus_t destroy(Handle handle) {
  delete &as<T>(handle);
  return CUDNN_STATUS_SUCCESS;
}

using FunctionTable = std::map<std::string, void*>;

template <class F>
void* function_address(F* function) {
  return reinterpret_cast<void*>(function);
}

const FunctionTable& cudnn_rnn_functions();

} // namespace emulated
