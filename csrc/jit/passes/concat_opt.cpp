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

// How many inputs of `node` from `first` on are all tensors of `other`; 0 if not all.
size_t count_of_shared(const Node* node, const Node* other, size_t first) {
  const size_t count = other->inputs().size() - 1;
  for (size_t i = 0; i < count; ++i) {
    if (node->input(first + i) != other->input(i)) {
      return 0;
    }
  }
  return count;
}

bool use_result_of(Node* other, Node* node, const AliasDb& aliases) {
  const size_t theirs = other->inputs().size() - 1, ours = node->inputs().size() - 1;
  if (theirs < 2 || theirs > ours || !same_dim(node, other) || !node->isDominatedBy(other) ||
      aliases.hasWriters(other)) {
    return false;
  }
  for (const size_t first : {size_t{0}, ours - theirs}) {
    if (count_of_shared(node, other, first) == 0) {
      continue;
    }
    if (theirs == ours) {
      // Two of the same are left to the elimination of common subexpressions: results may be written to.
      return false;
    }
    for (size_t i = 0; i < theirs; ++i) {
      node->removeInput(first);
    }
    node->insertInput(first, other->output());
    return true;
  }
  return false;
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
  const std::vector<Node*> nodes = nodes_of(graph->block(), Symbol::fromQualString("prim::VarConcat"));
  bool changed = false;
  const AliasDb aliases(graph);
  for (size_t i = nodes.size(); i-- > 0;) {
    const auto inputs = nodes[i]->inputs();
    if (std::any_of(inputs.begin(), inputs.end(), [&](const Value* each) { return aliases.hasWriters(each); })) {
      continue;
    }
    for (size_t j = i; j-- > 0;) {
      changed = use_result_of(nodes[j], nodes[i], aliases) || changed;
    }
  }
  return changed;
}

} // namespace torch::jit
