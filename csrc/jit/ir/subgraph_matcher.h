// Where a small graph occurs in a large one.
#pragma once

#include <csrc/jit/ir/ir.h>

#include <unordered_map>
#include <vector>

namespace torch::jit {

/// One place where a pattern was found: what stands for the pattern's nodes and values.
struct Match {
  /// The node that gives the pattern's first output.
  Node* anchor;
  std::unordered_map<const Node*, Node*> nodes_map;
  std::unordered_map<const Value*, Value*> values_map;
};

/// All places where the nodes of a pattern occur in a graph. Inputs of the pattern stand for any value. Nodes match by
/// kind, attributes, and their inputs; types are not compared. A match lies within one block, and what it computes
/// inside is used by nothing else, but for the pattern's outputs. Constants of the pattern match equal constants;
/// attributes that are texts are regular expressions, and lists match nothing. All nodes of the pattern must lead to
/// its first output, and have no blocks; throws otherwise.
TORCH_API std::vector<Match> findPatternMatches(const Graph& pattern, Graph& graph);

} // namespace torch::jit
