// Which values of a graph may share memory, and which nodes write to it.
#pragma once

#include <csrc/jit/ir/ir.h>
#include <csrc/jit/ir/memory_locations.h>

#include <array>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace torch::jit {

class ValueAndMemoryLocationSet;

/// Answers are conservative: "may" is said where it is not known. What comes from outside (inputs, attributes), leaves
/// a container, or becomes a member of one, is a wildcard: it may be any other wildcard of its kind.
///
/// The answers are those of the graph as it was analysed. Values that were added later are wildcards, unless they were
/// made known by the functions at the end; nodes may be moved and removed.
class TORCH_API AliasDb {
 public:
  /// With `isFrozen`, attributes of modules are distinct objects that nothing outside knows. Calls of functions are
  /// always taken to write to all that they are given; `descendFunctionCalls` is accepted and changes nothing.
  explicit AliasDb(std::shared_ptr<Graph> graph, bool isFrozen = false, bool descendFunctionCalls = false);
  AliasDb(const AliasDb&) = delete;
  AliasDb& operator=(const AliasDb&) = delete;
  ~AliasDb();

  // -- writes. Nodes in the blocks of a node count as part of it.
  /// Whether it writes to something that is known outside of the graph.
  bool writesToWildcard(Node* node) const;
  bool writesToAlias(Node* node, const ValueSet& values) const;
  bool writesToAlias(Node* node, const ValueAndMemoryLocationSet& values) const;
  ValueAndMemoryLocationSet getValueAndMemoryLocationSet() const;
  /// Whether any node of the graph writes to the memory of an input, of an output, or of both.
  bool hasInputWriters(const Node* node) const;
  bool hasOutputWriters(const Node* node) const;
  bool hasWriters(const Node* node) const;
  bool hasWriters(const Value* value) const;
  /// Whether it writes to anything.
  bool isMutable(Node* node) const;

  // -- shared memory
  bool mayAlias(const Value* a, const Value* b) const;
  bool mayAlias(const ValueSet& a, const ValueSet& b) const;
  /// Whether what they contain, at any depth, counts too.
  bool mayContainAlias(Value* a, Value* b) const;
  bool mayContainAlias(Value* a, at::ArrayRef<Value*> b) const;
  bool mayContainAlias(at::ArrayRef<Value*> a, at::ArrayRef<Value*> b) const;
  /// Whether something outside of the graph may know the memory: it is an input's, an output's or a wildcard's.
  bool escapesScope(const at::ArrayRef<Value*>& values) const;
  /// Whether it makes no difference if values of `a` and `b` share memory or not.
  bool safeToChangeAliasingRelationship(const at::ArrayRef<Value*>& a, const at::ArrayRef<Value*>& b) const;

  // -- moves, within one block
  /// Moves `node` directly behind (or before) `place`, together with what must stay on the same side of it. Only nodes
  /// between the two are moved. False, and nothing is moved, if the order of evaluation does not allow it.
  bool moveAfterTopologicallyValid(Node* node, Node* place);
  bool moveBeforeTopologicallyValid(Node* node, Node* place);
  bool couldMoveAfterTopologically(Node* node, Node* place);
  bool couldMoveBeforeTopologically(Node* node, Node* place);

  // -- types
  /// Whether values of the type, or what they contain, can be written to.
  static bool isMutableType(const Value* value);
  static bool isMutableType(const TypePtr& type);

  // -- text
  void dump() const;
  std::string toString() const;
  /// A description of it in the language of Graphviz.
  std::string toGraphviz() const;
  /// False if the file could not be written.
  bool dumpToGraphvizFile(const char* filename) const;

  // -- after changes of the graph
  /// The new value takes the place of an existing one, which is forgotten.
  void replaceWithNewValue(Value* existing, Value* new_value);
  void copyValue(Value* from, Value* to);
  /// It shares memory with nothing.
  void createValue(const Value* value);
  /// The node is about to be destroyed: it writes to nothing any more.
  void forgetWrites(const Node* node);
  /// All that `from` does, with the nodes in its blocks, is done by `to`.
  void moveWrites(const Node* from, const Node* to);
  void enablePreciseTupleContainerAnalysis() {}

