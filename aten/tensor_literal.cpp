#include <aten/tensor_literal.h>

#include <aten/core/TensorSpec.h>
#include <aten/ops/to.h>
#include <c10/core/DefaultDtype.h>

#include <cstring>

namespace at::detail {

Tensor tensor_of(const void* values, size_t count, ScalarType dtype, const TensorOptions& options) {
  TORCH_CHECK(
      !c10::isComplexType(dtype) || c10::isComplexType(c10::typeMetaToScalarType(options.dtype())),
      "tensor: complex values can't be cast to dtype ", options.dtype());
  Tensor result = empty_contiguous({static_cast<int64_t>(count)}, dtype, kCPU);
  if (count > 0) {
    std::memcpy(result.mutable_data_ptr(), values, result.nbytes());
  }
  return result.to(options.dtype(options.dtype()).requires_grad(std::nullopt));
}

} // namespace at::detail
