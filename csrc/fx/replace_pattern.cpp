#include <csrc/fx/passes.h>

#include <csrc/fx/effects.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace torch::fx {

namespace {

/// One attempt to find the pattern at one node.
class Match {
 public:
  Match(const Graph& pattern, const AliasSets& aliases) : pattern_(pattern), aliases_(aliases) {}

  bool find(Value at) {
    const auto& results = pattern_.output_node()->args();
    if (!match(results[0].value(), at)) {
      return false;
    }
    for (const Arg& result : results) {
      if (nodes_.count(result.value().node) == 0) {
        return false;
      }
    }
    return is_closed(at.node);
  }

  Arg input(const Node* parameter) const {
    const auto found = inputs_.find(parameter);
    return found == inputs_.end() ? Arg() : found->second;
  }
  Node* node(const Node* of_pattern) const {
    return nodes_.at(of_pattern);
  }
  const std::unordered_set<Node*>& taken() const {
    return taken_;
  }

 private:
  bool match(const Arg& wanted, const Arg& got) {
    if (wanted.is_value()) {
      const Node* const node = wanted.value().node;
      if (node->kind() == NodeKind::Placeholder) {
        const auto [found, is_new] = inputs_.emplace(node, got);
        return is_new || found->second == got;
      }
      return got.is_value() && match(wanted.value(), got.value());
    }
    if (wanted.is_list() && got.is_list() && wanted.list().size() == got.list().size()) {
      for (size_t i = 0; i < wanted.list().size(); ++i) {
        if (!match(wanted.list()[i], got.list()[i])) {
          return false;
        }
      }
      return true;
    }
    return wanted == got;
  }

  bool match(Value wanted, Value got) {
    if (wanted.result != got.result) {
      return false;
    }
    const auto known = nodes_.find(wanted.node);
    if (known != nodes_.end()) {
      return known->second == got.node;
    }
    if (wanted.node->kind() != got.node->kind() || wanted.node->target() != got.node->target() ||
        wanted.node->args().size() != got.node->args().size() || is_impure(*got.node) ||
        aliases_.is_written(got.node)) {
      return false;
    }
    nodes_[wanted.node] = got.node;
    taken_.insert(got.node);
    for (size_t i = 0; i < wanted.node->args().size(); ++i) {
      if (!match(wanted.node->args()[i], got.node->args()[i])) {
        return false;
      }
    }
    return true;
  }

  /// What is no result has no users outside; what uses a result comes after the node that the new ones go before.
  bool is_closed(const Node* last) const {
    std::unordered_set<const Node*> results;
    for (const Arg& result : pattern_.output_node()->args()) {
      results.insert(nodes_.at(result.value().node));
    }
    for (Node* node : taken_) {
      if (node->kind() == NodeKind::GetAttr) {
        continue;
      }
      for (Node* user : node->users()) {
        if (taken_.count(user) != 0) {
          continue;
        }
        if (results.count(node) == 0) {
          return false;
        }
        for (const Node* later = user; node != last && later; later = later->next()) {
          if (later == last) {
            return false;
          }
        }
      }
    }
    return true;
  }

  const Graph& pattern_;
  const AliasSets& aliases_;
  std::unordered_map<const Node*, Node*> nodes_;
  std::unordered_map<const Node*, Arg> inputs_;
  std::unordered_set<Node*> taken_;
};

void check_pattern(const Graph& pattern, const Graph& replacement) {
  TORCH_CHECK(pattern.output_node() && replacement.output_node(), "replace_pattern: a graph has no output");
  const auto& results = pattern.output_node()->args();
  TORCH_CHECK(
      pattern.placeholders().size() == replacement.placeholders().size() &&
          results.size() == replacement.output_node()->args().size(),
      "replace_pattern: pattern and replacement must have equally many inputs and results");
  TORCH_CHECK(!results.empty(), "replace_pattern: the pattern has no result");
  for (const Arg& result : results) {
    const bool is_computed = result.is_value() && result.value().node->kind() != NodeKind::Placeholder;
    TORCH_CHECK(is_computed, "replace_pattern: results of the pattern must be computed in it");
  }
}

} // namespace

size_t replace_pattern(Graph& graph, const Graph& pattern, const Graph& replacement) {
  check_pattern(pattern, replacement);
  const AliasSets aliases(graph);
  const auto& results = pattern.output_node()->args();
  const Value anchor = results[0].value();
  const std::vector<Node*> parameters = pattern.placeholders();
  size_t count = 0;
  for (Node* node : graph.nodes()) {
    Match match(pattern, aliases);
    const bool may_fit = node->kind() == anchor.node->kind() && node->target() == anchor.node->target();
    // Nodes that a replacement brought are not looked at.
    if (!may_fit || node->id() >= aliases.size() || !match.find({node, anchor.result})) {
      continue;
    }
    std::vector<Arg> inputs;
    for (const Node* parameter : parameters) {
      inputs.push_back(match.input(parameter));
    }
    const auto here = graph.inserting_before(node);
    const std::vector<Arg> made = graph.inline_graph(replacement, inputs);
    std::unordered_map<const Node*, std::vector<Arg>> with;
    for (size_t i = 0; i < results.size(); ++i) {
      Node* const old = match.node(results[i].value().node);
      auto& values = with[old];
      for (uint32_t k = static_cast<uint32_t>(values.size()); k < old->num_results(); ++k) {
        values.emplace_back(Value{old, k});
      }
      values[results[i].value().result] = made[i];
    }
    for (const auto& [old, values] : with) {
      const_cast<Node*>(old)->replace_all_uses_with(values);
    }
    ++count;
  }
  if (count > 0) {
    graph.eliminate_dead_code();
  }
  return count;
}

size_t replace_pattern(Graph& graph, std::string_view pattern, std::string_view replacement) {
  return replace_pattern(graph, *Graph::parse(pattern), *Graph::parse(replacement));
}

} // namespace torch::fx
