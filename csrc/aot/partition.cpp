#include <csrc/aot/partition.h>

#include <csrc/aot/liveness.h>
#include <csrc/aot/min_cut.h>
#include <csrc/aot/recompute.h>
#include <csrc/fx/effects.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace torch::aot {

namespace {

using fx::Arg;
using fx::Node;
using fx::NodeKind;
using fx::Value;
using functionalize::ResultSpec;

struct ByPlace {
  bool operator()(const Value& a, const Value& b) const {
    return std::pair(a.node->id(), a.result) < std::pair(b.node->id(), b.result);
  }
};
using Values = std::set<Value, ByPlace>;

class Cut {
 public:
  Cut(const Joint& joint, const std::vector<bool>& is_state)
      : joint_(joint), graph_(*joint.functional.graph), is_state_(is_state), inputs_(graph_.placeholders()) {
    const size_t ids = graph_.num_ids();
    order_.resize(ids);
    needs_tangent_.resize(ids);
    input_number_.resize(ids, inputs_.size());
    for (size_t i = 0; i < inputs_.size(); ++i) {
      input_number_[inputs_[i]->id()] = i;
      needs_tangent_[inputs_[i]->id()] = i >= joint.num_inputs;
    }
    for (const Node* node : graph_.nodes()) {
      order_[node->id()] = nodes_.size();
      nodes_.push_back(node);
      if (node->kind() == NodeKind::Placeholder || node->kind() == NodeKind::Output) {
        continue;
      }
      bool needs = is_backward(*node) && fx::is_impure(*node);
      for_each_input(*node, [&](Value value) { needs = needs || needs_tangent_[value.node->id()]; });
      needs_tangent_[node->id()] = needs;
    }
    note_results();
  }

  Partition run(double memory_budget) {
    Partition made = build(cut(0));
    if (memory_budget >= 1) {
      return made;
    }
    rank_operators();
    const auto budget = static_cast<int64_t>(memory_budget * static_cast<double>(made.bytes_kept));
    const size_t needed = least_freed(budget);
    // What is computed again takes memory itself: of all that keep no more, the way with the lowest peak.
    int64_t peak = peak_of(made);
    for (size_t step = 1; step <= kTried; ++step) {
      Partition other = build(cut(needed * step / kTried));
      const int64_t other_peak = peak_of(other);
      if (other_peak < peak || (other_peak == peak && other.bytes_kept < made.bytes_kept)) {
        peak = other_peak;
        made = std::move(other);
      }
    }
    return made;
  }

 private:
  // ---- the joint graph

  bool is_backward(const Node& node) const {
    return node.id() < joint_.is_backward.size() && joint_.is_backward[node.id()];
  }
  uint32_t checkpoint_of(const Node& node) const {
    return node.id() < joint_.checkpoints.size() && !is_backward(node) ? joint_.checkpoints[node.id()] : 0;
  }

  template <class Visit>
  static void for_each_input(const Node& node, const Visit& visit) {
    for (const Arg& arg : node.args()) {
      arg.for_each_value(visit);
    }
  }

  /// Results of the forward pass, and those of the backward pass.
  void note_results() {
    const auto& all = graph_.output_node()->args();
    for (const size_t root : joint_.roots) {
      forward_results_.push_back(all[root].value());
    }
    for (const size_t write : joint_.tracked_writes) {
      forward_results_.push_back(joint_.functional.written_value(write).value());
    }
    for (size_t i = 0; i < joint_.functional.written.size(); ++i) {
      if (std::find(joint_.tracked_writes.begin(), joint_.tracked_writes.end(), i) == joint_.tracked_writes.end()) {
        written_.emplace_back(joint_.functional.written[i], joint_.functional.written_value(i).value());
      }
    }
    for (const ResultSpec& spec : joint_.grads) {
      if (spec.of == ResultSpec::Of::Root) {
        backward_results_.push_back(all[spec.index].value());
      }
    }
  }

  // ---- what is kept

  static constexpr size_t kTried = 8; // ways that are compared, where there is a budget

  /// How far an operator is from being computed again: the budget goes through these ranks from below.
  struct Rank {
    Cost cost;
    double bytes_per_work;
    const Node* node;
  };

