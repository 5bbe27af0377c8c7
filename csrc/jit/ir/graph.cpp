// Graphs: what they own, and how nodes for them are made.
#include <aten/core/function.h>
#include <aten/core/interface_type.h>
#include <csrc/jit/ir/constants.h>
#include <csrc/jit/ir/ir.h>
#include <csrc/jit/frontend/schema_matching.h>

#include <algorithm>
#include <atomic>

namespace torch::jit {

Graph::Graph(ScopePtr scope_root)
    : current_scope_(std::move(scope_root)), block_(new Block(this, nullptr)), insert_before_(block_->return_node()) {}

Graph::~Graph() {
  for (const Node* node : all_nodes_) {
    delete node;
  }
  for (const Value* value : all_values_) {
    delete value;
  }
  for (const Block* block : all_blocks_) {
    delete block;
  }
}

// In these lists the last takes the place of the one that goes.
Value* Graph::newValue(Node* node, size_t offset) {
  Value* value = new Value(node, offset);
  value->index_ = all_values_.size();
  all_values_.push_back(value);
  return value;
}

void Graph::freeValue(Value* value) {
  forgetName(value);
  all_values_[value->index_] = all_values_.back();
  all_values_[value->index_]->index_ = value->index_;
  all_values_.pop_back();
  delete value;
}

void Graph::freeNode(Node* node) {
  TORCH_INTERNAL_ASSERT(node != insert_before_, "the node at the insert point is destroyed");
  all_nodes_[node->index_] = all_nodes_.back();
  all_nodes_[node->index_]->index_ = node->index_;
  all_nodes_.pop_back();
  delete node;
}

void Graph::freeBlock(Block* block) {
  all_blocks_[block->index_] = all_blocks_.back();
  all_blocks_[block->index_]->index_ = block->index_;
  all_blocks_.pop_back();
  delete block;
}

void Graph::forgetName(Value* value) {
  if (value->hasDebugName()) {
    names_.erase(value->name_);
    value->name_.clear();
  }
}

// ---- insert point and scope -----------------------------------------------------------------------------------------

Node* Graph::insertNode(Node* node) {
  TORCH_INTERNAL_ASSERT(insert_before_->inBlockList(), "the insert point is no longer in the graph");
  return node->insertBefore(insert_before_);
}

void Graph::setInsertPoint(Block* block) {
  TORCH_INTERNAL_ASSERT(block->owningGraph() == this);
  insert_before_ = block->return_node();
}

void Graph::setInsertPoint(Node* node) {
  TORCH_INTERNAL_ASSERT(node->owningGraph() == this && node->inBlockList());
  insert_before_ = node;
}

void Graph::push_scope(const std::string& name) {
  current_scope_ = current_scope_->push(Symbol::scope(name));
}

void Graph::pop_scope() {
  current_scope_ = current_scope_->parent();
}

namespace {

void collect_nodes(Block* block, Symbol kind, bool recursive, std::vector<Node*>& found) {
  for (Node* node : block->nodes()) {
    if (node->kind() == kind) {
      found.push_back(node);
    }
    if (recursive) {
      for (Block* inner : node->blocks()) {
        collect_nodes(inner, kind, recursive, found);
      }
    }
  }
}

} // namespace

std::vector<Node*> Graph::findAllNodes(Symbol kind, bool recursive) {
  std::vector<Node*> found;
  collect_nodes(block_, kind, recursive, found);
  return found;
}

Node* Graph::findNode(Symbol kind, bool recursive) {
  const std::vector<Node*> found = findAllNodes(kind, recursive);
  return found.empty() ? nullptr : found.front();
}

// ---- new nodes ------------------------------------------------------------------------------------------------------

Node* Graph::create(NodeKind kind, size_t num_outputs) {
  Node* node = new Node(this, kind);
  for (size_t i = 0; i < num_outputs; ++i) {
    node->addOutput();
  }
  return node;
}

Node* Graph::create(NodeKind kind, at::ArrayRef<Value*> inputs, size_t num_outputs) {
  Node* node = create(kind, num_outputs);
  for (Value* input : inputs) {
    node->addInput(input);
  }
  return node;
}

Node* Graph::createNone() {
  Node* node = create(prim::Constant);
  node->output()->setType(NoneType::get());
  return node;
}

Node* Graph::createUninitialized(TypePtr type) {
  Node* node = create(prim::Uninitialized);
  node->output()->setType(std::move(type));
  return node;
}

Node* Graph::createWithSubgraph(Symbol kind) {
  return create(kind, 0)->g_(attr::Subgraph, std::make_shared<Graph>(current_scope_));
}

Node* Graph::createTuple(at::ArrayRef<Value*> values, TupleTypePtr named_tuple) {
  if (!named_tuple) {
    std::vector<TypePtr> types;
    for (const Value* value : values) {
      types.push_back(value->type());
    }
    named_tuple = TupleType::create(std::move(types));
  }
  Node* node = create(prim::TupleConstruct, values);
  node->output()->setType(std::move(named_tuple));
  return node;
}

Node* Graph::createTupleUnpack(Value* value) {
  const at::ArrayRef<TypePtr> types = value->type()->expectRef<TupleType>().elements();
  Node* node = create(prim::TupleUnpack, {value}, types.size());
  for (size_t i = 0; i < types.size(); ++i) {
    node->output(i)->setType(types[i]);
  }
  return node;
}

Node* Graph::createTupleIndex(Value* tuple, Value* index, const TypePtr& output_type) {
  Node* node = create(prim::TupleIndex, {tuple, index});
  node->output()->setType(output_type);
  return node;
}

Node* Graph::createTupleSlice(Value* tuple, int64_t begin, int64_t step_size, int64_t num_values) {
  std::vector<Value*> chosen;
  const at::ArrayRef<TypePtr> types = tuple->type()->expectRef<TupleType>().elements();
  int64_t index = begin;
  for (int64_t i = 0; i < num_values; ++i, index += step_size) {
    Value* place = insertConstant(index);
    chosen.push_back(insertNode(createTupleIndex(tuple, place, types.at(static_cast<size_t>(index))))->output());
  }
  return createTuple(chosen);
}

Node* Graph::createEnumName(Value* value) {
  value->type()->expectRef<EnumType>();
  Node* node = create(prim::EnumName, {value});
  node->output()->setType(StringType::get());
  return node;
}

Node* Graph::createEnumValue(Value* value) {
  Node* node = create(prim::EnumValue, {value});
  node->output()->setType(value->type()->expectRef<EnumType>().getValueType());
  return node;
}

Node* Graph::createList(const TypePtr& element_type, at::ArrayRef<Value*> values) {
  for (const Value* value : values) {
    TORCH_CHECK(
        value->type()->isSubtypeOf(*element_type), "Expected to add a value of type ", value->type()->repr_str(),
        " to a list of elements of type ", element_type->repr_str());
  }
  Node* node = create(prim::ListConstruct, values);
  node->output()->setType(ListType::create(element_type));
  return node;
}

Node* Graph::createListUnpack(Value* value, size_t size) {
  const TypePtr element = value->type()->expectRef<ListType>().getElementType();
  Node* node = create(prim::ListUnpack, {value}, size);
  for (Value* output : node->outputs()) {
    output->setType(element);
  }
  return node;
}

Node* Graph::createDict(
    const TypePtr& key_type, const TypePtr& value_type, at::ArrayRef<Value*> keys, at::ArrayRef<Value*> values) {
  TORCH_INTERNAL_ASSERT(keys.size() == values.size());
  Node* node = create(prim::DictConstruct);
  for (size_t i = 0; i < keys.size(); ++i) {
    TORCH_CHECK(
        keys[i]->type()->isSubtypeOf(*key_type) && values[i]->type()->isSubtypeOf(*value_type), "an entry of types ",
        keys[i]->type()->repr_str(), " and ", values[i]->type()->repr_str(), " does not fit a dict of ",
        key_type->repr_str(), " and ", value_type->repr_str());
    node->addInput(keys[i]);
    node->addInput(values[i]);
  }
  node->output()->setType(DictType::create(key_type, value_type));
  return node;
}

Node* Graph::createNumToTensor(Value* value) {
  Node* node = create(prim::NumToTensor, {value});
  node->output()->setType(TensorType::get());
  return node;
}

Node* Graph::createObject(const ClassTypePtr& type) {
  Node* node = create(prim::CreateObject);
  node->output()->setType(type);
  return node;
}

Node* Graph::createSetAttr(Value* object, const std::string& field, Value* value) {
  return create(prim::SetAttr, {object, value}, 0)->s_(attr::name, field);
}

Node* Graph::createGetAttr(Value* object, const std::string& field) {
  const ClassType& type = object->type()->expectRef<ClassType>();
  Node* node = create(prim::GetAttr, {object});
  node->s_(attr::name, field);
  node->output()->setType(type.getAttribute(field));
  node->output()->setDebugName(Value::isValidName(field) ? field : '_' + field);
  return node;
}

Node* Graph::createStore(const std::string& name, Value* value) {
  return create(prim::Store, {value}, 0)->s_(attr::name, name);
}

Node* Graph::createLoad(const std::string& name, const TypePtr& type) {
  Node* node = create(prim::Load);
  node->s_(attr::name, name);
  node->output()->setType(type);
  return node;
}

Node* Graph::createIsInstance(Value* value, at::ArrayRef<TypePtr> types) {
  Node* node = create(prim::isinstance, {value});
  node->tys_(attr::types, types.vec());
  node->output()->setType(BoolType::get());
  return node;
}

Node* Graph::createClone(Node* node, const std::function<Value*(Value*)>& value_map, bool copy_blocks) {
  Node* copy = create(node->kind(), 0);
  copy->copyMetadata(node);
  if (copy_blocks) {
    copy->copyAttributes(*node);
  } else {
    copy->attributes_ = node->attributes_;
  }
  copy->outputs_.reserve(node->outputs().size());
  for (Value* output : node->outputs()) {
    copy->addOutput()->copyMetadata(output);
  }
  copy->inputs_.reserve(node->inputs().size());
  for (Value* input : node->inputs()) {
    copy->addInput(value_map(input));
  }
  if (copy_blocks) {
    for (const Block* block : node->blocks()) {
      copy->addBlock()->cloneFrom(block, value_map);
    }
  }
  // Its inputs have the same types, or subtypes: what was found for them holds.
  copy->operator_ = std::atomic_ref<const Operator*>(node->operator_).load(std::memory_order_relaxed);
  return copy;
}

// ---- new nodes at the insert point ----------------------------------------------------------------------------------

Value* Graph::insertUncheckedCast(Value* value, TypePtr type) {
  Node* node = insertNode(create(prim::unchecked_cast, {value}));
  node->output()->setType(std::move(type));
  return node->output();
}

Value* Graph::insertToList(Value* value, TypePtr type) {
  int64_t depth = 0;
  const Type* element = type.get();
  while (const ListType* list = element->castRaw<ListType>()) {
    element = list->getElementType().get();
    ++depth;
  }
  int64_t element_code = 0;
  switch (element->kind()) {
    case TypeKind::IntType:
      element_code = 0;
      break;
    case TypeKind::FloatType:
      element_code = 1;
      break;
    case TypeKind::ComplexType:
      element_code = 2;
      break;
    case TypeKind::BoolType:
      element_code = 3;
      break;
    default:
      TORCH_CHECK(
          false, element->repr_str(),
          " is not one of the supported element types for tolist: int, float, complex, bool");
  }
  Node* node = insertNode(create(prim::tolist, {value, insertConstant(depth), insertConstant(element_code)}));
  node->output()->setType(std::move(type));
  return node->output();
}

Value* Graph::insertFunctionCall(Function* callee, at::ArrayRef<Value*> arguments) {
  Node* constant = insertNode(create(prim::Constant));
  constant->s_(attr::name, callee->name());
  constant->output()->setType(FunctionType::create(callee));
  std::vector<Value*> inputs{constant->output()};
  inputs.insert(inputs.end(), arguments.begin(), arguments.end());
  Node* call = insertNode(create(prim::CallFunction, inputs));
  call->output()->setType(callee->getSchema().returns().at(0).type());
  return call->output();
}

Value* Graph::insertMethodCall(
    const std::string& method_name, at::ArrayRef<Value*> arguments, const TypePtr& output_type) {
  Node* call = insertNode(create(prim::CallMethod, arguments));
  call->s_(attr::name, method_name);
  call->output()->setType(output_type);
  return call->output();
}

Value* Graph::insertConstant(const IValue& value, std::optional<SourceRange> range, std::optional<ScopePtr> scope) {
  return torch::jit::insertConstant(*this, value, std::move(range), std::move(scope));
}

Value* Graph::insert(
    Symbol operator_name,
    at::ArrayRef<NamedValue> arguments,
    at::ArrayRef<NamedValue> keyword_arguments,
    const std::optional<SourceRange>& range) {
  return emitBuiltinCall(range.value_or(SourceRange("")), *this, operator_name, arguments, keyword_arguments);
}

// ---- copies ---------------------------------------------------------------------------------------------------------

void Graph::cloneInto(Graph& target) const {
  target.block_->cloneFrom(block_, [](Value* value) -> Value* {
    TORCH_INTERNAL_ASSERT(false, "%", value->debugName(), " is used in a graph that does not define it");
  });
}

std::shared_ptr<Graph> Graph::copy() {
  auto copy = std::make_shared<Graph>(current_scope_);
  copy->set_op_version(op_version_);
  cloneInto(*copy);
  return copy;
}

std::vector<Value*> insertGraph(
    Graph& graph, Graph& callee, at::ArrayRef<Value*> inputs, std::unordered_map<Value*, Value*>& value_map) {
  TORCH_INTERNAL_ASSERT(callee.inputs().size() == inputs.size());
  const auto map_value = [&](Value* value) { return value_map.at(value); };
  for (size_t i = 0; i < inputs.size(); ++i) {
    value_map[callee.inputs()[i]] = inputs[i];
  }
  for (Node* node : callee.nodes()) {
    Node* copy = graph.insertNode(graph.createClone(node, map_value));
    for (size_t i = 0; i < node->outputs().size(); ++i) {
      value_map[node->output(i)] = copy->output(i);
    }
  }
  std::vector<Value*> outputs;
  for (Value* output : callee.outputs()) {
    outputs.push_back(map_value(output));
  }
  return outputs;
}

std::vector<Value*> insertGraph(Graph& graph, Graph& callee, at::ArrayRef<Value*> inputs) {
  std::unordered_map<Value*, Value*> value_map;
  return insertGraph(graph, callee, inputs, value_map);
}

const SourceRange& NamedValue::loc() const {
  TORCH_INTERNAL_ASSERT(range_, "a named value without a place was asked for it");
  return *range_;
}

const std::string& NamedValue::name() const {
  TORCH_INTERNAL_ASSERT(name_, "a value without a name was asked for it");
  return *name_;
}

c10::TypePtr NamedValue::type() const {
  return value_ ? value_->type() : constant_.type();
}

Value* NamedValue::value(Graph& graph) const {
  return value_ ? value_ : insertConstant(graph, constant_, range_);
}

} // namespace torch::jit
