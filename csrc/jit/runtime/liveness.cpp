#include <csrc/jit/runtime/liveness.h>

#include <algorithm>

namespace torch::jit {

bool is_constant_node(const Node* node) {
  return node->kind() == prim::Constant || node->kind() == prim::Uninitialized;
}

Liveness::Liveness(Graph& graph, bool (*reads_in_place)(const Node*)) : reads_in_place_(reads_in_place) {
  find_inline_nodes(graph.block());
  number_loads(graph.block());
}

// ---- nodes whose values stay on the stack ---------------------------------------------------------------------------

namespace {

Node* previous_evaluated(Node* node) {
  do {
    node = node->prev();
  } while (node->kind() == prim::Constant || node->kind() == prim::Uninitialized);
  return node;
}

bool may_be_inline(const Node* node) {
  return node->outputs().size() == 1 && node->output()->uses().size() == 1 && node->blocks().empty() &&
      node->kind() != prim::Param && node->kind() != prim::Return;
}

} // namespace

// From the end: while the nodes before a user are those that make its inputs, last input first, nothing else is
// evaluated in between, and each of them may as well be evaluated where its value is needed.
void Liveness::find_inline_nodes(Block* block) {
  find_inline_inputs(block->return_node());
  for (Node* node : block->nodes().reverse()) {
    for (Block* inner : node->blocks()) {
      find_inline_nodes(inner);
    }
    if (!is_inline(node)) {
      find_inline_inputs(node);
    }
  }
}

// Returns the first node before all that became inline. A chain of nodes may be long: no recursion.
Node* Liveness::find_inline_inputs(Node* node) {
  struct Scanned {
    Node* node;
    size_t inputs_left;
  };
  const auto scanned = [this](Node* scanned_node) {
    return Scanned{scanned_node, reads_in_place_(scanned_node) ? 0 : scanned_node->inputs().size()};
  };
  std::vector<Scanned> open{scanned(node)};
  Node* candidate = previous_evaluated(node);
  while (!open.empty()) {
    Scanned& top = open.back();
    if (top.inputs_left == 0) {
      open.pop_back();
      continue;
    }
    const Value* input = top.node->input(--top.inputs_left);
    if (input->node() == candidate && may_be_inline(candidate)) {
      inline_nodes_.insert(candidate);
      Node* found = candidate;
      candidate = previous_evaluated(found);
      open.push_back(scanned(found));
    }
  }
  return candidate;
}

// ---- loads in their order -------------------------------------------------------------------------------------------

void Liveness::number_loads(Block* block) {
  for (Node* node : block->nodes()) {
    if (is_constant_node(node) || is_inline(node)) {
      continue;
    }
    number_loads(node);
    for (Block* inner : node->blocks()) {
      number_loads(inner);
    }
  }
  number_loads(block->return_node());
}

void Liveness::number_loads(Node* node) {
  struct Loading {
    Node* node;
    size_t next_input;
  };
  std::vector<Loading> open{{node, 0}};
  while (!open.empty()) {
    Loading& top = open.back();
    if (top.next_input == top.node->inputs().size()) {
      open.pop_back();
      continue;
    }
    const size_t input = top.next_input++;
    Node* producer = top.node->input(input)->node();
    if (is_inline(producer)) {
      open.push_back({producer, 0});
    } else if (!is_constant_node(producer)) {
      record_load(top.node, input);
    }
  }
}

void Liveness::record_load(Node* node, size_t input) {
  Value* value = node->input(input);
  const size_t position = ++next_position_;
  auto& positions = positions_[node];
  positions.resize(node->inputs().size());
  positions[input] = position;
  const Block* home = value->node()->owningBlock();
  Node* user = node;
  for (bool nested = false;; nested = true) {
    Block* block = user->owningBlock();
    last_uses_[{block, value}] = LastUse{position, user, nested};
    if (block == home) {
      return;
    }
    user = block->owningNode();
    TORCH_INTERNAL_ASSERT(user, "%", value->debugName(), " is used where it is not defined");
    if (seen_.insert({user, value}).second) {
      captured_[user].push_back(value);
    }
  }
}

// ---- what dies where ------------------------------------------------------------------------------------------------

const Liveness::LastUse* Liveness::last_use(const Block* block, const Value* value) const {
  const auto found = last_uses_.find({block, value});
  return found == last_uses_.end() ? nullptr : &found->second;
}

// Whether the last use within a block is the last of all. What a loop's body takes from outside, the next turn needs
// again.
bool Liveness::dies_in(const Block* block, const Value* value) const {
  const Block* home = value->node()->owningBlock();
  while (block != home) {
    const Node* owner = block->owningNode();
    if (owner->kind() != prim::If) {
      return false;
    }
    block = owner->owningBlock();
    if (last_use(block, value)->node != owner) {
      return false;
    }
  }
  return true;
}

bool Liveness::is_last_load(const Node* node, size_t input) const {
  const Value* value = node->input(input);
  const Block* block = node->owningBlock();
  const LastUse* last = last_use(block, value);
  return last->position == positions_.at(node)[input] && dies_in(block, value);
}

std::vector<Value*> Liveness::dead_behind(const Node* node) const {
  std::vector<Value*> dead;
  const auto captured = captured_.find(node);
  if (captured == captured_.end()) {
    return dead;
  }
  for (Value* value : captured->second) {
    const LastUse* last = last_use(node->owningBlock(), value);
    if (last->node == node && last->nested && dies_in(node->owningBlock(), value)) {
      dead.push_back(value);
    }
  }
  return dead;
}

std::vector<Value*> Liveness::unused_in_branch(const Block* branch) const {
  std::vector<Value*> unused = dead_behind(branch->owningNode());
  unused.erase(
      std::remove_if(
          unused.begin(), unused.end(), [&](const Value* value) { return last_use(branch, value) != nullptr; }),
      unused.end());
  return unused;
}

} // namespace torch::jit
