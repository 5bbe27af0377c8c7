// Nodes: inputs, outputs, place, attributes.
#include <csrc/jit/ir/constants.h>
#include <csrc/jit/ir/ir.h>

#include <algorithm>
#include <limits>

namespace torch::jit {

namespace {

constexpr topo_position_t kLowerBound = std::numeric_limits<topo_position_t>::min();
constexpr topo_position_t kUpperBound = std::numeric_limits<topo_position_t>::max();
constexpr topo_position_t kMidPoint = 0;
// Room for 2^23 nodes on either side of the first before positions are given anew.
constexpr topo_position_t kAppendInterval = topo_position_t{1} << 40;

std::vector<Value*> permuted(at::ArrayRef<Value*> items, const std::vector<size_t>& new_order) {
  TORCH_INTERNAL_ASSERT(new_order.size() == items.size());
  std::vector<Value*> values;
  for (const size_t i : new_order) {
    values.push_back(items.at(i));
  }
  return values;
}

} // namespace

const char* toString(AttributeKind kind) {
  constexpr const char* kNames[] = {"f", "fs", "c", "cs", "i",  "is",  "s",   "ss",
                                    "t", "ts", "g", "gs", "ty", "tys", "ival"};
  return kNames[static_cast<size_t>(kind)];
}

Node::Node(Graph* graph, NodeKind kind) : kind_(kind), graph_(graph), scope_(graph->current_scope()) {
  index_ = graph->all_nodes_.size();
  graph->all_nodes_.push_back(this);
}

Node* Node::setSourceRange(SourceRange range) {
  range_ = std::move(range);
  return this;
}

std::string Node::scopeName() const {
  return scope_ ? scope_->namesFromRoot() : std::string();
}

// ---- inputs ---------------------------------------------------------------------------------------------------------

Value* Node::input() {
  TORCH_INTERNAL_ASSERT(inputs_.size() == 1, kind_.toQualString(), " has ", inputs_.size(), " inputs, not one");
  return inputs_[0];
}
const Value* Node::input() const {
  return const_cast<Node*>(this)->input();
}
Value* Node::output() {
  TORCH_INTERNAL_ASSERT(outputs_.size() == 1, kind_.toQualString(), " has ", outputs_.size(), " outputs, not one");
  return outputs_[0];
}
const Value* Node::output() const {
  return const_cast<Node*>(this)->output();
}

bool Node::hasUses() const {
  return std::any_of(outputs_.begin(), outputs_.end(), [](const Value* value) { return value->hasUses(); });
}

bool Node::hasNamedInput(const std::string& name) const {
  return schema().argumentIndexWithName(name).has_value();
}

Value* Node::namedInput(const std::string& name) const {
  const std::optional<int> index = schema().argumentIndexWithName(name);
  TORCH_CHECK(index, "Couldn't find an argument called ", name, " in schema ", schema());
  return at::ArrayRef<Value*>(inputs_).at(static_cast<size_t>(*index));
}

Value* Node::namedInput(Symbol name) const {
  return namedInput(std::string(name.toUnqualString()));
}

std::optional<IValue> Node::get(Symbol name) const {
  return toIValue(namedInput(name));
}

Value* Node::addInput(Value* value) {
  TORCH_INTERNAL_ASSERT(graph_ == value->owningGraph(), "an input of ", kind_.toQualString(), " is of another graph");
  operator_ = nullptr;
  value->uses_.emplace_back(this, inputs_.size());
  inputs_.push_back(value);
  return value;
}

Value* Node::insertInput(size_t i, Value* value) {
  TORCH_INTERNAL_ASSERT(graph_ == value->owningGraph() && i <= inputs_.size());
  operator_ = nullptr;
  // From the end, so that two uses of one value never have the same offset.
  for (size_t later = inputs_.size(); later-- > i;) {
    ++findUseForInput(later)->offset;
  }
  inputs_.insert(inputs_.begin() + static_cast<ptrdiff_t>(i), value);
  value->uses_.emplace_back(this, i);
  return value;
}

use_list::iterator Node::findUseForInput(size_t i) {
  use_list& uses = inputs_[i]->uses_;
  const auto use = std::find(uses.begin(), uses.end(), Use(this, i));
  TORCH_INTERNAL_ASSERT(use != uses.end());
  return use;
}

Value* Node::dropInput(size_t i) {
  Value* value = inputs().at(i);
  value->uses_.erase(findUseForInput(i));
  inputs_[i] = nullptr;
  return value;
}

Value* Node::replaceInput(size_t i, Value* value) {
  TORCH_INTERNAL_ASSERT(graph_ == value->owningGraph());
  operator_ = nullptr;
  Value* old = dropInput(i);
  inputs_[i] = value;
  value->uses_.emplace_back(this, i);
  return old;
}

void Node::replaceInputWith(Value* from, Value* to) {
  for (size_t i = 0; i < inputs_.size(); ++i) {
    if (inputs_[i] == from) {
      replaceInput(i, to);
    }
  }
}

void Node::removeInput(size_t i) {
  operator_ = nullptr;
  dropInput(i);
  for (size_t later = i + 1; later < inputs_.size(); ++later) {
    --findUseForInput(later)->offset;
  }
  inputs_.erase(inputs_.begin() + static_cast<ptrdiff_t>(i));
}

void Node::removeAllInputs() {
  operator_ = nullptr;
  for (size_t i = 0; i < inputs_.size(); ++i) {
    dropInput(i);
  }
  inputs_.clear();
}

void Node::permuteInputs(const std::vector<size_t>& new_order) {
  const std::vector<Value*> values = permuted(inputs_, new_order);
  removeAllInputs();
  for (Value* value : values) {
    addInput(value);
  }
}

// ---- outputs --------------------------------------------------------------------------------------------------------

Value* Node::addOutput() {
  operator_ = nullptr;
  outputs_.push_back(graph_->newValue(this, outputs_.size()));
  return outputs_.back();
}

Value* Node::insertOutput(size_t i) {
  TORCH_INTERNAL_ASSERT(i <= outputs_.size());
  operator_ = nullptr;
  outputs_.insert(outputs_.begin() + static_cast<ptrdiff_t>(i), graph_->newValue(this, i));
  for (size_t later = i + 1; later < outputs_.size(); ++later) {
    outputs_[later]->setOffset(later);
  }
  return outputs_[i];
}

void Node::eraseOutput(size_t i) {
  Value* value = outputs().at(i);
  TORCH_INTERNAL_ASSERT(!value->hasUses(), "%", value->debugName(), " is used and cannot be erased");
  operator_ = nullptr;
  outputs_.erase(outputs_.begin() + static_cast<ptrdiff_t>(i));
  graph_->freeValue(value);
  for (size_t later = i; later < outputs_.size(); ++later) {
    outputs_[later]->setOffset(later);
  }
}

void Node::removeAllOutputs() {
  for (size_t i = outputs_.size(); i-- > 0;) {
    eraseOutput(i);
  }
}

void Node::permuteOutputs(const std::vector<size_t>& new_order) {
  operator_ = nullptr;
  outputs_ = permuted(outputs_, new_order);
  for (size_t i = 0; i < outputs_.size(); ++i) {
    outputs_[i]->setOffset(i);
  }
}

void Node::replaceAllUsesWith(Node* replacement) {
  TORCH_INTERNAL_ASSERT(outputs_.size() == replacement->outputs_.size());
  for (size_t i = 0; i < outputs_.size(); ++i) {
    outputs_[i]->replaceAllUsesWith(replacement->outputs_[i]);
  }
}

Node* Node::replaceWithNewSymbol(Symbol kind) {
  Node* replacement = graph_->create(kind, 0);
  replacement->insertBefore(this);
  for (Value* value : inputs_) {
    replacement->addInput(value);
  }
  replacement->attributes_ = attributes_;
  replacement->copyMetadata(this);
  for (Value* value : outputs_) {
    Value* moved = replacement->addOutput();
    const std::string name = value->hasDebugName() ? value->debugName() : std::string();
    moved->setType(value->type());
    value->replaceAllUsesWith(moved);
    value->setDebugName("");
    moved->setDebugName(name);
  }
  replacement->blocks_ = std::move(blocks_);
  blocks_.clear();
  for (Block* block : replacement->blocks_) {
    block->owning_node_ = replacement;
  }
  destroy();
  return replacement;
}

// ---- blocks and place -----------------------------------------------------------------------------------------------

Block* Node::addBlock() {
  operator_ = nullptr;
  blocks_.push_back(new Block(graph_, this));
  return blocks_.back();
}

void Node::eraseBlock(size_t i) {
  operator_ = nullptr;
  Block* block = blocks().at(i);
  blocks_.erase(blocks_.begin() + static_cast<ptrdiff_t>(i));
  block->destroy();
}

graph_node_list_iterator Node::iterator() {
  return {this, kNextDirection};
}
graph_node_list_iterator Node::reverseIterator() {
  return {this, kPrevDirection};
}

Node* Node::insertBefore(Node* node) {
  TORCH_INTERNAL_ASSERT(node->inBlockList());
  return insertAfter(node->prev());
}

Node* Node::insertAfter(Node* node) {
  TORCH_INTERNAL_ASSERT(!inBlockList() && node->inBlockList() && node->owningBlock());
  // Behind the return node is the beginning of the block, which a caller that means the end could ask for by mistake.
  block_ = node->owningBlock();
  Node* following = node->next();
  node->next_in_graph[kNextDirection] = this;
  next_in_graph[kPrevDirection] = node;
  next_in_graph[kNextDirection] = following;
  following->next_in_graph[kPrevDirection] = this;
  assignTopoPosition();
  return this;
}

void Node::moveBefore(Node* node) {
  removeFromList();
  insertBefore(node);
}

void Node::moveAfter(Node* node) {
  removeFromList();
  insertAfter(node);
}

void Node::removeFromList() {
  TORCH_INTERNAL_ASSERT(inBlockList());
  block_ = nullptr;
  next()->next_in_graph[kPrevDirection] = prev();
  prev()->next_in_graph[kNextDirection] = next();
  next_in_graph[kNextDirection] = next_in_graph[kPrevDirection] = nullptr;
}

// Positions grow along a block: between those of the neighbours, and all are given anew where there is no room.
void Node::assignTopoPosition() {
  const bool is_first = prev() == block_->param_node() || prev() == block_->return_node();
  const bool is_last = next() == block_->return_node();
  const topo_position_t before = is_first ? kLowerBound : prev()->topo_position_;
  const topo_position_t after = is_last ? kUpperBound : next()->topo_position_;
  if (is_first && is_last) {
    topo_position_ = kMidPoint;
  } else if (is_last) {
    if (before >= kUpperBound - kAppendInterval) {
      block_->reIndexTopology();
      return;
    }
    topo_position_ = before + kAppendInterval;
  } else if (is_first) {
    if (after <= kLowerBound + kAppendInterval) {
      block_->reIndexTopology();
      return;
    }
    topo_position_ = after - kAppendInterval;
  } else {
    // Halves first: the difference may be larger than the type.
    topo_position_ = before / 2 + after / 2 + (before % 2 + after % 2) / 2;
    if (topo_position_ <= before || topo_position_ >= after) {
      block_->reIndexTopology();
    }
  }
}

namespace {

bool stands_behind(const Block* block, const Node* node, const Node** ancestor) {
  for (; node; node = node->owningBlock() ? node->owningBlock()->owningNode() : nullptr) {
    if (node->owningBlock() == block) {
      *ancestor = node;
      return true;
    }
  }
  return false;
}

} // namespace

bool Node::isBefore(const Node* node) const {
  if (this == node) {
    return false;
  }
  // The innermost block that holds both, directly or in blocks of its nodes.
  for (const Node* mine = this; mine; mine = mine->owningBlock() ? mine->owningBlock()->owningNode() : nullptr) {
    const Block* block = mine->owningBlock();
    const Node* theirs = nullptr;
    if (!stands_behind(block, node, &theirs)) {
      continue;
    }
    if (mine == theirs) {
      // One of them holds the other, and is run first; or the two are in different blocks of one node.
      if (mine == this) {
        return true;
      }
      if (theirs == node) {
        return false;
      }
      continue;
    }
    if (mine == block->param_node() || theirs == block->return_node()) {
      return true;
    }
    if (mine == block->return_node() || theirs == block->param_node()) {
      return false;
    }
    return mine->topo_position_ < theirs->topo_position_;
  }
  return false;
}

bool Node::isAfter(const Node* node) const {
  return this != node && node->isBefore(this);
}

bool Node::isDominatedBy(const Node* dominator) const {
  const Node* ancestor = nullptr;
  return stands_behind(dominator->owningBlock(), this, &ancestor) && dominator->isBefore(ancestor);
}

size_t Node::blocksFromGraphBlock() {
  size_t depth = 0;
  for (const Node* owner = owningBlock()->owningNode(); owner; owner = owner->owningBlock()->owningNode()) {
    ++depth;
  }
  return depth;
}

Block* Node::findCommonAncestorBlockWith(Node* node) {
  TORCH_CHECK(
      graph_ == node->graph_, kind_.toQualString(), " and ", node->kind_.toQualString(), " are nodes of two graphs");
  Node* inner = this;
  Node* other = node;
  size_t inner_depth = inner->blocksFromGraphBlock();
  size_t other_depth = other->blocksFromGraphBlock();
  while (inner->owningBlock() != other->owningBlock()) {
    if (inner_depth < other_depth) {
      std::swap(inner, other);
      std::swap(inner_depth, other_depth);
    }
    inner = inner->owningBlock()->owningNode();
    --inner_depth;
  }
  return inner->owningBlock();
}

void Node::destroy() {
  while (!outputs_.empty()) {
    eraseOutput(outputs_.size() - 1);
  }
  while (!blocks_.empty()) {
    eraseBlock(blocks_.size() - 1);
  }
  removeAllInputs();
  if (inBlockList()) {
    removeFromList();
  }
  graph_->freeNode(this);
}

// ---- attributes -----------------------------------------------------------------------------------------------------

const NodeAttribute* Node::findAttribute(Symbol name) const {
  for (const NodeAttribute& attribute : attributes_) {
    if (attribute.name == name) {
      return &attribute;
    }
  }
  return nullptr;
}

const NodeAttribute& Node::expectAttribute(Symbol name) const {
  const NodeAttribute* attribute = findAttribute(name);
  if (!attribute) {
    TORCH_CHECK_INDEX(
        false, "required keyword attribute '", name.toUnqualString(), "' has the wrong type or is missing on node ",
        kind_.toQualString());
  }
  return *attribute;
}

Node* Node::setAttribute(Symbol name, AttributeValue value) {
  TORCH_CHECK(name.is_attr(), "an attribute's name is in the namespace attr, but this is ", name.toQualString());
  operator_ = nullptr;
  for (NodeAttribute& attribute : attributes_) {
    if (attribute.name == name) {
      attribute.value = std::move(value);
      return this;
    }
  }
  attributes_.push_back(NodeAttribute{name, std::move(value)});
  return this;
}

void Node::wrongAttributeKind(Symbol name, AttributeKind wanted) const {
  TORCH_CHECK_INDEX(
      false, "required keyword attribute '", name.toUnqualString(), "' has the wrong type: ", kind_.toQualString(),
      " has it as ", toString(kindOf(name)), ", asked for was ", toString(wanted));
}

std::vector<Symbol> Node::attributeNames() const {
  std::vector<Symbol> names;
  for (const NodeAttribute& attribute : attributes_) {
    names.push_back(attribute.name);
  }
  return names;
}

Node* Node::removeAttribute(Symbol name) {
  expectAttribute(name);
  operator_ = nullptr;
  attributes_.erase(std::find_if(
      attributes_.begin(), attributes_.end(), [&](const NodeAttribute& each) { return each.name == name; }));
  return this;
}

void Node::copyAttributes(const Node& from) {
  operator_ = nullptr;
  attributes_ = from.attributes_;
  for (NodeAttribute& attribute : attributes_) {
    if (auto* graph = std::get_if<std::shared_ptr<Graph>>(&attribute.value)) {
      *graph = (*graph)->copy();
    } else if (auto* graphs = std::get_if<std::vector<std::shared_ptr<Graph>>>(&attribute.value)) {
      for (std::shared_ptr<Graph>& each : *graphs) {
        each = each->copy();
      }
    }
  }
}

Node* Node::copyMetadata(const Node* from) {
  setSourceRange(from->sourceRange());
  setScope(from->scope());
  setCallStack(from->callstack_);
  return this;
}

bool Node::notExecutedOp() const {
  return kind_ == prim::Constant || kind_ == prim::profile || kind_ == prim::profile_ivalue;
}

} // namespace torch::jit
