// The graphs of TorchScript: nodes in blocks, values between them.
//
// A Graph owns its nodes, values and blocks; all pointers to them are valid until the graph, or what they point to, is
// destroyed. A block's nodes form a circular list through its return node. Control flow is a node with blocks:
//   %out = prim::If(%condition)             one block each for true and false, whose outputs become the node's
//   %out = prim::Loop(%trips, %go, %state)  the block takes the iteration and the state, gives whether to go on and the
//   state
#pragma once

#include <aten/core/function_schema.h>
#include <aten/core/stack.h>
#include <c10/core/SmallPool.h>
#include <c10/util/SmallVector.h>
#include <csrc/jit/ir/attributes.h>
#include <csrc/jit/ir/graph_node_list.h>
#include <csrc/jit/ir/named_value.h>
#include <csrc/jit/ir/scope.h>
#include <csrc/jit/types.h>

#include <functional>
#include <iosfwd>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace torch::jit {

namespace prim {
using namespace ::c10::prim;
}
namespace attr {
using namespace ::c10::attr;
}
namespace aten {
using namespace ::c10::aten;
}

struct Operator;
struct OperatorSet;
template <class T>
class OperatorMap;
using NodeKind = Symbol;
using topo_position_t = int64_t;
using ValueSet = std::unordered_set<const Value*>;

/// One place where a value is an input.
struct Use {
  Use(Node* user, size_t offset) : user(user), offset(offset) {}
  Node* user;
  size_t offset;
  bool operator==(const Use& other) const {
    return user == other.user && offset == other.offset;
  }
};
using use_list = c10::SmallVector<Use, 2>;

// ---- values ---------------------------------------------------------------------------------------------------------

/// An output of a node (or an input of a block, which is an output of the block's parameter node).
struct TORCH_API Value final : c10::PoolAllocated {
  Value(const Value&) = delete;
  Value& operator=(const Value&) = delete;

  Node* node() {
    return node_;
  }
  const Node* node() const {
    return node_;
  }
  /// Its place among the node's outputs.
  size_t offset() const {
    return offset_;
  }
  void setOffset(size_t offset) {
    offset_ = offset;
  }
  const TypePtr& type() const {
    return type_;
  }
  Value* setType(TypePtr type);
  /// The type of the given tensor.
  void inferTypeFrom(const at::Tensor& output);
  bool requires_grad() const;
  bool isCompleteTensor() const;
  bool mustBeNone() const;
  bool mustNotBeNone() const;

  /// A number that no other value of the graph has.
  size_t unique() const {
    return unique_;
  }
  /// Takes the next number, or a reserved one.
  void renumber();
  void renumber(size_t reserved) {
    unique_ = reserved;
  }
  bool hasDebugName() const {
    return !name_.empty();
  }
  /// The given name, or the number.
  std::string debugName() const;
  /// The name without the number that makes it different from others.
  std::string debugNameBase() const;
  /// Another value of that name gets a number: "x" is followed by "x.1". Throws for names that are numbers.
  Value* setDebugName(const std::string& name);
  static bool isValidName(const std::string& name);
  Value* copyMetadata(const Value* from);

  const use_list& uses() const {
    return uses_;
  }
  bool hasUses() const {
    return !uses_.empty();
  }
  void replaceAllUsesWith(Value* replacement);
  void replaceFirstUseWith(Value* replacement);
  void replaceAllUsesAfterNodeWith(const Node* node, Value* replacement);
  void replaceAllUsesDominatedByNodeWith(const Node* node, Value* replacement);

  Graph* owningGraph();
  const Graph* owningGraph() const;

 private:
  friend struct Node;
  friend struct Block;
  friend struct Graph;
  Value(Node* node, size_t offset);

  Node* node_;
  size_t offset_;
  size_t unique_;
  size_t index_; // in the graph's list of values
  use_list uses_;
  std::string name_;
  TypePtr type_;
};

// ---- nodes ----------------------------------------------------------------------------------------------------------

/// An operation.
struct TORCH_API Node final : c10::PoolAllocated {
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  NodeKind kind() const {
    return kind_;
  }
  Graph* owningGraph() {
    return graph_;
  }
  const Graph* owningGraph() const {
    return graph_;
  }
  Block* owningBlock() {
    return block_;
  }
  const Block* owningBlock() const {
    return block_;
  }
  Node* setSourceRange(SourceRange range);
  const SourceRange& sourceRange() const {
    return range_;
  }
  ScopePtr scope() const {
    return scope_;
  }
  void setScope(ScopePtr scope) {
    scope_ = std::move(scope);
  }
  std::string scopeName() const;
  /// The calls that it was inlined through.
  std::optional<InlinedCallStackPtr> callstack() const {
    return callstack_ ? std::optional<InlinedCallStackPtr>(callstack_) : std::nullopt;
  }
  void setCallStack(InlinedCallStackPtr callstack) {
    callstack_ = std::move(callstack);
  }

