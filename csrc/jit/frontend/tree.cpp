#include <csrc/jit/frontend/tree.h>

#include <c10/util/Exception.h>
#include <csrc/jit/serialize/stack_room.h>

#include <algorithm>
#include <ostream>
#include <sstream>

namespace torch::jit {

const SourceRange& Tree::range() const {
  TORCH_CHECK(false, "Tree::range: a ", kindToString(kind_), " is an atom, which has no range");
}

const std::string& Tree::stringValue() const {
  TORCH_CHECK(false, "Tree::stringValue: only a String has a text, but this is a ", kindToString(kind_));
}

const TreeList& Tree::trees() const {
  static const auto& none = *new TreeList();
  return none;
}

const TreeRef& Tree::tree(size_t i) const {
  TORCH_CHECK_INDEX(
      i < trees().size(), "Tree::tree: a ", kindToString(kind_), " with ", trees().size(), " trees has none at ", i);
  return trees()[i];
}

TreeRef Tree::map(const std::function<TreeRef(TreeRef)>&) {
  return TreeRef::unsafe_reclaim_from_nonowning(this);
}

void Tree::check(int kind, size_t expected_subtrees, bool allow_more) const {
  TORCH_CHECK(kind_ == kind, "expecting kind '", kindToString(kind), "' but found '", kindToString(kind_), "'");
  const size_t found = trees().size();
  if (found < expected_subtrees || (!allow_more && found != expected_subtrees)) {
    std::ostringstream text;
    text << "a " << kindToString(kind) << " must have " << (allow_more ? "at least " : "") << expected_subtrees
         << " subtrees, but this one has " << found << '\n';
    if (!isAtom()) {
      range().highlight(text);
    }
    TORCH_CHECK(false, text.str());
  }
}

Compound::Compound(int kind, const SourceRange& range, TreeList&& trees) : Tree(kind), trees_(std::move(trees)) {
  size_t start = range.start();
  size_t end = range.end();
  for (const TreeRef& tree : trees_) {
    TORCH_CHECK(tree, "Compound: a subtree of a ", kindToString(kind), " is null");
    if (!tree->isAtom()) {
      start = std::min(start, tree->range().start());
      end = std::max(end, tree->range().end());
    }
  }
  range_ = SourceRange(range.source(), start, end);
}

// Long chains such as a + b + c + ... are deep on their left: their nodes go one by one, not by recursion.
Compound::~Compound() {
  TreeList pending = std::move(trees_);
  while (!pending.empty()) {
    const TreeRef node = std::move(pending.back());
    pending.pop_back();
    if (node && node.unique() && !node->isAtom()) {
      TreeList& inner = static_cast<Compound&>(*node).trees_;
      pending.append(std::make_move_iterator(inner.begin()), std::make_move_iterator(inner.end()));
      inner.clear();
    }
  }
}

TreeRef Compound::map(const std::function<TreeRef(TreeRef)>& fn) {
  TreeList mapped;
  for (const TreeRef& tree : trees_) {
    mapped.push_back(fn(tree));
  }
  return create(kind(), range_, std::move(mapped));
}

// ---- text -----------------------------------------------------------------------------------------------------------

namespace {

// The tree on one line; stops when it is longer than `limit`.
void print_flat(std::string& line, const Tree& tree, size_t limit) {
  check_stack_room("trees of source code");
  if (tree.kind() == TK_STRING) {
    line += tree.stringValue();
    return;
  }
  line += '(' + kindToString(tree.kind());
  for (const TreeRef& each : tree.trees()) {
    if (line.size() > limit) {
      return;
    }
    line += ' ';
    print_flat(line, *each, limit);
  }
  line += ')';
}

void print_indented(std::ostream& out, const Tree& tree, size_t indent, size_t col) {
  check_stack_room("trees of source code");
  std::string line;
  print_flat(line, tree, tree.isAtom() ? line.max_size() : col);
  if (indent + line.size() < col || tree.isAtom()) {
    out << line;
    return;
  }
  out << '(' << kindToString(tree.kind());
  for (const TreeRef& each : tree.trees()) {
    out << '\n' << std::string(indent + 2, ' ');
    print_indented(out, *each, indent + 2, col);
  }
  out << ')';
}

} // namespace

std::ostream& operator<<(std::ostream& out, const pretty_tree& tree) {
  print_indented(out, *tree.tree, 0, tree.col);
  return out << '\n';
}

std::ostream& operator<<(std::ostream& out, const TreeRef& tree) {
  return out << pretty_tree(tree);
}

} // namespace torch::jit
