#include <aten/core/dtype_dispatch.h>

#include <c10/util/Exception.h>

#include <string>

namespace at::detail {

void dtype_not_supported(const char* op, c10::ScalarType dtype, std::uint64_t supported) {
  std::string names;
  for (int i = 0; i < static_cast<int>(c10::ScalarType::NumOptions); ++i) {
    if ((supported >> i) & 1u) {
      names += names.empty() ? "" : ", ";
      names += c10::toString(static_cast<c10::ScalarType>(i));
    }
  }
  TORCH_CHECK_NOT_IMPLEMENTED(
      false, '"', op, "\" not implemented for '", c10::toString(dtype), "'; it takes: ", names,
      ". Convert the tensor with .to(dtype) first");
}

} // namespace at::detail