  // -- inputs and outputs
  at::ArrayRef<Value*> inputs() {
    return inputs_;
  }
  at::ArrayRef<const Value*> inputs() const {
    return {const_cast<const Value* const*>(inputs_.data()), inputs_.size()};
  }
  at::ArrayRef<Value*> outputs() {
    return outputs_;
  }
  at::ArrayRef<const Value*> outputs() const {
    return {const_cast<const Value* const*>(outputs_.data()), outputs_.size()};
  }
  Value* input(size_t i) {
    return inputs().at(i);
  }
  const Value* input(size_t i) const {
    return inputs().at(i);
  }
  /// The only one. Throws if there is not exactly one.
  Value* input();
  const Value* input() const;
  Value* output();
  const Value* output() const;
  Value* output(size_t i) {
    return outputs().at(i);
  }
  const Value* output(size_t i) const {
    return outputs().at(i);
  }
  bool hasUses() const;
  /// By the argument's name in the operator's schema.
  Value* namedInput(const std::string& name) const;
  Value* namedInput(Symbol name) const;
  bool hasNamedInput(const std::string& name) const;
  /// The value of an input that is a constant.
  std::optional<IValue> get(Symbol name) const;
  template <class T>
  std::optional<T> get(Symbol name) const {
    if (std::optional<IValue> value = get(name)) {
      return value->to<T>();
    }
    return std::nullopt;
  }
  bool is_constant(Symbol name) const {
    return get(name).has_value();
  }

  Value* addInput(Value* value);
  Value* insertInput(size_t i, Value* value);
  /// Returns the input that was there.
  Value* replaceInput(size_t i, Value* value);
  void replaceInputWith(Value* from, Value* to);
  void removeInput(size_t i);
  void removeAllInputs();
  /// New input i is old input new_order[i].
  void permuteInputs(const std::vector<size_t>& new_order);
  Value* addOutput();
  Value* insertOutput(size_t i);
  void eraseOutput(size_t i);
  void removeAllOutputs();
  void permuteOutputs(const std::vector<size_t>& new_order);
  /// Output by output.
  void replaceAllUsesWith(Node* replacement);
  /// Another node of the given kind in place of this one, which is destroyed; inputs, outputs, blocks and attributes
  /// stay.
  Node* replaceWithNewSymbol(Symbol kind);

  // -- blocks
  at::ArrayRef<Block*> blocks() {
    return blocks_;
  }
  at::ArrayRef<const Block*> blocks() const {
    return {const_cast<const Block* const*>(blocks_.data()), blocks_.size()};
  }
  Block* addBlock();
  void eraseBlock(size_t i);

  // -- place
  Node* insertBefore(Node* node);
  Node* insertAfter(Node* node);
  void moveBefore(Node* node);
  void moveAfter(Node* node);
  /// In the order of execution, across blocks.
  bool isBefore(const Node* node) const;
  bool isAfter(const Node* node) const;
  bool isDominatedBy(const Node* dominator) const;
  /// The innermost block that both nodes are in, at any depth.
  Block* findCommonAncestorBlockWith(Node* node);
  /// How many blocks of nodes it is in: 0 in the graph's own block.
  size_t blocksFromGraphBlock();
  Node* next() {
    return next_in_graph[kNextDirection];
  }
  const Node* next() const {
    return next_in_graph[kNextDirection];
  }
  Node* prev() {
    return next_in_graph[kPrevDirection];
  }
  const Node* prev() const {
    return next_in_graph[kPrevDirection];
  }
  graph_node_list_iterator iterator();
  graph_node_list_iterator reverseIterator();
  bool inBlockList() const {
    return next() != nullptr;
  }
  /// Takes it out of the graph and deletes it. Its outputs must have no uses.
  void destroy();

