// The syntax tree of TorchScript source.
#pragma once

#include <c10/util/SmallVector.h>
#include <csrc/jit/frontend/source_range.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace torch::jit {

/// What a node of the tree is. Behind each: its text, and its children in order; `?` may be Missing, `*` any number.
enum class SyntaxKind {
  Missing, ///< in place of an optional child
  Sequence, ///< *

  // expressions
  Name, ///< text: the name
  Number, ///< text as written: 1, 0x10, 1.5e-3, 2j
  String, ///< text: the characters it stands for
  True,
  False,
  None,
  Ellipsis, ///< ...
  Binary, ///< text: + - * / // % ** @ & | ^ << >> < <= > >= == != is `is not` in `not in` and or; left, right
  Unary, ///< text: - ~ not; operand
  Conditional, ///< condition, value if true, value if false
  Call, ///< callee, Sequence of arguments (expressions and Starred), Sequence of Keyword
  Keyword, ///< text: the name; value
  Starred, ///< value
  Attribute, ///< text: the name; object
  Subscript, ///< object, Sequence of indices
  Slice, ///< start?, stop?, step?
  Tuple, ///< elements*
  List, ///< elements*
  Dict, ///< Sequence of keys, Sequence of values
  ListComprehension, ///< element, target, iterable
  DictComprehension, ///< key, value, target, iterable

  // statements
  Expression, ///< value
  Assign, ///< Sequence of targets (several in a = b = value), value?, type?
  AugmentedAssign, ///< text: the operator without "="; target, value
  Return, ///< value?
  If, ///< condition, Sequence of statements, Sequence of statements
  While, ///< condition, Sequence of statements
  For, ///< target, iterable, Sequence of statements
  With, ///< Sequence of WithItem, Sequence of statements
  WithItem, ///< context, target?
  Raise, ///< value?
  Assert, ///< condition, message?
  Delete, ///< targets*
  Global, ///< names*
  Pass,
  Break,
  Continue,

  // definitions
  Function, ///< text: the name; Sequence of Parameter, result type?, Sequence of statements
  Parameter, ///< text: the name; type?, default?, Sequence that is not empty for keyword-only ones
  Class, ///< text: the name; Sequence of bases, Sequence of statements and functions
};

TORCH_API const char* toString(SyntaxKind kind);

struct Syntax;
using SyntaxPtr = std::shared_ptr<const Syntax>;
using SyntaxChildren = c10::SmallVector<SyntaxPtr, 3>;

/// A node of the tree. Immutable.
struct TORCH_API Syntax {
  Syntax(SyntaxKind kind, SourceRange range, std::string text = {}, SyntaxChildren&& children = {})
      : kind(kind), range(std::move(range)), text(std::move(text)), children(std::move(children)) {}
  ~Syntax();

  bool is(SyntaxKind other) const {
    return kind == other;
  }
  /// Whether the optional child is there.
  bool has(size_t i) const {
    return children[i]->kind != SyntaxKind::Missing;
  }
  const Syntax& operator[](size_t i) const {
    return *children[i];
  }
  size_t size() const {
    return children.size();
  }

  SyntaxKind kind;
  /// From the first to the last character that belongs to it, but for calls: those end before the closing parenthesis.
  SourceRange range;
  std::string text;
  SyntaxChildren children;
};

/// Makes a node; its memory comes from the pool of small blocks.
TORCH_API SyntaxPtr
makeSyntax(SyntaxKind kind, SourceRange range, std::string text = {}, SyntaxChildren&& children = {});

/// As an S-expression, `(Binary + (Name x) (Number 1))`: for tests and debugging.
TORCH_API std::ostream& operator<<(std::ostream& out, const Syntax& tree);

} // namespace torch::jit
