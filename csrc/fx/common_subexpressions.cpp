#include <csrc/fx/passes.h>

#include <csrc/fx/effects.h>

#include <unordered_map>

namespace torch::fx {

namespace {

/// A node by what it computes.
struct Computation {
  const Node* node;

  bool operator==(const Computation& other) const {
    return node->kind() == other.node->kind() && node->num_results() == other.node->num_results() &&
        node->target() == other.node->target() && node->args() == other.node->args();
  }
};

struct ComputationHash {
  size_t operator()(const Computation& computation) const {
    size_t seed = std::hash<std::string>()(computation.node->target());
    for (const Arg& arg : computation.node->args()) {
      seed = seed * 1000003 + arg.hash();
    }
    return seed;
  }
};

} // namespace

bool eliminate_common_subexpressions(Graph& graph) {
  const AliasSets aliases(graph);
  std::unordered_map<Computation, Node*, ComputationHash> known;
  bool changed = false;
  for (Node* node : graph.nodes()) {
    if (node->kind() == NodeKind::Placeholder || node->kind() == NodeKind::Output) {
      continue;
    }
    if (is_impure(*node)) {
      if (writes(*node)) {
        known.clear(); // what was computed before may have another value now
      }
      continue;
    }
    const auto [found, is_new] = known.emplace(Computation{node}, node);
    Node* const first = found->second;
    const bool keeps_apart = node->kind() != NodeKind::GetAttr &&
        (aliases.is_written(node) || aliases.is_written(first) ||
         (aliases.is_returned(node) && aliases.is_returned(first)));
    if (is_new || keeps_apart) {
      continue;
    }
    node->replace_all_uses_with(first);
    graph.erase_node(node);
    changed = true;
  }
  return changed;
}

} // namespace torch::fx