  // -- operators
  /// Of the operator, or null for nodes that are none.
  const FunctionSchema* maybeSchema() const;
  /// Throws if there is none.
  const FunctionSchema& schema() const;
  bool matches(const FunctionSchema& schema) const;
  bool matches(const char* schema_literal, at::ArrayRef<Symbol> const_inputs = {}) const;
  const Operator* maybeOperator() const;
  /// Throws and lists the candidates if there is none.
  const Operator& getOperator() const;
  /// Whether it calls an operator of the set, or one that the map has a value for: see csrc/jit/ir/operator_map.h.
  bool isMemberOf(const OperatorSet& operators) const;
  template <class T>
  bool isMemberOf(const OperatorMap<T>& operators) const {
    return operators.contains(this);
  }
  /// What maybeOperator() gives until inputs, outputs or attributes change: for who has found it already.
  void setOperator(const Operator& found) {
    operator_ = &found;
  }
  Operation getOperation() const;
  /// Whether the same inputs may give other results.
  bool isNondeterministic() const;
  /// Whether it does more than compute outputs (writing to its inputs is not counted here).
  bool hasSideEffects() const;
  /// Parameters, returns and the like, which the interpreter does not run.
  bool notExecutedOp() const;

  // -- attributes
  bool hasAttribute(Symbol name) const {
    return findAttribute(name) != nullptr;
  }
  bool hasAttributeS(const std::string& name) const {
    return hasAttribute(Symbol::attr(name));
  }
  bool hasAttributes() const {
    return !attributes_.empty();
  }
  size_t numAttributes() const {
    return attributes_.size();
  }
  /// Throws if there is none of that name.
  AttributeKind kindOf(Symbol name) const {
    return expectAttribute(name).kind();
  }
  AttributeKind kindOfS(const std::string& name) const {
    return kindOf(Symbol::attr(name));
  }
  std::vector<Symbol> attributeNames() const;
  at::ArrayRef<NodeAttribute> attributes() const {
    return attributes_;
  }
  Node* removeAttribute(Symbol name);
  /// Replaces the attributes by copies of those of `from`; graphs are copied too.
  void copyAttributes(const Node& from);
  Node* copyMetadata(const Node* from);

  // f float, i int, s string, t tensor, g graph, ty type, c complex; lists with an s. `x_(name, v)` sets, `x(name)`
  // gets and throws if the attribute is not there or of another kind.
#define TORCH_JIT_ATTRIBUTE(letters, Type)       \
  Node* letters##_(Symbol name, Type value) {    \
    return setAttribute(name, std::move(value)); \
  }                                              \
  const Type& letters(Symbol name) const {       \
    return getAttribute<Type>(name);             \
  }
  TORCH_JIT_ATTRIBUTE(f, double)
  TORCH_JIT_ATTRIBUTE(fs, std::vector<double>)
  TORCH_JIT_ATTRIBUTE(c, c10::complex<double>)
  TORCH_JIT_ATTRIBUTE(cs, std::vector<c10::complex<double>>)
  TORCH_JIT_ATTRIBUTE(i, int64_t)
  TORCH_JIT_ATTRIBUTE(is, std::vector<int64_t>)
  TORCH_JIT_ATTRIBUTE(s, std::string)
  TORCH_JIT_ATTRIBUTE(ss, std::vector<std::string>)
  TORCH_JIT_ATTRIBUTE(t, at::Tensor)
  TORCH_JIT_ATTRIBUTE(ts, std::vector<at::Tensor>)
  TORCH_JIT_ATTRIBUTE(g, std::shared_ptr<Graph>)
  TORCH_JIT_ATTRIBUTE(gs, std::vector<std::shared_ptr<Graph>>)
  TORCH_JIT_ATTRIBUTE(ty, TypePtr)
  TORCH_JIT_ATTRIBUTE(tys, std::vector<TypePtr>)
  TORCH_JIT_ATTRIBUTE(ival, IValue)
