#include <csrc/fx/passes.h>

#include <csrc/fx/effects.h>
#include <csrc/fx/interpreter.h>
#include <c10/core/GradMode.h>

#include <unordered_map>

namespace torch::fx {

namespace {

class Folding {
 public:
  Folding(GraphModule& module, const FoldOptions& options)
      : module_(module), graph_(module.graph()), options_(options), aliases_(graph_) {}

  bool run() {
    const c10::NoGradGuard no_grad;
    for (Node* node : graph_.nodes()) {
      evaluate(node);
    }
    bool changed = false;
    for (Node* node : graph_.nodes()) {
      changed = replace(node) || changed;
    }
    if (changed) {
      graph_.eliminate_dead_code();
      module_.delete_unused_attrs();
    }
    return changed;
  }

 private:
  void evaluate(Node* node) {
    if (aliases_.is_written(node)) {
      return;
    }
    if (node->kind() == NodeKind::GetAttr) {
      if (module_.has_attr(node->target()) && (options_.fold_state || !module_.is_state(node->target()))) {
        known_[node] = {module_.attr(node->target())};
      }
      return;
    }
    const bool is_call = node->kind() == NodeKind::CallOperator || node->kind() == NodeKind::CallFunction;
    if (!is_call || is_impure(*node)) {
      return;
    }
    for (const Node* input : node->all_input_nodes()) {
      if (known_.count(input) == 0) {
        return;
      }
    }
    std::vector<c10::IValue> results;
    try {
      results = compute(node);
    } catch (const c10::Error&) {
      return; // it fails when the graph runs, with the same message
    }
    for (const c10::IValue& result : results) {
      if (!is_small(result)) {
        return;
      }
    }
    known_[node] = std::move(results);
  }

  std::vector<c10::IValue> compute(const Node* node) {
    auto graph = Graph::create();
    std::vector<c10::IValue> inputs;
    std::vector<std::pair<Value, Node*>> taken;
    const auto map = [&](Value value) -> Arg {
      for (const auto& [known, parameter] : taken) {
        if (known == value) {
          return parameter;
        }
      }
      taken.emplace_back(value, graph->placeholder(value.node->name()));
      inputs.push_back(known_.at(value.node)[value.result]);
      return taken.back().second;
    };
    Node* const copy = graph->node_copy(node, map);
    std::vector<Arg> results;
    for (uint32_t i = 0; i < copy->num_results(); ++i) {
      results.emplace_back(Value{copy, i});
    }
    graph->output(std::move(results));
    const GraphModule one(graph);
    return one.forward(std::move(inputs));
  }

  bool is_small(const c10::IValue& value) const {
    return !value.isTensor() || !value.toTensor().defined() ||
        static_cast<int64_t>(value.toTensor().nbytes()) <= options_.max_bytes;
  }

  /// A tensor that the graph gives away is made anew in each run, and stays so.
  bool replace(Node* node) {
    const auto known = known_.find(node);
    const bool is_call = node->kind() == NodeKind::CallOperator || node->kind() == NodeKind::CallFunction;
    if (known == known_.end() || !is_call || aliases_.is_returned(node) || node->num_users() == 0) {
      return false;
    }
    bool is_last = false; // of the nodes that are known
    for (const Node* user : node->users()) {
      is_last = is_last || known_.count(user) == 0 || aliases_.is_returned(user);
    }
    if (!is_last) {
      return false;
    }
    std::vector<Arg> results;
    for (uint32_t i = 0; i < node->num_results(); ++i) {
      const c10::IValue& value = known->second[i];
      if (value.isTensor() && value.toTensor().defined()) {
        const auto here = graph_.inserting_before(node);
        const std::string path = fresh_path();
        module_.set_attr(path, value);
        Node* const attribute = graph_.get_attr(path);
        attribute->set_info(TensorInfo::of(value.toTensor()));
        results.emplace_back(attribute);
      } else if (value.isNone() || value.isScalar() || value.isString() || value.isDevice() || value.isIntList()) {
        results.emplace_back(value);
      } else {
        return false;
      }
    }
    node->replace_all_uses_with(results);
    return true;
  }

  std::string fresh_path() {
    std::string path;
    do {
      path = "_folded_" + std::to_string(next_++);
    } while (module_.has_attr(path));
    return path;
  }

  GraphModule& module_;
  Graph& graph_;
  const FoldOptions& options_;
  AliasSets aliases_;
  std::unordered_map<const Node*, std::vector<c10::IValue>> known_;
  size_t next_ = 0;
};

} // namespace

bool fold_constants(GraphModule& module, const FoldOptions& options) {
  return Folding(module, options).run();
}

} // namespace torch::fx
