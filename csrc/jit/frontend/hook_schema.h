// Which functions can be hooks of a module.
#pragma once

#include <aten/core/class_type.h>
#include <aten/core/function.h>

#include <vector>

namespace torch::jit {

/// Throws c10::Error where a function cannot be called with what forward, or the hook before it, takes or gives. The
/// hooks follow those that the class has already.
void check_hook_schemas(
    const c10::ClassType& type, const std::vector<Function*>& pre_hooks, const std::vector<Function*>& hooks);

} // namespace torch::jit
