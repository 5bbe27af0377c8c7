#include <csrc/jit/passes/variadic_ops.h>

#include <csrc/jit/ir/alias_analysis.h>
#include <csrc/jit/passes/remove_mutation.h>

#include <optional>
#include <utility>

namespace torch::jit {

namespace {

const Symbol kVarConcat = Symbol::fromQualString("prim::VarConcat");
const Symbol kVarStack = Symbol::fromQualString("prim::VarStack");

// The place of the only list among the arguments.
std::optional<size_t> list_argument(const Node& node) {
  const FunctionSchema* schema = node.maybeSchema();
  if (!schema) {
    return std::nullopt;
  }
  std::optional<size_t> found;
  for (size_t i = 0; i < schema->arguments().size(); ++i) {
    if (schema->arguments()[i].type()->kind() == TypeKind::ListType) {
      if (found) {
        return std::nullopt;
      }
      found = i;
    }
  }
  return found;
}

void find_nodes(Block* block, NodeKind op, std::vector<Node*>& nodes) {
  for (Node* node : block->nodes()) {
    if (node->kind() == op) {
      nodes.push_back(node);
    }
    for (Block* inner : node->blocks()) {
      find_nodes(inner, op, nodes);
    }
  }
}

Node* replace(Graph& graph, Node* node, size_t place, NodeKind variadic_op) {
  std::vector<Value*> inputs(node->inputs().begin(), node->inputs().end());
  const at::ArrayRef<Value*> elements = inputs[place]->node()->inputs();
  inputs.erase(inputs.begin() + static_cast<ptrdiff_t>(place));
  inputs.insert(inputs.begin() + static_cast<ptrdiff_t>(place), elements.begin(), elements.end());
  Node* variadic = graph.create(variadic_op, inputs)->insertBefore(node)->setSourceRange(node->sourceRange());
  variadic->output()->copyMetadata(node->output());
  node->output()->replaceAllUsesWith(variadic->output());
  return variadic;
}

// Whether the list holds what it was made with when the node reads it.
bool is_as_constructed(const Value* list, Node* reader, AliasDb& aliases) {
  if (list->node()->kind() != prim::ListConstruct) {
    return false;
  }
  Node* maker = const_cast<Node*>(list->node());
  return !aliases.hasWriters(list) ||
      (maker->owningBlock() == reader->owningBlock() && aliases.couldMoveBeforeTopologically(maker, reader));
}

} // namespace

bool UseVariadicOp(const std::shared_ptr<Graph>& graph, NodeKind op, NodeKind variadic_op) {
  std::vector<Node*> nodes;
  find_nodes(graph->block(), op, nodes);
  if (nodes.empty()) {
    return false;
  }
  AliasDb aliases(graph);
  std::vector<std::pair<Node*, size_t>> replaced;
  for (Node* node : nodes) {
    const std::optional<size_t> place = list_argument(*node);
    if (place && node->outputs().size() == 1 && is_as_constructed(node->input(*place), node, aliases)) {
      replaced.emplace_back(node, *place);
    }
  }
  for (const auto& [node, place] : replaced) {
    replace(*graph, node, place, variadic_op);
  }
  for (const auto& [node, place] : replaced) {
    std::vector<Node*> makers;
    for (Value* input : node->inputs()) {
      makers.push_back(input->node());
    }
    node->destroy();
    for (Node* maker : makers) {
      if (maker->kind() == prim::ListConstruct && !maker->hasUses()) {
        maker->destroy();
      }
    }
  }
  return !replaced.empty();
}

bool RemoveListMutationAndUseVariadicOp(const std::shared_ptr<Graph>& graph, NodeKind op, NodeKind variadic_op) {
  // What reads a list before it is changed goes first: then the change can be part of the list.
  bool changed = false;
  while (UseVariadicOp(graph, op, variadic_op) || RemoveListMutation(graph)) {
    changed = true;
  }
  return changed;
}

bool UseVariadicCat(const std::shared_ptr<Graph>& graph) {
  return UseVariadicOp(graph, aten::cat, kVarConcat);
}
bool RemoveListMutationAndUseVariadicCat(const std::shared_ptr<Graph>& graph) {
  return RemoveListMutationAndUseVariadicOp(graph, aten::cat, kVarConcat);
}
bool UseVariadicStack(const std::shared_ptr<Graph>& graph) {
  return UseVariadicOp(graph, aten::stack, kVarStack);
}
bool RemoveListMutationAndUseVariadicStack(const std::shared_ptr<Graph>& graph) {
  return RemoveListMutationAndUseVariadicOp(graph, aten::stack, kVarStack);
}

} // namespace torch::jit
