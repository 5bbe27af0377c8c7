// Loops that source text has no word for.
#pragma once

#include <csrc/jit/ir/ir.h>

#include <memory>

namespace torch::jit {

/// `for i in range(n)`: the condition is always true.
bool is_for_loop(const Node* loop);
/// `while condition`: any number of trips, which nobody counts.
bool is_while_loop(const Node* loop);
/// The graph, or a copy where each loop that is neither became a `while` that counts.
std::shared_ptr<Graph> with_printable_loops(const std::shared_ptr<Graph>& graph);

} // namespace torch::jit
