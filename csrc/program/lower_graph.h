// Graphs in the form that archives of programs have.
#pragma once

#include <csrc/fx/graph.h>

namespace torch::program {

/// Arguments that are sizes of inputs become results of nodes: aten::sym_size, and arithmetic on numbers. Throws where
/// a size is that of no input.
void lower_sizes(fx::Graph& graph);

/// What stands between two calls of set_grad_enabled becomes a graph of its own, that wrap_with_set_grad_enabled runs.
void lower_grad_modes(fx::Graph& graph);

} // namespace torch::program
