// Which values a graph still needs at each of its nodes.
#pragma once

#include <csrc/jit/ir/ir.h>

#include <memory>
#include <unordered_map>
#include <vector>

namespace torch::jit {

/// For each node the values that it, or what runs after it, uses and that are there before it: what a copy of the
/// program that goes on from that node has to be given. Values are in the order in which the graph makes them.
TORCH_API std::unordered_map<Node*, std::vector<Value*>> BuildLivenessSets(std::shared_ptr<Graph> graph);

} // namespace torch::jit
