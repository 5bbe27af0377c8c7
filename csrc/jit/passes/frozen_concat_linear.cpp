#include <csrc/jit/passes/frozen_concat_linear.h>

#include <csrc/jit/ir/alias_analysis.h>
#include <csrc/jit/ir/constants.h>

#include <aten/ops/cat.h>

#include <algorithm>

namespace torch::jit {

namespace {

/// A linear layer whose parameters are known.
struct FrozenLinear {
  Node* node;
  at::Tensor weight;
  at::Tensor bias; // undefined if it has none

  bool fits(const FrozenLinear& other) const {
    return weight.options().type_equal(other.weight.options()) && weight.size(1) == other.weight.size(1) &&
        bias.defined() == other.bias.defined() && (!bias.defined() || bias.options().type_equal(other.bias.options()));
  }
};

std::optional<FrozenLinear> frozen_linear(Node* node) {
  if (node->kind() != aten::linear || node->inputs().size() != 3) {
    return std::nullopt;
  }
  const std::optional<IValue> weight = toIValue(node->input(1));
  const std::optional<IValue> bias = toIValue(node->input(2));
  if (!weight || !weight->isTensor() || weight->toTensor().dim() != 2 || !bias ||
      !(bias->isNone() || (bias->isTensor() && bias->toTensor().dim() == 1))) {
    return std::nullopt;
  }
  return FrozenLinear{node, weight->toTensor(), bias->isNone() ? at::Tensor() : bias->toTensor()};
}

// The layers that take the value, in the order of the block, and fit together with the first.
std::vector<FrozenLinear> group_of(Value* input, const FrozenLinear& first) {
  std::vector<FrozenLinear> group;
  for (const Use& use : input->uses()) {
    const std::optional<FrozenLinear> layer = use.offset == 0 && use.user->owningBlock() == first.node->owningBlock()
        ? frozen_linear(use.user)
        : std::nullopt;
    if (layer && layer->fits(first)) {
      group.push_back(*layer);
    }
  }
  std::sort(group.begin(), group.end(), [](const FrozenLinear& a, const FrozenLinear& b) {
    return a.node->isBefore(b.node);
  });
  return group;
}

Node* merge(const std::vector<FrozenLinear>& group) {
  const at::NoGradGuard no_grad;
  std::vector<at::Tensor> weights;
  std::vector<at::Tensor> biases;
  for (const FrozenLinear& layer : group) {
    weights.push_back(layer.weight);
    if (layer.bias.defined()) {
      biases.push_back(layer.bias);
    }
  }
  Node* first = group[0].node;
  Graph& graph = *first->owningGraph();
  const WithInsertPoint guard(first);
  Value* weight = graph.insertConstant(at::cat(weights, 0).detach());
  Value* bias = graph.insertConstant(biases.empty() ? IValue() : IValue(at::cat(biases, 0).detach()));
  Node* merged = graph.create(aten::linear, {first->input(0), weight, bias});
  merged->insertBefore(first)->copyMetadata(first);
  int64_t begin = 0;
  for (const FrozenLinear& layer : group) {
    const int64_t end = begin + layer.weight.size(0);
    Value* part = graph.insert(aten::slice, {merged->output(), -1, begin, end, 1}, {}, layer.node->sourceRange());
    layer.node->output()->replaceAllUsesWith(part);
    begin = end;
  }
  return merged;
}

bool concatenate(Block* block, const AliasDb& alias_db) {
  bool changed = false;
  for (Node* node = *block->nodes().begin(); node != block->return_node(); node = node->next()) {
    for (Block* inner : node->blocks()) {
      changed |= concatenate(inner, alias_db);
    }
    const std::optional<FrozenLinear> layer = frozen_linear(node);
    // Results that are written to may not share memory; an input that is written to differs from layer to layer.
    if (!layer || alias_db.hasWriters(node)) {
      continue;
    }
    std::vector<FrozenLinear> group = group_of(node->input(0), *layer);
    std::erase_if(group, [&](const FrozenLinear& each) { return alias_db.hasWriters(each.node); });
    if (group.size() < 2) {
      continue;
    }
    node = merge(group);
    for (const FrozenLinear& each : group) {
      each.node->destroy();
    }
    changed = true;
  }
  return changed;
}

} // namespace

bool FrozenConcatLinear(std::shared_ptr<Graph>& graph) {
  const AliasDb alias_db(graph);
  return concatenate(graph->block(), alias_db);
}

} // namespace torch::jit
