#include <aten/native/support/refuse.h>

#include <c10/util/Exception.h>

namespace at::native {

void refuse(const char* op, const char* reason) {
  TORCH_CHECK_NOT_IMPLEMENTED(
      false, "Could not run 'aten::", op, "': the operator exists by name only. Reason: ", reason, ".");
}

} // namespace at::native
