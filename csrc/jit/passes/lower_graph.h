// Methods as functions of their parameters.
#pragma once

#include <csrc/jit/ir/ir.h>

#include <memory>
#include <utility>
#include <vector>

namespace torch::jit {

/// A copy of a method's graph that takes, in place of the module, each attribute that it reads as a further input
/// behind its own; and the values of these attributes in `self`. Calls must have been inlined: throws ErrorReport where
/// a module is used for anything but reading its attributes.
TORCH_API std::pair<std::shared_ptr<Graph>, std::vector<IValue>> LowerGraph(
    Graph& graph, const c10::intrusive_ptr<c10::ivalue::Object>& self);

} // namespace torch::jit
