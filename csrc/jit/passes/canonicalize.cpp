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
    if (node->outputs().size() < 2) {
      // There is one order.
    } else if (node->kind() == prim::If && node->blocks().size() == 2) {
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

// Blocks from `node` up to the graph's.
std::vector<const Block*> blocks_around(const Node* node) {
  std::vector<const Block*> blocks;
  for (const Block* block = node->owningBlock(); block;) {
    blocks.push_back(block);
    block = block->owningNode() ? block->owningNode()->owningBlock() : nullptr;
  }
  return blocks;
}

// Nodes in different blocks of one node come in the order of these.
std::optional<bool> is_in_earlier_block(const Node* a, const Node* b) {
  const std::vector<const Block*> around_a = blocks_around(a), around_b = blocks_around(b);
  size_t from_top = 1;
  while (from_top <= around_a.size() && from_top <= around_b.size() &&
         around_a[around_a.size() - from_top] == around_b[around_b.size() - from_top]) {
    ++from_top;
  }
  if (from_top > around_a.size() || from_top > around_b.size()) {
    return std::nullopt;
  }
  const Block* first = around_a[around_a.size() - from_top];
  const Block* second = around_b[around_b.size() - from_top];
  if (first->owningNode() != second->owningNode()) {
    return std::nullopt;
  }
  const auto blocks = first->owningNode()->blocks();
  return std::find(blocks.begin(), blocks.end(), first) < std::find(blocks.begin(), blocks.end(), second);
}

bool is_before(const Node* a, const Node* b) {
  const std::optional<bool> in_earlier_block = is_in_earlier_block(a, b);
  return in_earlier_block ? *in_earlier_block : a->isBefore(b);
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
  return checking_before ? is_before(a.user, b.user) : is_before(b.user, a.user);
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
