// at::tensor: tensors of one dimension from numbers. torch::tensor takes nested braces too.
#pragma once

#include <aten/core/Tensor.h>
#include <c10/core/ScalarType.h>
#include <c10/core/TensorOptions.h>

#include <initializer_list>

namespace at {

namespace detail {
/// `count` values of `dtype`, converted to what the options say (the default dtype, on the CPU, unless given).
TORCH_API Tensor tensor_of(const void* values, size_t count, ScalarType dtype, const TensorOptions& options);
} // namespace detail

// Without options the dtype is that of the C++ type; with options that name none it is the default dtype.
#define TENSOR_LITERAL(T, S)                                                            \
  inline Tensor tensor(ArrayRef<T> values, const TensorOptions& options) {              \
    return detail::tensor_of(values.data(), values.size(), k##S, options);              \
  }                                                                                     \
  inline Tensor tensor(std::initializer_list<T> values, const TensorOptions& options) { \
    return at::tensor(ArrayRef<T>(values), options);                                    \
  }                                                                                     \
  inline Tensor tensor(T value, const TensorOptions& options) {                         \
    return at::tensor(ArrayRef<T>(value), options);                                     \
  }                                                                                     \
  inline Tensor tensor(ArrayRef<T> values) {                                            \
    return at::tensor(values, TensorOptions(k##S));                                     \
  }                                                                                     \
  inline Tensor tensor(std::initializer_list<T> values) {                               \
    return at::tensor(ArrayRef<T>(values));                                             \
  }                                                                                     \
  inline Tensor tensor(T value) {                                                       \
    return at::tensor(ArrayRef<T>(value));                                              \
  }
AT_FORALL_SCALAR_TYPES_AND3(Bool, Half, BFloat16, TENSOR_LITERAL)
AT_FORALL_COMPLEX_TYPES(TENSOR_LITERAL)
#undef TENSOR_LITERAL

} // namespace at
