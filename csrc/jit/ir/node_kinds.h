// Kinds of nodes that passes tell apart.
#pragma once

#include <csrc/jit/ir/ir.h>

namespace torch::jit {

/// Whether a node is part of the language, not a call of an operator, and has no effect but its outputs: constants,
/// attributes that are read, containers that are made and taken apart, control flow. No operator needs to be looked up.
bool isStructural(Symbol kind);

/// Whether calls of the operator may give other results for the same arguments.
bool drawsRandomNumbers(const FunctionSchema& schema);

/// Whether the node's operator writes to an argument, as its schema tells. Blocks are not looked into.
bool mayWrite(const Node* node);

} // namespace torch::jit
