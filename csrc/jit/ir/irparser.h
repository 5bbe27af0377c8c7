// Graphs from their text.
#pragma once

#include <csrc/jit/ir/ir.h>

#include <functional>
#include <string>
#include <unordered_map>

namespace torch::jit {

/// Reads the text that printing a graph gives into an empty graph. Throws ErrorReport, which marks the place, where it
/// is wrong, and where the graph would not be valid.
///
/// Inputs of graphs and blocks keep their names; outputs of nodes are numbered in the order of the text, and a name
/// that is given again means the later value from there on. Errors of running a node mark it in the text, unless the
/// text names a place behind it. Values without a type are tensors. Classes that nothing knows become classes of that
/// name without members. Tensors are in the text only if they have one element: with `parse_tensor_constants` others
/// are made with the sizes of their type and zeros in them; without it they are refused.
TORCH_API void parseIR(const std::string& str, Graph* graph, bool parse_tensor_constants = false);

/// As above; `vmap` gets the values by their names in the text.
TORCH_API void parseIR(
    const std::string& str,
    Graph* graph,
    std::unordered_map<std::string, Value*>& vmap,
    bool parse_tensor_constants = false);

/// As above; `lookup` finds classes, interfaces and enums by their qualified names, or gives null.
TORCH_API void parseIR(
    const std::string& str,
    Graph* graph,
    std::unordered_map<std::string, Value*>& vmap,
    bool parse_tensor_constants,
    const std::function<TypePtr(const std::string& qualified_name)>& lookup);

} // namespace torch::jit
