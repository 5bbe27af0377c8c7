#include <csrc/jit/ir/ir.h>

#include <unordered_map>

namespace torch::jit {

Block::Block(Graph* graph, Node* node)
    : graph_(graph),
      index_(graph->all_blocks_.size()),
      output_(graph->create(prim::Return, 0)),
      input_(graph->create(prim::Param, 0)),
      owning_node_(node) {
  graph->all_blocks_.push_back(this);
  input_->next_in_graph[kNextDirection] = input_->next_in_graph[kPrevDirection] = input_;
  output_->next_in_graph[kNextDirection] = output_->next_in_graph[kPrevDirection] = output_;
  input_->block_ = this;
  output_->block_ = this;
}

Value* Block::addInput(const std::string& name) {
  return input_->addOutput()->setDebugName(name);
}
Value* Block::insertInput(size_t i, const std::string& name) {
  return input_->insertOutput(i)->setDebugName(name);
}
void Block::eraseInput(size_t i) {
  input_->eraseOutput(i);
}
void Block::removeAllInputs() {
  input_->removeAllOutputs();
}
void Block::permuteInputs(const std::vector<size_t>& new_order) {
  input_->permuteOutputs(new_order);
}
size_t Block::registerOutput(Value* value) {
  output_->addInput(value);
  return outputs().size() - 1;
}
size_t Block::insertOutput(size_t i, Value* value) {
  output_->insertInput(i, value);
  return i;
}
void Block::eraseOutput(size_t i) {
  output_->removeInput(i);
}
void Block::removeAllOutputs() {
  output_->removeAllInputs();
}
void Block::replaceOutput(size_t i, Value* value) {
  output_->replaceInput(i, value);
}
void Block::permuteOutputs(const std::vector<size_t>& new_order) {
  output_->permuteInputs(new_order);
}

Node* Block::appendNode(Node* node) {
  TORCH_INTERNAL_ASSERT(node->owningGraph() == graph_ && !node->inBlockList());
  return node->insertBefore(output_);
}
Node* Block::prependNode(Node* node) {
  TORCH_INTERNAL_ASSERT(node->owningGraph() == graph_ && !node->inBlockList());
  return node->insertAfter(output_);
}

void Block::cloneFrom(const Block* from, const std::function<Value*(Value*)>& value_map) {
  std::unordered_map<const Value*, Value*> local;
  const auto map_value = [&](Value* value) {
    const auto found = local.find(value);
    return found != local.end() ? found->second : value_map(value);
  };
  for (const Value* input : from->inputs()) {
    local[input] = addInput()->copyMetadata(input);
  }
  for (const Node* node : from->nodes()) {
    Node* copy = appendNode(graph_->createClone(const_cast<Node*>(node), map_value));
    for (size_t i = 0; i < node->outputs().size(); ++i) {
      local[node->output(i)] = copy->output(i);
    }
  }
  for (const Value* output : from->outputs()) {
    registerOutput(map_value(const_cast<Value*>(output)));
  }
}

void Block::remapTypes(const std::function<TypePtr(TypePtr)>& type_map) {
  for (Value* input : inputs()) {
    input->setType(type_map(input->type()));
  }
  for (Node* node : nodes()) {
    for (Value* output : node->outputs()) {
      output->setType(type_map(output->type()));
    }
    for (Block* block : node->blocks()) {
      block->remapTypes(type_map);
    }
    for (const Symbol name : node->attributeNames()) {
      switch (node->kindOf(name)) {
        case AttributeKind::g:
          node->g(name)->remapTypes(type_map);
          break;
        case AttributeKind::gs:
          for (const std::shared_ptr<Graph>& graph : node->gs(name)) {
            graph->remapTypes(type_map);
          }
          break;
        case AttributeKind::ty:
          node->ty_(name, type_map(node->ty(name)));
          break;
        case AttributeKind::tys: {
          std::vector<TypePtr> types = node->tys(name);
          for (TypePtr& type : types) {
            type = type_map(type);
          }
          node->tys_(name, std::move(types));
          break;
        }
        default:
          break;
      }
    }
  }
}

void Block::clear() {
  removeAllOutputs();
  for (auto node = nodes().rbegin(); node != nodes().rend(); ++node) {
    node.destroyCurrent();
  }
  removeAllInputs();
}

void Block::destroy() {
  clear();
  // The return node is the only one of its list.
  output_->next_in_graph[kNextDirection] = output_->next_in_graph[kPrevDirection] = nullptr;
  input_->next_in_graph[kNextDirection] = input_->next_in_graph[kPrevDirection] = nullptr;
  output_->destroy();
  input_->destroy();
  graph_->freeBlock(this);
}

void Block::reIndexTopology() {
  constexpr topo_position_t kInterval = topo_position_t{1} << 40;
  topo_position_t position = -kInterval * (topo_position_t{1} << 20);
  for (Node* node : nodes()) {
    position += kInterval;
    node->topo_position_ = position;
  }
}

} // namespace torch::jit
