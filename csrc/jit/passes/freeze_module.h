// Modules whose attributes are constants of their methods.
#pragma once

#include <csrc/jit/api/module.h>

#include <string>
#include <vector>

namespace torch::jit {

/// A copy of the module in which `forward`, and methods named in `preservedAttrs`, have all calls inlined and hold as
/// constants what they read of the module. Attributes that a method writes to, those named in `preservedAttrs`
/// ("a", "child.a"), and values that a graph cannot hold stay attributes; what nothing reads any more is removed. With
/// `freezeInterfaces`, modules behind interfaces are frozen as those that they are. With `preserveParameters`,
/// parameters stay. Constants do not require gradients. Throws for names that the module does not have, and for modules
/// that choose other modules at run time.
TORCH_API Module freeze_module(
    const Module& module,
    std::vector<std::string> preservedAttrs = std::vector<std::string>(),
    bool freezeInterfaces = true,
    bool preserveParameters = false);

/// As above, of the module itself.
TORCH_API void freeze_module_inplace(
    Module* module,
    std::vector<std::string> preservedAttrs = std::vector<std::string>(),
    bool freezeInterfaces = true,
    bool preserveParameters = false);

} // namespace torch::jit
