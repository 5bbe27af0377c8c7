#include <aten/core/tensor_literal.h>

#include <aten/core/TensorSpec.h>
#include <aten/ops/to.h>
#include <c10/core/DefaultDtype.h>

#include <cstring>

namespace at {

namespace {

/// `count` values of `dtype`, converted to what the options say (the default dtype, on the CPU, unless given).
Tensor tensor_of(const void* values, size_t count, ScalarType dtype, const TensorOptions& options) {
  const ScalarType wanted = c10::typeMetaToScalarType(options.dtype());
  TORCH_CHECK(
      !c10::isComplexType(dtype) || c10::isComplexType(wanted), "\"tensor_cpu\" not implemented for '", wanted,
      "': complex values can't be cast to it; take their real part");
  Tensor result = empty_contiguous({static_cast<int64_t>(count)}, dtype, kCPU);
  if (count > 0) {
    std::memcpy(result.mutable_data_ptr(), values, result.nbytes());
  }
  return result.to(options.dtype(options.dtype()).requires_grad(std::nullopt));
}

} // namespace

#define TENSOR_LITERAL(T, S)                                                     \
  Tensor tensor(ArrayRef<T> values, const TensorOptions& options) {              \
    return tensor_of(values.data(), values.size(), k##S, options);               \
  }                                                                              \
  Tensor tensor(std::initializer_list<T> values, const TensorOptions& options) { \
    return tensor_of(values.begin(), values.size(), k##S, options);              \
  }                                                                              \
  Tensor tensor(T value, const TensorOptions& options) {                         \
    return tensor_of(&value, 1, k##S, options);                                  \
  }                                                                              \
  Tensor tensor(ArrayRef<T> values) {                                            \
    return at::tensor(values, TensorOptions(k##S));                              \
  }                                                                              \
  Tensor tensor(std::initializer_list<T> values) {                               \
    return at::tensor(values, TensorOptions(k##S));                              \
  }                                                                              \
  Tensor tensor(T value) {                                                       \
    return at::tensor(value, TensorOptions(k##S));                               \
  }
AT_FORALL_SCALAR_TYPES_AND3(Bool, Half, BFloat16, TENSOR_LITERAL)
AT_FORALL_COMPLEX_TYPES(TENSOR_LITERAL)
#undef TENSOR_LITERAL

} // namespace at
