#include <csrc/jit/passes/concat_opt.h>

#include <csrc/jit/ir/constants.h>

#include <algorithm>
#include <optional>
#include <vector>

namespace torch::jit {

namespace {

std::vector<Node*> nodes_of(Block* block, Symbol kind) {
  std::vector<Node*> found;
  for (Node* node : block->nodes()) {
    for (Block* inner : node->blocks()) {
      const std::vector<Node*> inside = nodes_of(inner, kind);
      found.insert(found.end(), inside.begin(), inside.end());
    }
    if (node->kind() == kind) {
      found.push_back(node);
    }
  }
  return found;
}

bool same_dim(const Node* a, const Node* b) {
  const Value* first = a->inputs().back();
  const Value* second = b->inputs().back();
  const std::optional<IValue> one = toIValue(first), other = toIValue(second);
  return first == second || (one && other && one->isInt() && other->isInt() && one->toInt() == other->toInt());
}

// ---- aten::cat of aten::cat

bool is_cat_of_own_list(const Node* node, const AliasDb& aliases) {
  return node->kind() == aten::cat && node->inputs().size() == 2 &&
      node->input(0)->node()->kind() == prim::ListConstruct && node->input(0)->uses().size() == 1 &&
      !aliases.hasWriters(node->input(0));
}

bool combine(Node* outer, const AliasDb& aliases) {
  Node* list = outer->input(0)->node();
  for (size_t i = 0; i < list->inputs().size(); ++i) {
    Node* inner = list->input(i)->node();
    if (!is_cat_of_own_list(inner, aliases) || !same_dim(inner, outer) || inner->output()->uses().size() != 1 ||
        aliases.hasWriters(inner)) {
      continue;
    }
    // What the inner one concatenated is read later now.
    const std::vector<Value*> elements = inner->input(0)->node()->inputs().vec();
    if (std::any_of(elements.begin(), elements.end(), [&](Value* each) { return aliases.hasWriters(each); })) {
      continue;
    }
    list->removeInput(i);
    for (size_t j = 0; j < elements.size(); ++j) {
      list->insertInput(i + j, elements[j]);
    }
    Node* inner_list = inner->input(0)->node();
    inner->destroy();
    inner_list->destroy();
    return true;
  }
  return false;
}

// ---- prim::VarConcat of the inputs of another

/// A concatenation as it was found, and the value that holds its result now.
struct Concat {
  Node* node;
  std::vector<Value*> tensors;
  Value* result;

  explicit Concat(Node* node) : node(node), tensors(node->inputs().vec()), result(node->output()) {
    tensors.pop_back(); // the dimension
  }
};

/// Where all tensors of `other` begin among those of `concat`: at its begin or its end.
std::optional<size_t> place_of(const Concat& other, const Concat& concat) {
  for (const size_t first : {size_t{0}, concat.tensors.size() - other.tensors.size()}) {
    if (std::equal(
            other.tensors.begin(), other.tensors.end(), concat.tensors.begin() + static_cast<std::ptrdiff_t>(first))) {
      return first;
    }
  }
  return std::nullopt;
}

// Two of the same are left to the elimination of common subexpressions: results may be written to.
bool use_result_of(const Concat& other, Concat& concat, const AliasDb& aliases) {
  if (other.tensors.size() < 2 || other.tensors.size() >= concat.tensors.size() || !same_dim(concat.node, other.node) ||
      !concat.node->isDominatedBy(other.node) || aliases.hasWriters(other.node)) {
    return false;
  }
  const std::optional<size_t> place = place_of(other, concat);
  if (!place) {
    return false;
  }
  std::vector<Value*> inputs = concat.node->inputs().vec();
  const auto first = inputs.begin() + static_cast<std::ptrdiff_t>(*place);
  *first = other.result;
  inputs.erase(first + 1, first + static_cast<std::ptrdiff_t>(other.tensors.size()));
  Node* shorter = concat.node->owningGraph()->create(concat.node->kind(), inputs);
  shorter->insertBefore(concat.node)->copyMetadata(concat.node);
  shorter->output()->setType(concat.node->output()->type());
  concat.result = shorter->output();
  concat.node->output()->replaceAllUsesWith(concat.result);
  return true;
}

} // namespace

bool CombineConcats(const std::shared_ptr<Graph>& graph) {
  bool changed = false;
  for (;;) {
    const AliasDb aliases(graph);
    const std::vector<Node*> nodes = nodes_of(graph->block(), aten::cat);
    const bool again = std::any_of(nodes.begin(), nodes.end(), [&](Node* node) {
      return is_cat_of_own_list(node, aliases) && combine(node, aliases);
    });
    if (!again) {
      return changed;
    }
    changed = true;
  }
}

bool EliminateConcatCommonInputs(const std::shared_ptr<Graph>& graph) {
  std::vector<Concat> concats;
  for (Node* node : nodes_of(graph->block(), Symbol::fromQualString("prim::VarConcat"))) {
    if (!node->inputs().empty() && node->outputs().size() == 1) {
      concats.emplace_back(node);
    }
  }
  const AliasDb aliases(graph);
  std::vector<Node*> replaced;
  for (size_t i = 0; i < concats.size(); ++i) {
    const std::vector<Value*>& tensors = concats[i].tensors;
    if (std::any_of(tensors.begin(), tensors.end(), [&](const Value* each) { return aliases.hasWriters(each); })) {
      continue;
    }
    // The nearest one before it has most in common.
    for (size_t j = i; j-- > 0;) {
      if (use_result_of(concats[j], concats[i], aliases)) {
        replaced.push_back(concats[i].node);
        break;
      }
    }
  }
  for (Node* node : replaced) {
    node->destroy();
  }
  return !replaced.empty();
}

} // namespace torch::jit
