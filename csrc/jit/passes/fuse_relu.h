// Additions that are followed by relu.
#pragma once

#include <csrc/jit/api/module.h>
#include <csrc/jit/ir/ir.h>

#include <memory>

namespace torch::jit {

/// relu(add(a, b)) becomes aten::_add_relu, in place where the additions were.
TORCH_API void FuseAddRelu(std::shared_ptr<Graph>& graph);
/// The same in `forward`.
TORCH_API void FuseAddRelu(Module& module);

} // namespace torch::jit
