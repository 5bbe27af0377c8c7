// Whether a graph keeps to the rules of Note [Graphs].
#include <csrc/fx/graph.h>

#include <csrc/fx/coerce.h>
#include <c10/util/Exception.h>

#include <unordered_set>

namespace torch::fx {

namespace {

class Linter {
 public:
  explicit Linter(const Graph& graph) : graph_(graph) {}

  void run() {
    bool past_inputs = false;
    size_t count = 0;
    for (const Node* node : graph_.nodes()) {
      TORCH_CHECK(
          !node->is_erased() && &node->graph() == &graph_, "lint: node %", node->name(), " is not of the graph");
      TORCH_CHECK(names_.insert(node->name()).second, "lint: the name %", node->name(), " stands for two nodes");
      TORCH_CHECK(
          graph_.find_node(node->name()) == node, "lint: the graph does not know node %", node->name(), " by its name");
      const bool is_input = node->kind() == NodeKind::Placeholder;
      TORCH_CHECK(!(is_input && past_inputs), "lint: placeholder %", node->name(), " follows other nodes");
      past_inputs = past_inputs || !is_input;
      TORCH_CHECK(
          (node->kind() == NodeKind::Output) == (node->next() == nullptr),
          "lint: the output must be the last node, "
          "and is not: %",
          node->name());
      check_args(*node);
      check_users(*node);
      check_infos(*node);
      before_.insert(node);
      ++count;
    }
    TORCH_CHECK(count == graph_.size(), "lint: the graph has ", count, " nodes and counts ", graph_.size());
    TORCH_CHECK(graph_.output_node() != nullptr, "lint: the graph has no output");
  }

 private:
  void check_args(const Node& node) {
    for (const Arg& arg : node.args()) {
      check_arg(node, arg);
    }
    if (!node.is_operator()) {
      return;
    }
    TORCH_CHECK(
        node.operator_handle().hasSchema(), "lint: operator ", node.target(), " of node %", node.name(),
        " is not registered any more");
    const auto& formals = node.schema().arguments();
    TORCH_CHECK(node.args().size() == formals.size(), "lint: node %", node.name(), " does not fit its schema");
    for (size_t i = 0; i < formals.size(); ++i) {
      coerce(node.args()[i], formals[i], node.schema());
    }
  }

  void check_arg(const Node& node, const Arg& arg) {
    if (arg.is_value()) {
      const Node* const input = arg.value().node;
      TORCH_CHECK(
          before_.count(input) != 0, "lint: Argument '", input->name(), "' of Node '", node.name(),
          "' was used before it has been defined! Please check that Nodes in the graph are topologically ordered");
      TORCH_CHECK(arg.value().result < input->num_results(), "lint: %", input->name(), " has no such result");
    } else if (arg.kind() == Arg::Kind::Size) {
      TORCH_CHECK(arg.size().index() < graph_.sizes().size(), "lint: a size of another table in %", node.name());
    } else if (arg.kind() == Arg::Kind::Graph) {
      arg.graph()->lint();
    } else if (arg.is_list()) {
      for (const Arg& item : arg.list()) {
        check_arg(node, item);
      }
    }
  }

  void check_users(const Node& node) {
    std::unordered_set<const Node*> inputs;
    for (const Arg& arg : node.args()) {
      arg.for_each_value([&](Value value) { inputs.insert(value.node); });
    }
    const std::vector<Node*> linked = node.all_input_nodes();
    TORCH_CHECK(
        linked.size() == inputs.size(), "lint: node %", node.name(), " uses ", inputs.size(), " nodes, and ",
        linked.size(), " know");
    for (const Node* input : linked) {
      TORCH_CHECK(inputs.count(input) != 0, "lint: %", input->name(), " has a user that does not use it");
    }
    TORCH_CHECK(node.users().size() == node.num_users(), "lint: %", node.name(), " counts its users wrong");
  }

  void check_infos(const Node& node) {
    for (uint32_t i = 0; i < node.num_results(); ++i) {
      const TensorInfo* const info = node.info(i);
      if (!info) {
        continue;
      }
      TORCH_CHECK(
          info->strides.empty() || info->strides.size() == info->sizes.size(), "lint: %", node.name(), " has ",
          info->sizes.size(), " sizes and ", info->strides.size(), " strides");
      for (const std::vector<Dim>* dims : {&info->sizes, &info->strides}) {
        for (const Dim dim : *dims) {
          TORCH_CHECK(
              !dim.is_expression() || dim.index() < graph_.sizes().size(), "lint: a size of another table at %",
              node.name());
        }
      }
    }
  }

  const Graph& graph_;
  std::unordered_set<std::string> names_;
  std::unordered_set<const Node*> before_;
};

} // namespace

void Graph::lint() const {
  Linter(*this).run();
}

} // namespace torch::fx
