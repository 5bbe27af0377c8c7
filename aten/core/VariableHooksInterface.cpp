#include <aten/core/VariableHooksInterface.h>

#include <c10/util/Exception.h>

namespace at::impl {

namespace {

VariableHooksInterface* hooks_in_use = nullptr;

} // namespace

void SetVariableHooks(VariableHooksInterface* hooks) {
  hooks_in_use = hooks;
}

VariableHooksInterface* GetVariableHooks() {
  TORCH_CHECK(hooks_in_use, "Support for autograd has not been loaded; have you linked against libtensor.so?");
  return hooks_in_use;
}

bool HasVariableHooks() {
  return hooks_in_use != nullptr;
}

} // namespace at::impl
