// Calls of functions and methods, replaced by what they call.
#pragma once

#include <csrc/jit/api/graph_function.h>
#include <csrc/jit/ir/ir.h>

namespace torch::jit {

/// Replaces calls of compiled functions and of methods of known classes by their optimized graphs. Calls stay where a
/// function calls itself, where calls are nested very deeply and where the graph would become very large.
TORCH_API void Inline(Graph& graph);

/// As Inline(), by the graphs as they were written, with the calls in them inlined in turn: what is made of the whole
/// is to be optimized once, instead of at each level of calls.
TORCH_API void inlineAsWritten(Graph& graph);

/// The compiled function that a prim::CallFunction or prim::CallMethod calls; null if it is something else, or known
/// only at run time.
TORCH_API GraphFunction* tryToGraphFunction(Node* node);

/// Replaces a call by a copy of the graph, whose nodes remember the call for stack traces. The call is destroyed.
TORCH_API std::vector<Value*> inlineCallTo(Node* call, GraphFunction* callee, Graph& callee_graph);

} // namespace torch::jit