 private:
  friend class ValueAndMemoryLocationSet;
  friend void Lint(const AliasDb* db);
  using Element = MemoryGraph::Element;
  class WorkingSet;
  enum class MoveSide { Before, After };

  // What a value may be, as far as memory is concerned: values of different kinds never share any.
  enum Kind : uint8_t {
    TensorKind,
    TensorListKind,
    NumberListKind,
    StringListKind,
    OtherListKind,
    DictKind,
    ObjectKind,
    TupleKind,
    FutureKind,
    NumKinds
  };
  using Kinds = uint32_t;
  static Kinds kindsOf(const Type& type);

  struct Write {
    const Value* value;
    bool contents; // what it contains, too
  };

  // -- analysis
  void analyze(Block* block);
  void analyze(Node* node);
  void analyzeIf(Node* node);
  void analyzeLoop(Node* node);
  void analyzeConstruct(Node* node);
  void analyzeConservative(Node* node);
  void analyzeSchema(Node* node, const FunctionSchema& schema);
  void bindOutput(
      Value* output,
      const c10::AliasInfo* formal,
      const std::unordered_map<Symbol, std::vector<Value*>>& bound,
      Node* node);
  bool analyzeByKind(Node* node);
  void analyzeRunningStatistics(Node* node);
  void settleWildcards();
  static bool onlyReadWhole(const Value* list);

  // -- facts
  Element elementOf(const Value* value);
  void giveFresh(const Value* value, bool contents_are_wildcards = true);
  void setWildcard(const Value* value);
  void pointTo(const Value* from, const Value* to);
  void pointTo(at::ArrayRef<Value*> from, at::ArrayRef<Value*> to);
  void registerWrite(const Value* value, Node* node, bool contents = false);

  // -- queries
  const MemoryLocations& locationsOf(const Value* value, bool contents) const;
  MemoryLocations locationsOf(at::ArrayRef<Value*> values, bool contents) const;
  const MemoryLocations& wildcardLocations() const;
  bool hasWriters(const at::ArrayRef<Value*>& values) const;
  MemoryLocations writesOf(const Node* node) const;
  MemoryLocations readsOf(const Node* node) const;
  void collectWrites(const Node* node, MemoryLocations& found) const;
  void collectReads(const Node* node, MemoryLocations& found) const;

  bool tryMove(Node* node, Node* place, MoveSide side, bool dry_run);
  static void move(Node* node, Node* place, MoveSide side);

  std::shared_ptr<Graph> graph_;
  bool is_frozen_;
  MemoryGraph memory_;
  std::array<Element, NumKinds> wildcards_{};
  Element unknown_ = 0; // all wildcards: for values that were not analysed
  std::unordered_map<const Value*, Element> elements_;
  std::unordered_set<const Value*> pending_wildcards_;
  std::unordered_map<const Node*, std::vector<Write>> writes_;
  // Nodes that may write to whatever is known outside.
  std::unordered_set<const Node*> writes_to_all_wildcards_;
  mutable std::optional<MemoryLocations> written_;
};

/// Checks what must hold of it; throws.
TORCH_API void Lint(const AliasDb* db);

/// Values and their memory: a set to which values are added. The AliasDb must outlive it and must not change meanwhile.
class TORCH_API ValueAndMemoryLocationSet {
 public:
  void insert(Value* value);
  ValueSet& getValueSet() {
    return values_;
  }

 private:
  friend class AliasDb;
  explicit ValueAndMemoryLocationSet(const AliasDb* db) : db_(db) {}

  const AliasDb* db_;
  ValueSet values_;
  MemoryLocations locations_;
};

} // namespace torch::jit
