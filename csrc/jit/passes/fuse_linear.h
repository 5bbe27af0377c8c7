// Matrix products that are linear layers.
#pragma once

#include <csrc/jit/api/module.h>
#include <csrc/jit/ir/ir.h>

#include <memory>

namespace torch::jit {

/// Products by a transposed weight, as older programs compute linear layers (aten::addmm, or aten::matmul with or
/// without aten::add_), become aten::linear.
TORCH_API void FuseLinear(std::shared_ptr<Graph>& graph);
/// Calls of torch.nn.functional.linear become aten::linear.
TORCH_API void SwapFunctionalLinear(std::shared_ptr<Graph>& graph);
/// As above, in all methods of the module and of the modules in it.
TORCH_API void SwapFunctionalLinear(Module& module);

} // namespace torch::jit
