// What of a graph becomes one operator, see Note [Graphs of inference].
#pragma once

#include <csrc/fx/graph.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace torch::fused {

/// A convolution or product and what becomes part of it; it is written where the last of them stands.
struct Chain {
  fx::Node* first = nullptr;
  fx::Node* norm = nullptr;
  std::optional<fx::Value> other;
  std::string activation = "none";
};

/// Finds the chains of a graph.
class ChainFinder {
 public:
  /// `is_frozen`: of each input.
  ChainFinder(const fx::Graph& graph, const std::vector<bool>& is_frozen);

  bool is_empty() const {
    return chains_.empty();
  }
  /// Whether it is part of a chain and not its last.
  bool is_absorbed(const fx::Node& node) const {
    return absorbed_[node.id()];
  }
  /// Null where a node is the last of none.
  const Chain* ending_at(const fx::Node& node) const {
    const auto found = chains_.find(&node);
    return found == chains_.end() ? nullptr : &found->second;
  }
  bool is_frozen(const fx::Arg& arg) const;

 private:
  void plan(fx::Node& node);
  void plan_convolution(fx::Node& node);
  void note(Chain chain, std::initializer_list<fx::Node*> nodes);
  bool take_activation(Chain& chain, fx::Node*& last);
  /// The sum of a chain so far and a tensor of its sizes.
  fx::Node* residual(Chain& chain, const fx::Node& last) const;
  /// x times a frozen matrix, or its transpose, with a frozen bias or none.
  bool is_packed_product(const fx::Node& node) const;

  std::vector<bool> absorbed_; // by node
  std::unordered_map<const fx::Node*, Chain> chains_; // by the last of them
  std::unordered_map<const fx::Node*, bool> frozen_; // inputs
};

/// Whether a backward pass of a convolution has faster kernels for channels-last images.
bool is_chain_backward(const fx::Node& node);
/// Operators that give the same elements whatever the strides of their arguments are.
bool takes_any_layout(const fx::Node& node);
std::vector<fx::Dim> channels_last_strides(const std::vector<fx::Dim>& sizes);

} // namespace torch::fused
