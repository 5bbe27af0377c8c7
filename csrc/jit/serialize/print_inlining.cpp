#include <csrc/jit/serialize/print_inlining.h>

namespace torch::jit {

namespace {

const Node* before(const Node* node) {
  do {
    node = node->prev();
  } while (is_constant_node(node));
  return node;
}

bool may_be_placed(const Node* node) {
  if (node->outputs().size() != 1 || !node->blocks().empty() || node->hasAttribute(attr::Subgraph)) {
    return false;
  }
  const Value* result = node->output(0);
  if (result->uses().size() != 1) {
    return false;
  }
  const Use& use = result->uses()[0];
  if (use.user->owningBlock() != node->owningBlock()) {
    return false;
  }
  // The program's names stay.
  if (result->hasDebugName() && use.user->kind() != prim::Return) {
    return false;
  }
  // What a loop carries is assigned before the number of its trips is evaluated.
  if (use.user->kind() == prim::Loop && use.offset >= 2) {
    return false;
  }
  // A subgraph uses it at another time.
  if (use.user->hasAttribute(attr::Subgraph)) {
    return false;
  }
  switch (node->kind()) {
    case prim::isinstance: // as a condition it would refine types when it is read again
    case prim::ModuleContainerIndex: // has an annotation
    case prim::TupleUnpack:
    case prim::ListUnpack:
    case prim::Enter:
      return false;
    default:
      return true;
  }
}

} // namespace

void PlacedNodes::place_inputs(const Node* root) {
  struct Visit {
    const Node* node;
    size_t inputs_left;
  };
  // The next node that may be placed.
  const Node* candidate = before(root);
  std::vector<Visit> visits{{root, root->inputs().size()}};
  while (!visits.empty()) {
    Visit& visit = visits.back();
    if (visit.inputs_left == 0) {
      visits.pop_back();
      continue;
    }
    const Node* producer = visit.node->input(--visit.inputs_left)->node();
    if (producer == candidate && may_be_placed(producer)) {
      placed_.insert(producer);
      candidate = before(producer);
      visits.push_back({producer, producer->inputs().size()});
    }
  }
}

void PlacedNodes::place_block(const Block& block) {
  place_inputs(block.return_node());
  for (const Node* node = block.return_node()->prev(); node != block.return_node(); node = node->prev()) {
    if (is_constant_node(node)) {
      continue;
    }
    for (const Block* inner : node->blocks()) {
      place_block(*inner);
    }
    if (!contains(node)) {
      place_inputs(node);
    }
  }
}

} // namespace torch::jit
