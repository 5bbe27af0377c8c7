// Trees of programs as syntax trees of the compiler, and back.
#pragma once

#include <csrc/jit/frontend/syntax.h>
#include <csrc/jit/frontend/tree.h>

namespace torch::jit {

/// A definition, statement or expression as nodes that the classes of tree_views.h are views of.
TreeRef toTree(const Syntax& syntax);
/// The reverse; a tree of any shape may be given: throws c10::Error or ErrorReport where it is not of the language.
SyntaxPtr toSyntax(const TreeRef& tree);

} // namespace torch::jit
