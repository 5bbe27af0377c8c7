// at::tensor: tensors of one dimension from numbers. torch::tensor takes nested braces too.
#pragma once

#include <aten/core/Tensor.h>
#include <c10/core/ScalarType.h>
#include <c10/core/TensorOptions.h>

#include <initializer_list>

namespace at {

// Without options the dtype is that of the C++ type; with options that name none it is the default dtype.
#define TENSOR_LITERAL(T, S)                                                              \
  TORCH_API Tensor tensor(ArrayRef<T> values, const TensorOptions& options);              \
  TORCH_API Tensor tensor(std::initializer_list<T> values, const TensorOptions& options); \
  TORCH_API Tensor tensor(T value, const TensorOptions& options);                         \
  TORCH_API Tensor tensor(ArrayRef<T> values);                                            \
  TORCH_API Tensor tensor(std::initializer_list<T> values);                               \
  TORCH_API Tensor tensor(T value);
AT_FORALL_SCALAR_TYPES_AND3(Bool, Half, BFloat16, TENSOR_LITERAL)
AT_FORALL_COMPLEX_TYPES(TENSOR_LITERAL)
#undef TENSOR_LITERAL

} // namespace at
