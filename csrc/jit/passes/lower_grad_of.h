// Nodes of graphs that differentiate() makes.
#pragma once

#include <csrc/jit/ir/ir.h>

#include <memory>

namespace torch::jit {

/// `prim::GradOf`: a node with the gradients of the outputs of a node as inputs, a block that computes those of its
/// inputs, and the name of its operator as attribute `name`.
inline Symbol gradOf() {
  static const Symbol kind = Symbol::prim("GradOf");
  return kind;
}

/// Each prim::GradOf becomes a prim::If: what is in it runs where one of its inputs is a defined tensor; undefined
/// tensors are its outputs otherwise. The graph can run then.
TORCH_API void LowerGradOf(Graph& g);

/// Takes away what is known to be the gradient of nothing: prim::GradOf of undefined tensors alone, and sums with them.
TORCH_API void specializeAutogradZero(std::shared_ptr<Graph> g);

} // namespace torch::jit
