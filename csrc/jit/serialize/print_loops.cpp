#include <csrc/jit/serialize/print_loops.h>

#include <csrc/jit/ir/constants.h>

#include <limits>
#include <optional>

namespace torch::jit {

namespace {

constexpr int64_t kAnyNumber = std::numeric_limits<int64_t>::max();

bool is_true(const Value* value) {
  return constant_as<bool>(value).value_or(false);
}

bool is_printable_loop(const Node* loop) {
  return is_for_loop(loop) || is_while_loop(loop);
}

bool has_other_loops(const Block* block) {
  for (const Node* node : block->nodes()) {
    if (node->kind() == prim::Loop && !is_printable_loop(node)) {
      return true;
    }
    for (const Block* inner : node->blocks()) {
      if (has_other_loops(inner)) {
        return true;
      }
    }
  }
  return false;
}

// Loop(trips, condition, carried...) becomes Loop(any, condition and 0 < trips, carried..., 0), whose block counts in
// the last carried value and goes on while its own condition holds and trips are left.
void make_while(Node* loop) {
  Graph& graph = *loop->owningGraph();
  Block* body = loop->blocks()[0];
  Value* trips = loop->input(0);
  const auto go_on = [&](Value* condition, Value* done) {
    Value* left = graph.insert(aten::lt, {NamedValue(done), NamedValue(trips)});
    return graph.insert(aten::__and__, {NamedValue(condition), NamedValue(left)});
  };
  {
    const WithInsertPoint at(loop);
    Value* none_done = graph.insertConstant(int64_t(0));
    loop->replaceInput(1, go_on(loop->input(1), none_done));
    loop->replaceInput(0, graph.insertConstant(kAnyNumber));
    loop->addInput(none_done);
  }
  loop->addOutput()->setType(IntType::get());
  Value* done = body->addInput()->setType(IntType::get());
  body->inputs()[0]->replaceAllUsesWith(done);
  {
    const WithInsertPoint at(body);
    Value* one_more = graph.insert(aten::add, {NamedValue(done), NamedValue(graph.insertConstant(int64_t(1)))});
    body->replaceOutput(0, go_on(body->outputs()[0], one_more));
    body->registerOutput(one_more);
  }
}

void replace_other_loops(Block* block) {
  for (Node* node : block->nodes()) {
    for (Block* inner : node->blocks()) {
      replace_other_loops(inner);
    }
    if (node->kind() == prim::Loop && !is_printable_loop(node)) {
      make_while(node);
    }
  }
}

} // namespace

bool is_for_loop(const Node* loop) {
  return is_true(loop->input(1)) && is_true(loop->blocks()[0]->outputs()[0]);
}

bool is_while_loop(const Node* loop) {
  return constant_as<int64_t>(loop->input(0)) == kAnyNumber && !loop->blocks()[0]->inputs()[0]->hasUses();
}

std::shared_ptr<Graph> with_printable_loops(const std::shared_ptr<Graph>& graph) {
  if (!has_other_loops(graph->block())) {
    return graph;
  }
  std::shared_ptr<Graph> copy = graph->copy();
  replace_other_loops(copy->block());
  return copy;
}

} // namespace torch::jit
