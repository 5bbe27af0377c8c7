// Operators that only concern a tensor's history.
#include <aten/Functions.h>
#include <aten/core/VariableHooksInterface.h>

namespace at::native {

Tensor& detach_(Tensor& self) {
  // Histories stay as they are in inference mode, as in libtorch.
  if (!c10::InferenceMode::is_enabled()) {
    at::impl::GetVariableHooks()->detach_(self);
  }
  return self;
}

} // namespace at::native