  /// What is kept when the `freed` operators that come first in the ranks may be computed again.
  Values cut(size_t freed) {
    std::set<const Node*> free_nodes;
    for (size_t i = 0; i < freed; ++i) {
      free_nodes.insert(ranks_[i].node);
    }
    number_values();
    Network network(2 * numbers_.size() + 2);
    const size_t source = 2 * numbers_.size(), sink = source + 1;
    for (const auto& [value, number] : numbers_) {
      const size_t in = 2 * number, out = in + 1;
      network.add_edge(in, out, capacity_of(value));
      if (value.node->kind() == NodeKind::Placeholder ||
          (!may_be_repeated(*value.node) && free_nodes.count(value.node) == 0)) {
        network.add_edge(source, in, Network::kInfinite);
        continue;
      }
      for_each_input(
          *value.node, [&](Value from) { network.add_edge(2 * numbers_.at(from) + 1, in, Network::kInfinite); });
    }
    for (const Value& value : needed_) {
      network.add_edge(2 * numbers_.at(value) + 1, sink, Network::kInfinite);
    }
    const std::vector<bool> side = network.cut(source, sink);
    TORCH_CHECK(!side[sink], "what the backward pass needs cannot be kept");
    Values kept;
    for (const auto& [value, number] : numbers_) {
      if (side[2 * number] && !side[2 * number + 1]) {
        kept.insert(value);
      }
    }
    return kept;
  }

