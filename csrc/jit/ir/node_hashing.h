// Nodes that compute the same, as keys of hash tables.
#pragma once

#include <csrc/jit/ir/ir.h>

namespace torch::jit {

/// Of kind, inputs, attributes and types of outputs.
struct TORCH_API HashNode {
  size_t operator()(const Node* node) const;
};

/// Same kind, same inputs, equal attributes and equal types of outputs. Nodes with blocks or graphs are equal only to
/// themselves.
struct TORCH_API EqualNode {
  bool operator()(const Node* a, const Node* b) const;
};

} // namespace torch::jit
