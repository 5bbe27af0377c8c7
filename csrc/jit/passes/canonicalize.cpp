#include <csrc/jit/passes/canonicalize.h>

#include <algorithm>
#include <numeric>

namespace torch::jit {

namespace {

void drop_names(Block* block) {
  for (Value* input : block->inputs()) {
    input->setDebugName("");
  }
  for (Node* node : block->nodes()) {
    for (Value* output : node->outputs()) {
      output->setDebugName("");
    }
    for (Block* inner : node->blocks()) {
      drop_names(inner);
    }
  }
}

// The order in which outputs are first used; those without uses come last, and keep their order.
std::vector<size_t> order_of_uses(at::ArrayRef<Value*> outputs) {
  std::vector<std::optional<Use>> first;
  for (Value* output : outputs) {
    const std::optional<const Use> use = firstOrLastUse(output, true);
    first.push_back(use ? std::optional<Use>(*use) : std::nullopt);
  }
  std::vector<size_t> order(outputs.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    if (!first[a] || !first[b]) {
      return first[a].has_value() && !first[b];
    }
    return !(*first[a] == *first[b]) && isBeforeOrAfter(*first[a], *first[b], true);
  });
  return order;
}

std::vector<size_t> shifted(const std::vector<size_t>& order, size_t by) {
  std::vector<size_t> result(by);
  std::iota(result.begin(), result.end(), size_t{0});
  for (const size_t i : order) {
    result.push_back(i + by);
  }
  return result;
}

// From the end: the order of an inner node's outputs depends on nothing before it.
void canonicalize_outputs(Block* block) {
  for (Node* node : block->nodes().reverse()) {
    if (node->kind() == prim::If && node->blocks().size() == 2) {
      const std::vector<size_t> order = order_of_uses(node->outputs());
      node->permuteOutputs(order);
      for (Block* inner : node->blocks()) {
        inner->permuteOutputs(order);
      }
    } else if (
        node->kind() == prim::Loop && node->blocks().size() == 1 &&
        node->inputs().size() == node->outputs().size() + 2) {
      const std::vector<size_t> order = order_of_uses(node->outputs());
      node->permuteOutputs(order);
      node->permuteInputs(shifted(order, 2));
      node->blocks()[0]->permuteInputs(shifted(order, 1));
      node->blocks()[0]->permuteOutputs(shifted(order, 1));
    }
    for (Block* inner : node->blocks()) {
      canonicalize_outputs(inner);
    }
  }
}

} // namespace

std::shared_ptr<Graph> Canonicalize(const std::shared_ptr<Graph>& graph, bool keep_unique_names) {
  // Numbers are given in the order in which a copy is made.
  std::shared_ptr<Graph> copy = graph->copy();
  if (!keep_unique_names) {
    drop_names(copy->block());
  }
  return copy;
}

bool isBeforeOrAfter(const Use& a, const Use& b, bool checking_before) {
  if (a.user == b.user) {
    return checking_before ? a.offset < b.offset : a.offset > b.offset;
  }
  return checking_before ? a.user->isBefore(b.user) : a.user->isAfter(b.user);
}

std::optional<const Use> firstOrLastUse(Value* value, bool find_first) {
  if (!value->hasUses()) {
    return std::nullopt;
  }
  const Use* found = &value->uses().front();
  for (const Use& use : value->uses()) {
    if (!(use == *found) && isBeforeOrAfter(use, *found, find_first)) {
      found = &use;
    }
  }
  return *found;
}

void CanonicalizeOutputs(std::shared_ptr<Graph>& graph) {
  canonicalize_outputs(graph->block());
}

} // namespace torch::jit
