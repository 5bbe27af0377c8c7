#include <aten/core/DeprecatedTypeProperties.h>
#include <csrc/compat/aten/Dispatch.h>

namespace at::detail {

c10::ScalarType scalar_type(const DeprecatedTypeProperties& t) {
  return t.scalarType();
}

} // namespace at::detail
