// Operators that only concern a tensor's history.
#include <aten/Functions.h>
#include <aten/core/VariableHooksInterface.h>

namespace at::native {

Tensor& detach_(Tensor& self) {
  at::impl::GetVariableHooks()->detach_(self);
  return self;
}

} // namespace at::native