#undef TORCH_JIT_ATTRIBUTE

  /// As in a graph's text; `groups` collects the nodes whose subgraphs are to be printed after the graph.
  std::ostream& print(
      std::ostream& out,
      size_t level,
      std::vector<const Node*>* groups,
      bool print_source_locations = true,
      bool print_attributes = true,
      bool print_scopes = true,
      bool print_body = true) const;
  void dump() const;

  /// Checks what must hold of it; throws.
  void lint() const;

  // Next and previous node of the block.
  Node* next_in_graph[2] = {nullptr, nullptr};

 private:
  friend struct Graph;
  friend struct Block;
  friend struct Value;
  Node(Graph* graph, NodeKind kind);

  const NodeAttribute* findAttribute(Symbol name) const;
  const NodeAttribute& expectAttribute(Symbol name) const;
  Node* setAttribute(Symbol name, AttributeValue value);
  [[noreturn]] void wrongAttributeKind(Symbol name, AttributeKind wanted) const;
  template <class T>
  const T& getAttribute(Symbol name) const {
    const NodeAttribute& attribute = expectAttribute(name);
    if (const T* value = std::get_if<T>(&attribute.value)) {
      return *value;
    }
    wrongAttributeKind(name, static_cast<AttributeKind>(AttributeValue(T()).index()));
  }
  use_list::iterator findUseForInput(size_t i);
  Value* dropInput(size_t i);
  void removeFromList();
  void assignTopoPosition();
  void printAttributes(std::ostream& out, bool ignore_subgraph) const;
  void printAttribute(std::ostream& out, const NodeAttribute& attribute) const;

  NodeKind kind_;
  Graph* graph_;
  Block* block_ = nullptr;
  size_t index_; // in the graph's list of nodes
  topo_position_t topo_position_ = 0;
  c10::SmallVector<Value*, 4> inputs_;
  c10::SmallVector<Value*, 1> outputs_;
  c10::SmallVector<Block*, 2> blocks_;
  c10::SmallVector<NodeAttribute, 1> attributes_;
  SourceRange range_;
  ScopePtr scope_;
  InlinedCallStackPtr callstack_;
  // Found once; forgotten when inputs change.
  mutable const Operator* operator_ = nullptr;
};

// ---- blocks ---------------------------------------------------------------------------------------------------------

/// A list of nodes with inputs and outputs.
struct TORCH_API Block final : c10::PoolAllocated {
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  at::ArrayRef<Value*> inputs() {
    return input_->outputs();
  }
  at::ArrayRef<const Value*> inputs() const {
    return static_cast<const Node*>(input_)->outputs();
  }
  at::ArrayRef<Value*> outputs() {
    return output_->inputs();
  }
  at::ArrayRef<const Value*> outputs() const {
    return static_cast<const Node*>(output_)->inputs();
  }
  graph_node_list nodes() {
    return {output_, kNextDirection};
  }
  const_graph_node_list nodes() const {
    return {output_, kNextDirection};
  }
  Node* return_node() {
    return output_;
  }
  const Node* return_node() const {
    return output_;
  }
  Node* param_node() {
    return input_;
  }
  const Node* param_node() const {
    return input_;
  }
  Graph* owningGraph() {
    return graph_;
  }
  const Graph* owningGraph() const {
    return graph_;
  }
  /// The node that has this block; null for a graph's own.
  Node* owningNode() {
    return owning_node_;
  }
  const Node* owningNode() const {
    return owning_node_;
  }

  Value* addInput(const std::string& name = "");
  Value* insertInput(size_t i, const std::string& name = "");
  void eraseInput(size_t i);
  void removeAllInputs();
  void permuteInputs(const std::vector<size_t>& new_order);
  /// Returns its place.
  size_t registerOutput(Value* value);
  size_t insertOutput(size_t i, Value* value);
  void eraseOutput(size_t i);
  void removeAllOutputs();
  void replaceOutput(size_t i, Value* value);
  void permuteOutputs(const std::vector<size_t>& new_order);

  Node* appendNode(Node* node);
  Node* prependNode(Node* node);
  /// Adds copies of the inputs, nodes and outputs of `from`; `value_map` gives values for those from outside of it.
  void cloneFrom(const Block* from, const std::function<Value*(Value*)>& value_map);
  void remapTypes(const std::function<TypePtr(TypePtr)>& type_map);

 private:
  friend struct Graph;
  friend struct Node;
  Block(Graph* graph, Node* node);
  void destroy();
  void clear();
  void reIndexTopology();

  Graph* graph_;
  size_t index_; // in the graph's list of blocks
  Node* output_; // the list of nodes begins and ends here
  Node* input_; // not in the list
  Node* owning_node_;
};

// ---- graphs ---------------------------------------------------------------------------------------------------------

struct TORCH_API Graph : std::enable_shared_from_this<Graph> {
  explicit Graph(ScopePtr scope_root);
  Graph() : Graph(c10::make_intrusive<Scope>()) {}
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  ~Graph();

