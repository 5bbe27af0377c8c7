#include <csrc/jit/passes/liveness_sets.h>

#include <algorithm>
#include <set>

namespace torch::jit {

namespace {

// Backwards over the graph, as often as loops make values live that are used in the turn before.
class LivenessBuilder {
 public:
  std::unordered_map<Node*, std::vector<Value*>> build(Graph& graph) {
    do {
      changed_ = false;
      through(*graph.block(), {});
    } while (changed_);
    std::unordered_map<Node*, std::vector<Value*>> sets;
    for (const auto& [node, live] : live_) {
      std::vector<Value*> values(live.begin(), live.end());
      std::sort(values.begin(), values.end(), [](Value* a, Value* b) { return a->unique() < b->unique(); });
      sets.emplace(node, std::move(values));
    }
    return sets;
  }

 private:
  using Values = std::set<Value*>;

  static void add(Values& values, at::ArrayRef<Value*> more) {
    values.insert(more.begin(), more.end());
  }
  static void remove(Values& values, at::ArrayRef<Value*> some) {
    for (Value* value : some) {
      values.erase(value);
    }
  }

  // What is live before the block, given what is behind it.
  Values through(Block& block, Values live) {
    add(live, block.outputs());
    for (Node* node : block.nodes().reverse()) {
      through(*node, live);
    }
    remove(live, block.inputs());
    return live;
  }

  void through(Node& node, Values& live) {
    remove(live, node.outputs());
    Values before = live;
    for (Block* block : node.blocks()) {
      Values behind = live;
      if (node.kind() == prim::Loop) {
        // Another turn may follow.
        const Values& again = live_[&node];
        behind.insert(again.begin(), again.end());
      }
      const Values inside = through(*block, std::move(behind));
      before.insert(inside.begin(), inside.end());
    }
    add(before, node.inputs());
    Values& known = live_[&node];
    if (known != before) {
      known = before;
      changed_ = true;
    }
    live = std::move(before);
  }

  bool changed_ = false;
  std::unordered_map<Node*, Values> live_;
};

} // namespace

std::unordered_map<Node*, std::vector<Value*>> BuildLivenessSets(std::shared_ptr<Graph> graph) {
  return LivenessBuilder().build(*graph);
}

} // namespace torch::jit
