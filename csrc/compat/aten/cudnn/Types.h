#pragma once

#include <aten/core/Tensor.h>
#include <aten/core/optional_tensor.h>
#include <aten/cuda/CudnnHandle.h>
#include <c10/util/Optional.h>

namespace at::native {

/// cuDNN's name for a dtype. Throws for one that it does not compute in.
inline cudnnDataType_t getCudnnDataTypeFromScalarType(const at::ScalarType dtype) {
  switch (dtype) {
    case at::kFloat:
      return CUDNN_DATA_FLOAT;
    case at::kDouble:
      return CUDNN_DATA_DOUBLE;
    case at::kHalf:
      return CUDNN_DATA_HALF;
    case at::kBFloat16:
      return CUDNN_DATA_BFLOAT16;
    case at::kInt:
      return CUDNN_DATA_INT32;
    case at::kByte:
      return CUDNN_DATA_UINT8;
    default:
      TORCH_CHECK(false, "getCudnnDataTypeFromScalarType() not supported for ", dtype);
  }
}

inline cudnnDataType_t getCudnnDataType(const at::Tensor& tensor) {
  return getCudnnDataTypeFromScalarType(tensor.scalar_type());
}

} // namespace at::native
