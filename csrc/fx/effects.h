// What nodes do beside giving results.
#pragma once

#include <csrc/fx/graph.h>

#include <functional>
#include <vector>

namespace torch::fx {

/// Whether the node may neither be left out nor done another number of times: it writes, draws random numbers, checks
/// or prints something, or nothing is known of it.
TORCH_API bool is_impure(const Node& node);
/// Whether it draws random numbers.
TORCH_API bool is_random(const Node& node);
/// Whether it writes to arguments; `visit(Value)` is called for each result of a node that it writes to.
TORCH_API bool writes(const Node& node, const std::function<void(Value)>& visit = {});

/// Which values may share memory: those of one set.
class TORCH_API AliasSets {
 public:
  explicit AliasSets(const Graph& graph);
  /// Above the ids of the nodes that it knows.
  size_t size() const {
    return parents_.size();
  }
  bool may_alias(const Node* a, const Node* b) const {
    return set_of(a) == set_of(b);
  }
  /// Whether some node of the graph writes to memory that the node's results may have.
  bool is_written(const Node* node) const {
    return written_[set_of(node)];
  }
  /// Whether results of the graph may share its memory.
  bool is_returned(const Node* node) const {
    return returned_[set_of(node)];
  }

 private:
  uint32_t set_of(const Node* node) const;
  uint32_t root(uint32_t id);
  void join(uint32_t a, uint32_t b);

  std::vector<uint32_t> parents_;
  std::vector<bool> written_;
  std::vector<bool> returned_;
};

} // namespace torch::fx