  at::ArrayRef<Value*> inputs() {
    return block_->inputs();
  }
  at::ArrayRef<const Value*> inputs() const {
    return static_cast<const Block*>(block_)->inputs();
  }
  at::ArrayRef<Value*> outputs() {
    return block_->outputs();
  }
  at::ArrayRef<const Value*> outputs() const {
    return static_cast<const Block*>(block_)->outputs();
  }
  graph_node_list nodes() {
    return block_->nodes();
  }
  const_graph_node_list nodes() const {
    return static_cast<const Block*>(block_)->nodes();
  }
  Node* param_node() {
    return block_->param_node();
  }
  const Node* param_node() const {
    return static_cast<const Block*>(block_)->param_node();
  }
  Node* return_node() {
    return block_->return_node();
  }
  const Node* return_node() const {
    return static_cast<const Block*>(block_)->return_node();
  }
  Block* block() {
    return block_;
  }
  const Block* block() const {
    return block_;
  }
  const std::unordered_map<std::string, Value*>& debugNames() const {
    return names_;
  }

  Value* addInput(const std::string& name = "") {
    return block_->addInput(name);
  }
  Value* insertInput(size_t i, const std::string& name = "") {
    return block_->insertInput(i, name);
  }
  void eraseInput(size_t i) {
    block_->eraseInput(i);
  }
  size_t registerOutput(Value* value) {
    return block_->registerOutput(value);
  }
  void eraseOutput(size_t i) {
    block_->eraseOutput(i);
  }

  // -- scopes of traced nodes
  void push_scope(const std::string& name);
  void pop_scope();
  ScopePtr current_scope() {
    return current_scope_;
  }
  void set_current_scope(ScopePtr scope) {
    current_scope_ = std::move(scope);
  }

  // -- new nodes, not yet in the graph
  Node* create(NodeKind kind, size_t num_outputs = 1);
  Node* create(NodeKind kind, at::ArrayRef<Value*> inputs, size_t num_outputs = 1);
  Node* createNone();
  Node* createUninitialized(TypePtr type);
  Node* createWithSubgraph(Symbol kind);
  Node* createTuple(at::ArrayRef<Value*> values, TupleTypePtr named_tuple = nullptr);
  Node* createTupleUnpack(Value* value);
  Node* createTupleIndex(Value* tuple, Value* index, const TypePtr& output_type);
  Node* createTupleSlice(Value* tuple, int64_t begin, int64_t step_size, int64_t num_values);
  Node* createEnumName(Value* value);
  Node* createEnumValue(Value* value);
  Node* createList(const TypePtr& element_type, at::ArrayRef<Value*> values);
  Node* createListUnpack(Value* value, size_t size);
  Node* createDict(
      const TypePtr& key_type, const TypePtr& value_type, at::ArrayRef<Value*> keys, at::ArrayRef<Value*> values);
  Node* createNumToTensor(Value* value);
  Node* createObject(const ClassTypePtr& type);
  Node* createSetAttr(Value* object, const std::string& field, Value* value);
  Node* createGetAttr(Value* object, const std::string& field);
  Node* createStore(const std::string& name, Value* value);
  Node* createLoad(const std::string& name, const TypePtr& type);
  Node* createIsInstance(Value* value, at::ArrayRef<TypePtr> types);
  /// A copy with the inputs that `value_map` gives; blocks and graphs in attributes are copied unless told otherwise.
  Node* createClone(Node* node, const std::function<Value*(Value*)>& value_map, bool copy_blocks = true);

  // -- new nodes at the insert point
  Value* insertGetAttr(Value* object, const std::string& field) {
    return insertNode(createGetAttr(object, field))->output();
  }
  Value* insertUncheckedCast(Value* value, TypePtr type);
  /// Makes a (nested) list of numbers out of a tensor: prim::tolist of `type`.
  Value* insertToList(Value* value, TypePtr type);
  Value* insertFunctionCall(Function* callee, at::ArrayRef<Value*> arguments);
  Value* insertMethodCall(const std::string& method_name, at::ArrayRef<Value*> arguments, const TypePtr& output_type);
  /// Throws if a graph cannot hold such a value.
  Value* insertConstant(
      const IValue& value,
      std::optional<SourceRange> range = std::nullopt,
      std::optional<ScopePtr> scope = std::nullopt);
  /// Finds the overload that takes these arguments, converting as TorchScript does, and calls it; throws if there is
  /// none.
  Value* insert(
      Symbol operator_name,
      at::ArrayRef<NamedValue> arguments,
      at::ArrayRef<NamedValue> keyword_arguments = {},
      const std::optional<SourceRange>& range = std::nullopt);

