// What of a graph depends on frozen inputs alone.
#pragma once

#include <csrc/compile/inference.h>

#include <memory>
#include <vector>

namespace torch::fused {

/// Cuts off what depends on frozen inputs alone; `is_frozen` says it of each input. The graph is changed, and is
/// `main`.
InferenceGraphs split_ahead(std::shared_ptr<fx::Graph> graph, const std::vector<bool>& is_frozen);

} // namespace torch::fused
