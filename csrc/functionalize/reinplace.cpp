#include <csrc/functionalize/reinplace.h>

#include <csrc/functionalize/functional_form.h>
#include <csrc/functionalize/meta_call.h>
#include <csrc/functionalize/views.h>
#include <csrc/fx/effects.h>
#include <aten/core/LegacyTypeDispatch.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace torch::functionalize {

namespace {

using fx::Arg;
using fx::Node;
using fx::NodeKind;
using fx::Value;
using Key = std::pair<const Node*, uint32_t>;

class Reinplace {
 public:
  explicit Reinplace(fx::Graph& graph) : graph_(graph) {
    size_t place = 0;
    for (Node* node : graph.nodes()) {
      place_[node] = place++;
      note_owner(*node);
      for (size_t i = 0; i < node->args().size(); ++i) {
        node->args()[i].for_each_value([&](Value value) {
          size_t& last = last_use_[owner({value.node, value.result})];
          if (i > 0 || !is_final_copy(*node)) {
            last = std::max(last, place_[node]);
          }
          if (node->kind() == NodeKind::Output) {
            returned_.insert(owner({value.node, value.result}));
          }
        });
      }
    }
  }

  size_t run() {
    for (Node* node : graph_.nodes()) {
      if (is_final_copy(*node)) {
        write_into_input(*node);
      }
    }
    for (Node* node : graph_.nodes()) {
      if (may_write(*node) && is_own(*node)) {
        chosen_.insert(node);
      }
    }
    for (Node* node : graph_.nodes()) {
      if (chosen_.count(node) != 0) {
        replace(*node);
      }
    }
    for (Node* node : final_copies_) {
      graph_.erase_node(node);
    }
    return chosen_.size();
  }

 private:
  static bool is_final_copy(const Node& node) {
    return node.is_operator("aten::copy_") && node.arg(size_t(0)).is_value() &&
        node.arg(size_t(0)).value().node->kind() == NodeKind::Placeholder && node.arg(size_t(1)).is_value();
  }

  void note_owner(const Node& node) {
    if (!is_view_node(node) || !node.is_operator()) {
      return;
    }
    for (const Arg& arg : node.args()) {
      if (arg.is_value()) {
        owner_[{&node, 0}] = owner({arg.value().node, arg.value().result});
        return;
      }
    }
  }
  Key owner(Key key) const {
    const auto found = owner_.find(key);
    return found == owner_.end() ? key : found->second;
  }

  static const Value* self_of(const Node& node, Value& place) {
    if (!node.is_operator() || node.args().empty() || !node.arg(size_t(0)).is_value()) {
      return nullptr;
    }
    place = node.arg(size_t(0)).value();
    return &place;
  }

  /// Whether the node has a form that writes, and its first argument is not needed afterwards.
  bool may_write(const Node& node) const {
    Value self;
    if (!self_of(node, self) || fx::is_impure(node) || is_view_node(node) || node.num_results() != 1 ||
        !inplace_form(node.operator_handle())) {
      return false;
    }
    const Key key{self.node, self.result};
    const fx::TensorInfo *const before = self.node->info(self.result), *const after = node.info();
    if (owner(key) != key || !before || !after || *before != *after || returned_.count(key) != 0) {
      return false;
    }
    for (size_t i = 1; i < node.args().size(); ++i) {
      bool reads_it = false;
      node.arg(i).for_each_value([&](Value value) { reads_it = reads_it || owner({value.node, value.result}) == key; });
      if (reads_it) {
        return false;
      }
    }
    return last_use_.at(key) == place_.at(&node);
  }

  /// Whether the first argument is a tensor that an operator made in memory of its own.
  bool is_own(const Node& node) {
    const Node& maker = *node.arg(size_t(0)).value().node;
    if (!maker.is_operator()) {
      return false;
    }
    const auto [known, is_new] = makes_own_.emplace(&maker, false);
    if (is_new) {
      known->second = makes_own(maker);
    }
    return known->second;
  }

  /// Schemas do not tell all: without data, the results must share memory with no argument.
  static bool makes_own(const Node& maker) {
    try {
      for (const Arg& arg : maker.args()) {
        arg.for_each_value([&](Value value) { TORCH_CHECK(value.node->info(value.result), "it is not known"); });
      }
      std::vector<at::Tensor> arguments;
      torch::jit::Stack stack = arguments_of(maker, [&](Value value) -> c10::IValue {
        arguments.push_back(meta_of(*value.node->info(value.result)));
        return arguments.back();
      });
      use_meta_device(maker.schema(), stack);
      const at::AutoDispatchBelowADInplaceOrView below;
      maker.operator_handle().callBoxed(&stack);
      for (const c10::IValue& result : stack) {
        for (const at::Tensor& argument : arguments) {
          if (!result.isTensor() || (result.toTensor().defined() && result.toTensor().is_alias_of(argument))) {
            return false;
          }
        }
      }
      return true;
    } catch (const c10::Error&) {
      return false;
    }
  }

  /// Lets the operators between an input and the value that it is to hold write to it.
  void write_into_input(Node& copy) {
    const Value input = copy.arg(size_t(0)).value();
    Value at = copy.arg(size_t(1)).value();
    if (returned_.count(owner({at.node, at.result})) != 0 ||
        last_use_[owner({at.node, at.result})] > place_.at(&copy)) {
      return;
    }
    std::vector<Node*> chain;
    while (at.node->is_operator() && may_write(*at.node)) {
      chain.push_back(at.node);
      at = at.node->arg(size_t(0)).value();
      if (at == input) {
        chosen_.insert(chain.begin(), chain.end());
        final_copies_.push_back(&copy);
        return;
      }
    }
  }

  void replace(Node& node) {
    const auto here = graph_.inserting_before(&node);
    Node* const writing = graph_.call_operator(*inplace_form(node.operator_handle()), node.args());
    writing->set_info(*node.info());
    node.replace_all_uses_with(writing);
    writing->set_module_path(node.module_path());
    graph_.erase_node(&node);
  }

  fx::Graph& graph_;
  std::map<const Node*, size_t> place_;
  std::map<Key, Key> owner_; // of views: the value whose memory they lie in
  std::map<Key, size_t> last_use_; // of memory, but for copies at the end
  std::set<Key> returned_;
  std::map<const Node*, bool> makes_own_;
  std::set<Node*> chosen_;
  std::vector<Node*> final_copies_;
};

} // namespace

size_t reinplace(fx::Graph& graph) {
  const size_t count = Reinplace(graph).run();
  graph.lint();
  return count;
}

} // namespace torch::functionalize