  Node* appendNode(Node* node) {
    return block_->appendNode(node);
  }
  Node* prependNode(Node* node) {
    return block_->prependNode(node);
  }
  /// At the insert point, which stays behind it.
  Node* insertNode(Node* node);
  void setInsertPoint(Block* block);
  /// Before this node.
  void setInsertPoint(Node* node);
  Node* insertPoint() {
    return insert_before_;
  }
  /// Values that libtorch's compiler makes and drops: those that follow have the numbers of its graphs.
  void skipNumbers(size_t count) {
    next_unique_ += count;
  }
  /// The name that a value gets when another one takes its own; counts as given.
  std::string nextName(const std::string& name);
  /// A number for a value that is made later.
  size_t reserveNumber() {
    return next_unique_++;
  }
  Node* findNode(Symbol kind, bool recursive = true);
  std::vector<Node*> findAllNodes(Symbol kind, bool recursive = true);

  /// The version of operators that the graph was written for, if that is known.
  void set_op_version(std::optional<size_t> version) {
    op_version_ = version;
  }
  std::optional<size_t> get_op_version() const {
    return op_version_;
  }

  /// Checks that uses, names, order and blocks are consistent; throws.
  void lint() const;
  void remapTypes(const std::function<TypePtr(TypePtr)>& type_map) {
    block_->remapTypes(type_map);
  }
  std::shared_ptr<Graph> copy();

  std::string toString(bool print_source_locations = true) const;
  std::string str() const {
    return toString(true);
  }
  std::ostream& print(std::ostream& out, bool print_source_locations = true) const;
  void dump() const;

 private:
  friend struct Value;
  friend struct Node;
  friend struct Block;
  void cloneInto(Graph& target) const;
  Value* newValue(Node* node, size_t offset);
  void freeValue(Value* value);
  void freeNode(Node* node);
  void freeBlock(Block* block);
  void forgetName(Value* value);

  std::vector<Node*> all_nodes_;
  std::vector<Value*> all_values_;
  std::vector<Block*> all_blocks_;
  size_t next_unique_ = 0;
  std::optional<size_t> op_version_;
  std::unordered_map<std::string, Value*> names_;
  // The last number given to each base name.
  std::unordered_map<std::string, size_t> name_suffix_;
  ScopePtr current_scope_;
  Block* block_;
  Node* insert_before_;
};

TORCH_API std::ostream& operator<<(std::ostream& out, const Graph& graph);
TORCH_API std::ostream& operator<<(std::ostream& out, const Node& node);

/// Sets a graph's insert point while it lives.
struct WithInsertPoint {
  explicit WithInsertPoint(Node* node) : previous_(node->owningGraph()->insertPoint()) {
    node->owningGraph()->setInsertPoint(node);
  }
  explicit WithInsertPoint(Block* block) : WithInsertPoint(block->return_node()) {}
  WithInsertPoint(const WithInsertPoint&) = delete;
  WithInsertPoint& operator=(const WithInsertPoint&) = delete;
  ~WithInsertPoint() {
    previous_->owningGraph()->setInsertPoint(previous_);
  }

 private:
  Node* previous_;
};

/// Sets a graph's scope while it lives.
struct WithCurrentScope {
  WithCurrentScope(Graph& graph, ScopePtr scope) : graph_(&graph), previous_(graph.current_scope()) {
    graph.set_current_scope(std::move(scope));
  }
  WithCurrentScope(const WithCurrentScope&) = delete;
  WithCurrentScope& operator=(const WithCurrentScope&) = delete;
  ~WithCurrentScope() {
    graph_->set_current_scope(previous_);
  }

 private:
  Graph* graph_;
  ScopePtr previous_;
};

/// Copies the nodes of `callee` to the insert point of `graph` and returns what stands for its outputs.
TORCH_API std::vector<Value*> insertGraph(Graph& graph, Graph& callee, at::ArrayRef<Value*> inputs);
TORCH_API std::vector<Value*> insertGraph(
    Graph& graph, Graph& callee, at::ArrayRef<Value*> inputs, std::unordered_map<Value*, Value*>& value_map);

/// The values with their types: `%a : int, %b : Tensor`.
TORCH_API std::string typedValueList(at::ArrayRef<const Value*> values, const char* delimiter = ", ");

namespace utils {
/// The objects whose methods a node was inlined from, outermost first: `layers(Layers).0(Linear)`.
TORCH_API std::string getNodesModuleHierarchy(const Node& n);
} // namespace utils

} // namespace torch::jit