  /// How many operators must be freed for so few bytes to be kept; all where that is not enough.
  size_t least_freed(int64_t budget) {
    size_t low = 0, high = ranks_.size();
    while (low < high) {
      const size_t middle = low + (high - low) / 2;
      if (bytes_of_kept(cut(middle)) <= budget) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return high;
  }

  Partition build(const Values& kept) {
    Partition made;
    made.bytes_kept = bytes_of_kept(kept);
    kept_.clear();
    build_forward(kept, made);
    build_backward(made);
    return made;
  }

  int64_t peak_of(const Partition& made) const {
    std::vector<bool> counts;
    for (const Kept& kept : made.kept) {
      counts.push_back(!kept.is_input);
    }
    counts.resize(made.backward->placeholders().size());
    return std::max(
        peak_bytes(*made.backward, counts),
        peak_bytes(*made.forward, std::vector<bool>(made.forward->placeholders().size())));
  }

  /// Values that the forward pass can compute, and those of them that the rest takes.
  void number_values() {
    if (!numbers_.empty()) {
      return;
    }
    size_t next = 0;
    for (const Node* node : nodes_) {
      if (node->kind() == NodeKind::Output) {
        continue;
      }
      if (needs_tangent_[node->id()]) {
        for_each_input(*node, [&](Value value) {
          if (!needs_tangent_[value.node->id()]) {
            needed_.insert(value);
          }
        });
        continue;
      }
      for (uint32_t i = 0; i < node->num_results(); ++i) {
        numbers_[{const_cast<Node*>(node), i}] = next++;
      }
    }
    for (const Value& value : backward_results_) {
      if (!needs_tangent_[value.node->id()]) {
        needed_.insert(value);
      }
    }
  }

  bool may_be_repeated(const Node& node) const {
    const Cost cost = cost_of(node);
    return cost == Cost::Small || cost == Cost::Pass || (checkpoint_of(node) != 0 && cost != Cost::Never);
  }

  int64_t capacity_of(Value value) const {
    const Node& node = *value.node;
    if (node.kind() == NodeKind::Placeholder) {
      return is_state_[input_number_[node.id()]] ? 1 : bytes_of(value) + 1;
    }
    const bool lies_elsewhere = is_view_node(node) && node.is_operator();
    const bool must_go = checkpoint_of(node) != 0 && cost_of(node) != Cost::Never && !leaves_checkpoint(value);
    return lies_elsewhere || must_go || !node.info(value.result) ? Network::kInfinite : bytes_of(value) + 1;
  }

  /// Whether something outside of its checkpoint takes it in the forward pass.
  bool leaves_checkpoint(Value value) const {
    for (const Value& result : forward_results_) {
      if (result == value) {
        return true;
      }
    }
    for (const Node* user : value.node->users()) {
      if (!is_backward(*user) && user->kind() != NodeKind::Output &&
          checkpoint_of(*user) != checkpoint_of(*value.node)) {
        return true;
      }
    }
    return false;
  }

  int64_t bytes_of_kept(const Values& kept) const {
    int64_t bytes = 0;
    for (const Value& value : kept) {
      bytes += value.node->kind() == NodeKind::Placeholder ? 0 : bytes_of(value);
    }
    return bytes;
  }

  void rank_operators() {
    for (const Node* node : nodes_) {
      const Cost cost = cost_of(*node);
      if (node->kind() == NodeKind::Placeholder || node->kind() == NodeKind::Output || needs_tangent_[node->id()] ||
          cost == Cost::Never || may_be_repeated(*node)) {
        continue;
      }
      double bytes = 0, work = 1;
      for (uint32_t i = 0; i < node->num_results(); ++i) {
        bytes += static_cast<double>(bytes_of({const_cast<Node*>(node), i}));
      }
      for_each_input(*node, [&](Value value) { work *= static_cast<double>(bytes_of(value) + 1); });
      ranks_.push_back({cost, bytes / work, node});
    }
    std::stable_sort(ranks_.begin(), ranks_.end(), [](const Rank& a, const Rank& b) {
      return a.cost != b.cost ? a.cost > b.cost : a.bytes_per_work > b.bytes_per_work;
    });
  }

  // ---- the two graphs

  /// `wanted` and what they are computed from, as far as `stops` has no such key; in the order of the joint graph.
  template <class Map>
  std::vector<const Node*> ancestors(const std::vector<Value>& wanted, const Map& stops) const {
    std::set<const Node*> taken;
    std::vector<const Node*> pending, found;
    const auto take = [&](Value value) {
      if (stops.count(value) == 0 && taken.insert(value.node).second) {
        pending.push_back(value.node);
      }
    };
    std::for_each(wanted.begin(), wanted.end(), take);
    while (!pending.empty()) {
      const Node* const node = pending.back();
      pending.pop_back();
      found.push_back(node);
      for_each_input(*node, take);
    }
    std::sort(
        found.begin(), found.end(), [&](const Node* a, const Node* b) { return order_[a->id()] < order_[b->id()]; });
    return found;
  }

  struct Copies {
    fx::Graph& graph;
    std::map<Value, Value, ByPlace> of;

    void add(const Node& node) {
      Node* const copy = graph.node_copy(&node, [&](Value value) { return Arg(of.at(value)); });
      for (uint32_t i = 0; i < node.num_results(); ++i) {
        of[{const_cast<Node*>(&node), i}] = {copy, i};
      }
    }
  };

  Node* add_input(Copies& copies, Value value) const {
    Node* const input = copies.graph.placeholder(value.node->name());
    if (const fx::TensorInfo* const info = value.node->info(value.result)) {
      input->set_info(*info);
    }
    copies.of[value] = {input, 0};
    return input;
  }

  void build_forward(const Values& kept, Partition& made) {
    made.forward = fx::Graph::create();
    Copies copies{*made.forward, {}};
    for (size_t i = 0; i < joint_.num_inputs; ++i) {
      add_input(copies, {inputs_[i], 0});
    }
    std::vector<Value> wanted = forward_results_;
    for (const auto& [input, value] : written_) {
      wanted.push_back(value);
    }
    wanted.insert(wanted.end(), kept.begin(), kept.end());
    for (const Node* node : nodes_) {
      if (!needs_tangent_[node->id()] && !is_backward(*node) && node->kind() != NodeKind::Output &&
          fx::is_impure(*node)) {
        wanted.push_back({const_cast<Node*>(node), 0});
      }
    }
    for (const Node* node : ancestors(wanted, Values())) {
      if (node->kind() != NodeKind::Placeholder) {
        copies.add(*node);
      }
    }
    std::vector<Arg> results;
    for (const Value& value : forward_results_) {
      results.emplace_back(copies.of.at(value));
    }
    for (const Value& value : kept) {
      kept_.push_back(value);
      made.kept.push_back(keep(value, copies, results));
    }
    for (const auto& [input, value] : written_) {
      made.forward->call_operator("aten::copy_", {copies.of.at({inputs_[input], 0}), copies.of.at(value)});
      made.written.push_back(input);
    }
    made.forward->output(std::move(results));
    made.forward->lint();
  }

  /// An input that is written to is kept as it was before.
  Kept keep(Value value, Copies& copies, std::vector<Arg>& results) const {
    if (value.node->kind() == NodeKind::Placeholder) {
      const size_t number = input_number_[value.node->id()];
      const auto& written = joint_.functional.written;
      if (std::find(written.begin(), written.end(), number) == written.end()) {
        return {true, number};
      }
      Node* const clone = copies.graph.call_operator("aten::clone", {copies.of.at(value)});
      clone->set_info(value.node->info() ? std::optional<fx::TensorInfo>(*value.node->info()) : std::nullopt);
      results.emplace_back(clone);
      return {false, results.size() - 1};
    }
    for (size_t i = 0; i < results.size(); ++i) {
      if (results[i].is_value() && results[i].value() == copies.of.at(value)) {
        return {false, i};
      }
    }
    results.emplace_back(copies.of.at(value));
    return {false, results.size() - 1};
  }

  void build_backward(Partition& made) {
    made.backward = fx::Graph::create();
    Copies copies{*made.backward, {}};
    Values stops;
    for (const Value& value : kept_) {
      add_input(copies, value);
      stops.insert(value);
    }
    for (const size_t tangent : joint_.tangents) {
      add_input(copies, {inputs_[tangent], 0});
      stops.insert({inputs_[tangent], 0});
    }
    std::vector<Value> wanted = backward_results_;
    for (const Node* node : nodes_) {
      if (is_backward(*node) && node->kind() != NodeKind::Output && fx::is_impure(*node)) {
        wanted.push_back({const_cast<Node*>(node), 0});
      }
    }
    // What is computed again comes as late as it can: just before what takes it.
    std::set<const Node*> done;
    const std::vector<const Node*> all = ancestors(wanted, stops);
    for (const Node* node : all) {
      if (needs_tangent_[node->id()]) {
        add_late(*node, done, copies);
      }
    }
    for (const Node* node : all) {
      add_late(*node, done, copies);
    }
    std::vector<Arg> results;
    std::map<Value, size_t, ByPlace> numbers;
    for (const ResultSpec& spec : joint_.grads) {
      ResultSpec own = spec;
      if (spec.of == ResultSpec::Of::Root) {
        const Value value = graph_.output_node()->arg(spec.index).value();
        const auto [found, is_new] = numbers.emplace(value, results.size());
        own.index = found->second;
        if (is_new) {
          results.emplace_back(own_result(value, copies));
        }
      }
      made.grads.push_back(std::move(own));
    }
    made.backward->output(std::move(results));
    made.backward->lint();
  }

  /// A result that is kept as it stands is an input of the graph, which may not be a result of it.
  Value own_result(Value value, Copies& copies) const {
    const Value made = copies.of.at(value);
    if (made.node->kind() != NodeKind::Placeholder) {
      return made;
    }
    Node* const clone = copies.graph.call_operator("aten::clone", {made});
    clone->set_info(made.node->info() ? std::optional<fx::TensorInfo>(*made.node->info()) : std::nullopt);
    return {clone, 0};
  }

  void add_late(const Node& node, std::set<const Node*>& done, Copies& copies) const {
    if (node.kind() == NodeKind::Placeholder || done.count(&node) != 0) {
      return;
    }
    std::vector<Value> missing;
    for_each_input(node, [&](Value value) {
      if (copies.of.count(value) == 0) {
        missing.push_back(value);
      }
    });
    for (const Node* before : ancestors(missing, copies.of)) {
      if (done.insert(before).second) {
        copies.add(*before);
      }
    }
    done.insert(&node);
    copies.add(node);
  }

  const Joint& joint_;
  const fx::Graph& graph_;
  const std::vector<bool>& is_state_;
  const std::vector<Node*> inputs_;
  std::vector<const Node*> nodes_;
  std::vector<size_t> order_; // by id
  std::vector<bool> needs_tangent_; // by id
  std::vector<size_t> input_number_; // by id
  std::vector<Value> forward_results_, backward_results_;
  std::vector<std::pair<size_t, Value>> written_; // inputs, in the graph
  std::map<Value, size_t, ByPlace> numbers_;
  Values needed_;
  std::vector<Rank> ranks_;
  std::vector<Value> kept_;
};

} // namespace

Partition partition(const Joint& joint, const std::vector<bool>& is_state, double memory_budget) {
  return Cut(joint, is_state).run(memory_budget);
}

} // namespace torch::aot
