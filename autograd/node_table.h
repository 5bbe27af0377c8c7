#pragma once

#include <autograd/function.h>
#include <autograd/input_buffer.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace torch::autograd {

/// What one backward pass knows of one node.
struct NodeState {
  /// The gradient of input `input_idx` is result number `output_idx` of the pass.
  struct Capture {
    int input_idx;
    int output_idx;
  };

  explicit NodeState(Node* node_) : node(node_) {}

  bool should_execute() const {
    return needed || captures != nullptr;
  }

  Node* node;
  InputBuffer inputs;
  std::unique_ptr<std::vector<Capture>> captures;
  /// Edges of the pass that lead here and have brought no gradient yet.
  uint32_t dependencies = 0;
  /// Whether `inputs` has been set up.
  bool started = false;
  /// Whether the node must run, in a pass that wants only some gradients.
  bool needed = false;
};

/// The nodes of one backward pass, in order of discovery. A hash table of positions in a dense list: one allocation
/// for many nodes, and the list doubles as the work list of the search.
class NodeTable {
 public:
  size_t size() const {
    return states_.size();
  }
  NodeState& operator[](size_t position) {
    return states_[position];
  }

  /// The state of `node`, null if the pass does not reach it. Stays where it is once all nodes are inserted.
  NodeState* find(const Node* node) {
    if (slots_.empty()) {
      return nullptr;
    }
    for (size_t slot = slot_of(node);; slot = (slot + 1) & mask()) {
      const uint32_t position = slots_[slot];
      if (position == kFree) {
        return nullptr;
      }
      if (states_[position].node == node) {
        return &states_[position];
      }
    }
  }

  /// The state of `node`, made if needed. Moves other states.
  NodeState& insert(Node* node) {
    if (2 * (states_.size() + 1) > slots_.size()) {
      grow();
    }
    for (size_t slot = slot_of(node);; slot = (slot + 1) & mask()) {
      const uint32_t position = slots_[slot];
      if (position == kFree) {
        slots_[slot] = static_cast<uint32_t>(states_.size());
        return states_.emplace_back(node);
      }
      if (states_[position].node == node) {
        return states_[position];
      }
    }
  }

 private:
  static constexpr uint32_t kFree = UINT32_MAX;

  size_t mask() const {
    return slots_.size() - 1;
  }
  size_t slot_of(const Node* node) const {
    // Fibonacci hashing: the high bits of the product mix all bits of the address.
    return (reinterpret_cast<uintptr_t>(node) * 0x9E3779B97F4A7C15ull) >> shift_;
  }
  void grow() {
    const size_t size = slots_.empty() ? 32 : 2 * slots_.size();
    TORCH_CHECK(size < kFree, "a backward pass over more than two thousand million nodes");
    shift_ = slots_.empty() ? 64 - 5 : shift_ - 1;
    slots_.assign(size, kFree);
    states_.reserve(size / 2);
    for (size_t i = 0; i < states_.size(); ++i) {
      size_t slot = slot_of(states_[i].node);
      while (slots_[slot] != kFree) {
        slot = (slot + 1) & mask();
      }
      slots_[slot] = static_cast<uint32_t>(i);
    }
  }

  std::vector<uint32_t> slots_;
  std::vector<NodeState> states_;
  int shift_ = 64;
};

} // namespace torch::autograd
