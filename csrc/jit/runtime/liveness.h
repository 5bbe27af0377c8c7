// The order in which the interpreter evaluates a graph, and where it uses each value for the last time.
#pragma once

#include <c10/util/SmallVector.h>
#include <csrc/jit/ir/ir.h>

#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace torch::jit {

/// Whether a node gives a constant: it is loaded where it is used, and takes no time of its own.
bool is_constant_node(const Node* node);

/// Computed once for a graph, which must not change meanwhile.
class Liveness {
 public:
  /// What nodes that read their operands where they are take is not evaluated in place of a load.
  Liveness(Graph& graph, bool (*reads_in_place)(const Node*));

  /// Whether the node is evaluated where its only user loads its input, so that its value never leaves the stack.
  bool is_inline(const Node* node) const {
    return inline_nodes_.count(node) > 0;
  }
  /// Whether no later instruction needs the value of this input.
  bool is_last_load(const Node* node, size_t input) const;
  /// Values from outside of a prim::If that this block of it does not use, but another block does as the last of all.
  std::vector<Value*> unused_in_branch(const Block* branch) const;
  /// Values from outside of a node's blocks that nothing behind the node uses: they are known to be dead there.
  std::vector<Value*> dead_behind(const Node* node) const;

 private:
  struct LastUse {
    size_t position = 0;
    // In the block: the user, or the node whose blocks have it.
    const Node* node = nullptr;
    bool nested = false;
  };
  using Key = std::pair<const Block*, const Value*>;
  struct KeyHash {
    size_t operator()(const std::pair<const void*, const void*>& key) const {
      // Objects of graphs lie 64 bytes apart or more.
      return reinterpret_cast<size_t>(key.second) / 64 + reinterpret_cast<size_t>(key.first) / 64 * 31;
    }
  };

  void find_inline_nodes(Block* block);
  Node* find_inline_inputs(Node* node);
  void number_loads(Block* block);
  void number_loads(Node* node);
  void record_load(Node* node, size_t input);
  const LastUse* last_use(const Block* block, const Value* value) const;
  bool dies_in(const Block* block, const Value* value) const;

  bool (*reads_in_place_)(const Node*);
  std::unordered_set<const Node*> inline_nodes_;
  size_t next_position_ = 0;
  // By the node that loads: one position for each input.
  std::unordered_map<const Node*, c10::SmallVector<size_t, 4>> positions_;
  std::unordered_map<Key, LastUse, KeyHash> last_uses_;
  // The values from outside that the blocks of a node use.
  std::unordered_map<const Node*, std::vector<Value*>> captured_;
  std::unordered_set<std::pair<const Node*, const Value*>, KeyHash> seen_;
};

} // namespace torch::jit
