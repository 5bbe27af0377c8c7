// How much memory a graph holds while it runs.
#pragma once

#include <csrc/fx/graph.h>

#include <cstdint>
#include <vector>

namespace torch::aot {

/// The most bytes that values of a functional graph hold at once when each is let go after its last use. Inputs count,
/// until their last use, where `counts` says so.
int64_t peak_bytes(const fx::Graph& graph, const std::vector<bool>& counts);

} // namespace torch::aot
