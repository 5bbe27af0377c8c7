#include <csrc/jit/frontend/syntax.h>

#include <c10/core/SmallPool.h>

#include <algorithm>
#include <ostream>

namespace torch::jit {

const char* toString(SyntaxKind kind) {
  constexpr const char* kNames[] = {
      "Missing",
      "Sequence",
      "Name",
      "Number",
      "String",
      "True",
      "False",
      "None",
      "Ellipsis",
      "Binary",
      "Unary",
      "Conditional",
      "Call",
      "Keyword",
      "Starred",
      "Attribute",
      "Subscript",
      "Slice",
      "Tuple",
      "List",
      "Dict",
      "ListComprehension",
      "DictComprehension",
      "Expression",
      "Assign",
      "AugmentedAssign",
      "Return",
      "If",
      "While",
      "For",
      "With",
      "WithItem",
      "Raise",
      "Assert",
      "Delete",
      "Global",
      "Pass",
      "Break",
      "Continue",
      "Function",
      "Parameter",
      "Class"};
  static_assert(std::size(kNames) == static_cast<size_t>(SyntaxKind::Class) + 1);
  return kNames[static_cast<size_t>(kind)];
}

SyntaxPtr makeSyntax(SyntaxKind kind, SourceRange range, std::string text, SyntaxChildren&& children) {
  return std::allocate_shared<Syntax>(
      c10::PoolAllocator<Syntax>(), kind, std::move(range), std::move(text), std::move(children));
}

// Long chains such as a + b + c + ... are deep on their left: their nodes go one by one, not by recursion.
Syntax::~Syntax() {
  const auto has_children = [](const SyntaxPtr& node) { return node && !node->children.empty(); };
  if (std::none_of(children.begin(), children.end(), has_children)) {
    return;
  }
  c10::SmallVector<SyntaxPtr, 16> pending = std::move(children);
  while (!pending.empty()) {
    const SyntaxPtr node = std::move(pending.back());
    pending.pop_back();
    if (node && node.use_count() == 1) {
      // Nobody else can see it any more.
      SyntaxChildren& inner = const_cast<Syntax&>(*node).children;
      pending.append(std::make_move_iterator(inner.begin()), std::make_move_iterator(inner.end()));
      inner.clear();
    }
  }
}

std::ostream& operator<<(std::ostream& out, const Syntax& tree) {
  out << '(' << toString(tree.kind);
  if (!tree.text.empty()) {
    out << ' ' << tree.text;
  }
  for (const SyntaxPtr& child : tree.children) {
    out << ' ' << *child;
  }
  return out << ')';
}

} // namespace torch::jit
