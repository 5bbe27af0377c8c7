#include <csrc/jit/passes/loop_unrolling.h>

#include <csrc/jit/frontend/schema_matching.h>
#include <csrc/jit/ir/constants.h>
#include <csrc/jit/passes/dead_code_elimination.h>

#include <algorithm>
#include <optional>

namespace torch::jit {

namespace {

constexpr int64_t kMaxBodySize = 32;
constexpr int64_t kMaxBodyRepeats = 64;

bool always_true(const Value* value) {
  const std::optional<IValue> known = toIValue(value);
  return known && known->isBool() && known->toBool();
}

int64_t body_size(const Block* block) {
  int64_t size = 0;
  for (const Node* node : block->nodes()) {
    size += node->kind() == prim::Constant ? 0 : 1;
    for (const Block* inner : node->blocks()) {
      size += body_size(inner);
    }
  }
  return size;
}

// How often it runs, if that is known.
std::optional<int64_t> trips(Node* loop) {
  if (loop->kind() != prim::Loop || loop->blocks().size() != 1 || !always_true(loop->input(1)) ||
      !always_true(loop->blocks()[0]->outputs()[0])) {
    return std::nullopt;
  }
  const std::optional<IValue> known = toIValue(loop->input(0));
  return known && known->isInt() ? std::optional<int64_t>(known->toInt()) : std::nullopt;
}

void unroll(Node* loop, int64_t times) {
  Graph& graph = *loop->owningGraph();
  Block* body = loop->blocks()[0];
  const at::ArrayRef<Value*> initial = loop->inputs().slice(2);
  std::vector<Value*> state(initial.begin(), initial.end());
  std::optional<WithInsertPoint> guard(std::in_place, loop);
  for (int64_t turn = 0; turn < times; ++turn) {
    std::unordered_map<Value*, Value*> copies;
    const auto map_value = [&](Value* value) {
      const auto found = copies.find(value);
      return found == copies.end() ? value : found->second;
    };
    if (body->inputs()[0]->hasUses()) {
      copies[body->inputs()[0]] = graph.insertConstant(turn, loop->sourceRange(), loop->scope());
    }
    for (size_t i = 0; i < state.size(); ++i) {
      copies[body->inputs()[i + 1]] = state[i];
    }
    for (Node* node : body->nodes()) {
      Node* copy = graph.insertNode(graph.createClone(node, map_value));
      for (size_t i = 0; i < node->outputs().size(); ++i) {
        copies[node->output(i)] = copy->output(i);
      }
    }
    for (size_t i = 0; i < state.size(); ++i) {
      state[i] = map_value(body->outputs()[i + 1]);
    }
  }
  guard.reset();
  for (size_t i = 0; i < state.size(); ++i) {
    loop->output(i)->replaceAllUsesWith(state[i]);
  }
  loop->destroy();
}

bool unroll_loops(Block* block) {
  bool changed = false;
  for (auto it = block->nodes().begin(); it != block->nodes().end();) {
    Node* node = *it++;
    for (Block* inner : node->blocks()) {
      changed |= unroll_loops(inner);
    }
    const std::optional<int64_t> times = trips(node);
    if (times && *times <= kMaxBodyRepeats && body_size(node->blocks()[0]) <= kMaxBodySize) {
      unroll(node, *times);
      changed = true;
    }
  }
  return changed;
}

// The loops whose bodies have a node that the predicate accepts, in the order in which these stand.
void collect_loops(Block* block, Node* loop, const std::function<bool(Node*)>& accepts, std::vector<Node*>& loops) {
  for (Node* node : block->nodes()) {
    if (loop && accepts(node) && std::find(loops.begin(), loops.end(), loop) == loops.end()) {
      loops.push_back(loop);
    }
    for (Block* inner : node->blocks()) {
      collect_loops(inner, node->kind() == prim::Loop ? node : loop, accepts, loops);
    }
  }
}

} // namespace

bool UnrollConstantLoops(std::shared_ptr<Graph>& graph) {
  const bool changed = unroll_loops(graph->block());
  if (changed) {
    EliminateDeadCode(graph);
  }
  return changed;
}

bool UnrollLoops(std::shared_ptr<Graph>& graph) {
  return UnrollConstantLoops(graph);
}

Node* PeelLoop(Node* loop, size_t times) {
  TORCH_CHECK(
      loop->kind() == prim::Loop && loop->blocks().size() == 1, "PeelLoop: a prim::Loop is needed, this is ",
      loop->kind().toQualString());
  Graph& graph = *loop->owningGraph();
  const WithInsertPoint guard(loop);
  Value* limit = graph.insertConstant(static_cast<int64_t>(times));
  Node* peeled = graph.insertNode(graph.createClone(loop, [](Value* value) { return value; }));
  {
    const WithInsertPoint before(peeled);
    peeled->replaceInput(0, graph.insert(prim::min, {loop->input(0), limit}));
  }
  // The rest begins where the copy has ended; its counter starts from there.
  Value* rest = graph.insert(aten::sub, {loop->input(0), peeled->input(0)});
  Value* go_on = loop->input(1);
  Block* peeled_body = peeled->blocks()[0];
  // Whether the copy would have gone on is known inside of it alone: it is carried out as one more state.
  peeled_body->registerOutput(peeled_body->outputs()[0]);
  peeled_body->addInput()->setType(BoolType::get());
  peeled->addInput(go_on);
  Value* still = peeled->addOutput()->setType(BoolType::get());
  loop->replaceInput(0, rest);
  loop->replaceInput(1, still);
  for (size_t i = 0; i < loop->outputs().size(); ++i) {
    loop->replaceInput(i + 2, peeled->output(i));
  }
  Block* body = loop->blocks()[0];
  if (body->inputs()[0]->hasUses()) {
    Value* counter = body->inputs()[0];
    Node* first = *body->nodes().begin();
    const WithInsertPoint inside(first);
    Value* shifted = graph.insert(aten::add, {counter, peeled->input(0)});
    counter->replaceAllUsesWith(shifted);
    shifted->node()->replaceInput(0, counter);
  }
  return peeled;
}

bool LoopsPeeler::run(const std::shared_ptr<Graph>& graph) {
  std::vector<Node*> loops;
  collect_loops(graph->block(), nullptr, callback_, loops);
  for (Node* loop : loops) {
    PeelLoop(loop, num_iterations_);
  }
  return !loops.empty();
}

} // namespace torch::jit
