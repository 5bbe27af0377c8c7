// Inputs of functional graphs: attributes that become inputs, and inputs that are written in the end.
#include <csrc/functionalize/functionalize.h>

#include <map>
#include <unordered_map>

namespace torch::functionalize {

using fx::Arg;
using fx::Node;
using fx::NodeKind;
using fx::Value;

std::shared_ptr<fx::Graph> lift_attributes(
    const fx::Graph& graph, std::vector<std::string>& paths, std::vector<std::optional<uint32_t>>* ids) {
  std::shared_ptr<fx::Graph> lifted = fx::Graph::create();
  std::map<std::string, Node*> inputs;
  std::unordered_map<const Node*, Node*> copies;
  const auto map = [&](Value value) { return Arg(Value{copies.at(value.node), value.result}); };
  for (const Node* node : graph.nodes()) {
    if (node->kind() == NodeKind::Placeholder) {
      copies[node] = lifted->node_copy(node, map);
    }
  }
  for (const Node* node : graph.nodes()) {
    if (node->kind() == NodeKind::GetAttr) {
      Node*& input = inputs[node->target()];
      if (!input) {
        input = lifted->placeholder(node->name());
        input->set_info(node->info() ? std::optional<fx::TensorInfo>(*node->info()) : std::nullopt);
        paths.push_back(node->target());
      }
      copies[node] = input;
    } else if (node->kind() != NodeKind::Placeholder) {
      Node* const copy = copies[node] = lifted->node_copy(node, map);
      if (ids) {
        ids->resize(copy->id() + 1);
        (*ids)[copy->id()] = node->id();
      }
    }
  }
  return lifted;
}

std::vector<size_t> write_inputs_in_graph(Functional& functional, const std::vector<bool>& write) {
  fx::Graph& graph = *functional.graph;
  const std::vector<Node*> inputs = graph.placeholders();
  std::vector<Arg> results(
      graph.output_node()->args().begin(),
      graph.output_node()->args().begin() + static_cast<std::ptrdiff_t>(functional.num_roots));
  std::vector<size_t> in_graph, outside;
  for (size_t i = 0; i < functional.written.size(); ++i) {
    const size_t input = functional.written[i];
    const Arg value = functional.written_value(i);
    if (!write.at(input)) {
      outside.push_back(input);
      results.push_back(value);
      continue;
    }
    in_graph.push_back(input);
    const auto here = graph.inserting_before(graph.output_node());
    graph.call_operator("aten::copy_", {inputs[input], value});
  }
  graph.output(std::move(results));
  functional.written = std::move(outside);
  return in_graph;
}

} // namespace torch::functionalize
