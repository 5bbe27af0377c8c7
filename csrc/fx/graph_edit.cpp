// Graphs into graphs: copies, inlining, parts.
#include <csrc/fx/graph.h>

#include <c10/util/Exception.h>

#include <unordered_map>
#include <unordered_set>

namespace torch::fx {

namespace {

/// What stands for the results of nodes.
class Replacements {
 public:
  void set(const Node* node, std::vector<Arg> results) {
    results_[node] = std::move(results);
  }
  void set(const Node* node, Node* copy) {
    std::vector<Arg> results;
    for (uint32_t i = 0; i < node->num_results(); ++i) {
      results.emplace_back(Value{copy, i});
    }
    set(node, std::move(results));
  }
  Arg operator()(Value value) const {
    const auto found = results_.find(value.node);
    TORCH_CHECK(found != results_.end(), "node %", value.node->name(), " is used before it is made");
    return found->second[value.result];
  }

 private:
  std::unordered_map<const Node*, std::vector<Arg>> results_;
};

struct ValueHash {
  size_t operator()(const Value& value) const {
    return std::hash<const void*>()(value.node) * 31 + value.result;
  }
};

} // namespace

std::vector<Arg> Graph::inline_graph(const Graph& other, const std::vector<Arg>& inputs) {
  const std::vector<Node*> parameters = other.placeholders();
  TORCH_CHECK(&other != this, "a graph cannot be put into itself; take a copy");
  TORCH_CHECK(
      inputs.size() == parameters.size(), "the graph takes ", parameters.size(), " inputs, got ", inputs.size());
  check_own(inputs);
  Replacements replaced;
  for (size_t i = 0; i < inputs.size(); ++i) {
    replaced.set(parameters[i], std::vector<Arg>{inputs[i]});
  }
  std::vector<Arg> results;
  for (const Node* node : other.nodes()) {
    if (node->kind() == NodeKind::Output) {
      for (const Arg& arg : node->args()) {
        results.push_back(arg.map_parts(replaced, [&](Dim dim) { return Arg(sizes_.import(dim, other.sizes_)); }));
      }
    } else if (node->kind() != NodeKind::Placeholder) {
      replaced.set(node, node_copy(node, replaced));
    }
  }
  return results;
}

std::shared_ptr<Graph> Graph::copy() const {
  std::shared_ptr<Graph> graph = create();
  for (const SizeTable::Entry& entry : sizes_.entries()) {
    if (entry.op == SizeOp::Symbol) {
      graph->sizes_.symbol(entry.name, entry.min, entry.max);
    }
  }
  Replacements replaced;
  for (const Node* node : nodes()) {
    replaced.set(node, graph->node_copy(node, replaced));
  }
  return graph;
}

std::shared_ptr<Graph> Graph::extract(
    const std::vector<Node*>& nodes_to_take, std::vector<Value>& inputs, std::vector<Value>& outputs) const {
  inputs.clear();
  outputs.clear();
  std::unordered_set<const Node*> inside;
  for (const Node* node : nodes_to_take) {
    TORCH_CHECK(node && &node->graph() == this && !node->is_erased(), "extract() got a node of another graph");
    TORCH_CHECK(
        node->kind() != NodeKind::Placeholder && node->kind() != NodeKind::Output,
        "extract() takes calls and "
        "attributes, node %",
        node->name(), " is a ", node->op());
    inside.insert(node);
  }
  std::shared_ptr<Graph> part = create();
  Replacements replaced;
  std::unordered_set<Value, ValueHash> known;
  const auto add_input = [&](Value value) {
    if (inside.count(value.node) != 0 || !known.insert(value).second) {
      return;
    }
    Node* const parameter = part->placeholder(value.node->name());
    if (const TensorInfo* info = value.node->info(value.result)) {
      TensorInfo own = *info;
      for (std::vector<Dim>* dims : {&own.sizes, &own.strides}) {
        for (Dim& dim : *dims) {
          dim = part->sizes_.import(dim, sizes_);
        }
      }
      parameter->set_info(std::move(own));
    }
    inputs.push_back(value);
  };
  for (const Node* node : nodes()) {
    if (inside.count(node) != 0) {
      for (const Arg& arg : node->args()) {
        arg.for_each_value(add_input);
      }
    }
  }
  const std::vector<Node*> parameters = part->placeholders();
  std::unordered_map<Value, Arg, ValueHash> from_outside;
  for (size_t i = 0; i < inputs.size(); ++i) {
    from_outside[inputs[i]] = parameters[i];
  }
  const auto map = [&](Value value) {
    const auto found = from_outside.find(value);
    return found != from_outside.end() ? found->second : replaced(value);
  };
  std::vector<Arg> results;
  for (const Node* node : nodes()) {
    if (inside.count(node) == 0) {
      continue;
    }
    Node* const copy = part->node_copy(node, map);
    replaced.set(node, copy);
    std::vector<bool> is_taken(node->num_results());
    for (const Node* user : node->users()) {
      if (inside.count(user) == 0) {
        for (const Arg& arg : user->args()) {
          arg.for_each_value([&](Value value) {
            if (value.node == node) {
              is_taken[value.result] = true;
            }
          });
        }
      }
    }
    for (uint32_t i = 0; i < node->num_results(); ++i) {
      if (is_taken[i]) {
        outputs.push_back({const_cast<Node*>(node), i});
        results.emplace_back(Value{copy, i});
      }
    }
  }
  part->output(std::move(results));
  return part;
}

} // namespace torch::fx
