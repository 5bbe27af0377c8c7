#include <csrc/compile/inference_ahead.h>

#include <csrc/fx/effects.h>

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

namespace torch::fused {

namespace {

using fx::Arg;
using fx::Node;
using fx::NodeKind;
using fx::TensorInfo;
using fx::Value;

/// Cuts off what depends on frozen inputs alone.
class Splitter {
 public:
  Splitter(std::shared_ptr<fx::Graph> graph, const std::vector<bool>& is_frozen)
      : main_(std::move(graph)), ahead_(fx::Graph::create()) {
    const auto inputs = main_->placeholders();
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (i < is_frozen.size() && is_frozen[i]) {
        frozen_.emplace(inputs[i], i);
      }
    }
  }

  InferenceGraphs run() {
    std::vector<Node*> found;
    for (Node* node : main_->nodes()) {
      if (depends_on_frozen(*node)) {
        depends_.emplace(node, true);
        found.push_back(node);
      }
    }
    std::vector<Arg> results;
    for (Node* node : found) {
      // Views are made where they are taken.
      const std::vector<Node*> users = node->users();
      const bool is_taken = !node->schema().hasAnyAliasInfo() &&
          std::any_of(users.begin(), users.end(), [&](const Node* user) { return depends_.count(user) == 0; });
      if (is_taken) {
        results.push_back(copy(Value{node, 0}));
        Node* const input = main_->placeholder(node->name() + "_ahead");
        input->set_info(node->info() ? std::optional<TensorInfo>(*node->info()) : std::nullopt);
        replaced_.emplace_back(node, input);
      }
    }
    if (results.empty()) {
      return {main_, nullptr, {}};
    }
    for (auto& [node, input] : replaced_) {
      node->replace_all_uses_with(input);
    }
    main_->eliminate_dead_code();
    ahead_->output(std::move(results));
    return {main_, ahead_, std::move(inputs_)};
  }

 private:
  bool depends_on_frozen(const Node& node) const {
    if (node.kind() != NodeKind::CallOperator || node.num_results() != 1 || node.schema().is_mutable() ||
        fx::is_impure(node)) {
      return false;
    }
    size_t tensors = 0;
    for (const Arg& arg : node.args()) {
      if (arg.is_value()) {
        const Node* const from = arg.value().node;
        if (frozen_.count(from) == 0 && depends_.count(from) == 0) {
          return false;
        }
        ++tensors;
      } else if (!arg.is_constant() && !arg.is_none()) {
        return false;
      }
    }
    return tensors > 0;
  }

  Arg copy(Value value) {
    const auto known = copies_.find(value.node);
    if (known != copies_.end()) {
      return Value{known->second, value.result};
    }
    Node* made = nullptr;
    const auto input = frozen_.find(value.node);
    if (input != frozen_.end()) {
      made = ahead_->placeholder(value.node->name());
      inputs_.push_back(input->second);
    } else {
      made = ahead_->node_copy(value.node, [&](Value from) { return copy(from); });
    }
    made->set_info(value.node->info() ? std::optional<TensorInfo>(*value.node->info()) : std::nullopt);
    copies_.emplace(value.node, made);
    return Value{made, value.result};
  }

  std::shared_ptr<fx::Graph> main_, ahead_;
  std::unordered_map<const Node*, size_t> frozen_;
  std::unordered_map<const Node*, bool> depends_;
  std::unordered_map<const Node*, Node*> copies_;
  std::vector<std::pair<Node*, Node*>> replaced_;
  std::vector<size_t> inputs_;
};

} // namespace

InferenceGraphs split_ahead(std::shared_ptr<fx::Graph> graph, const std::vector<bool>& is_frozen) {
  return Splitter(std::move(graph), is_frozen).run();
}

} // namespace torch::fused
