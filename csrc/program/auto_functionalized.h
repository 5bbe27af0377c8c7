// Operators that write to arguments, in graphs in which nothing is written to.
#pragma once

#include <csrc/program/read_graph.h>

#include <vector>

namespace torch::program {

/// Writes out a node of the higher-order operators auto_functionalized and auto_functionalized_v2: copies of what the
/// operator writes to, the call, and as results those of the call (None where it has none) and then the copies.
std::vector<fx::Arg> expand_auto_functionalized(
    const Json& json, GraphReader& reader, fx::Graph& graph, const NamedValues& values);

} // namespace torch::program
