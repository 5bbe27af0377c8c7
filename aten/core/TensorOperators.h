// C++ operators on tensors and numbers, and what they are named after.
#pragma once

#include <aten/core/Tensor.h>
#include <c10/core/Scalar.h>

namespace at {

#define TENSOR_BINARY_OPERATOR(op)                                \
  TORCH_API Tensor operator op(const Tensor& x, const Tensor& y); \
  TORCH_API Tensor operator op(const Tensor& x, const Scalar& y); \
  TORCH_API Tensor operator op(const Scalar& x, const Tensor& y);

TENSOR_BINARY_OPERATOR(+)
TENSOR_BINARY_OPERATOR(-)
TENSOR_BINARY_OPERATOR(*)
TENSOR_BINARY_OPERATOR(/)
TENSOR_BINARY_OPERATOR(%)
TENSOR_BINARY_OPERATOR(&)
TENSOR_BINARY_OPERATOR(|)
TENSOR_BINARY_OPERATOR(^)
TENSOR_BINARY_OPERATOR(<)
TENSOR_BINARY_OPERATOR(<=)
TENSOR_BINARY_OPERATOR(>)
TENSOR_BINARY_OPERATOR(>=)
TENSOR_BINARY_OPERATOR(==)
TENSOR_BINARY_OPERATOR(!=)

#undef TENSOR_BINARY_OPERATOR

/// Logical not, element by element.
TORCH_API Tensor operator!(const Tensor& x);

} // namespace at
