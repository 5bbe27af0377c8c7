#include <aten/core/LegacyTypeDispatch.h>

#include <c10/util/Exception.h>

namespace at {

AutoNonVariableTypeMode::AutoNonVariableTypeMode(bool enabled) : guard_(c10::autograd_dispatch_keyset) {
  TORCH_WARN_ONCE(
      "AutoNonVariableTypeMode is deprecated: kernels use AutoDispatchBelowADInplaceOrView, programs "
      "c10::InferenceMode");
  TORCH_CHECK(enabled, "AutoNonVariableTypeMode(false) is not supported: leave the guard's scope instead");
}

} // namespace at
