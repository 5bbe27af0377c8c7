// Dropout that is off.
#pragma once

#include <csrc/jit/api/module.h>
#include <csrc/jit/ir/ir.h>

#include <memory>

namespace torch::jit {

/// Removes dropout in inference mode. Throws where dropout is on, or may be.
TORCH_API void removeDropout(std::shared_ptr<Graph>& graph);
/// As above, in all methods `forward` of the module and those in it. The module must be in eval mode.
TORCH_API void removeDropout(Module& module);

} // namespace torch::jit
