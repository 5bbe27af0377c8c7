// What the classes of <csrc/jit/frontend/tree_views.h> are made of.
//
// A view checks its node when it is made: another kind throws c10::Error, and what is no statement or expression
// ErrorReport. Parts are views, too. `create` makes the node. Lists are nodes of kind TK_LIST, what may be missing is
// a node of kind TK_OPTION with or without a tree in it.
#pragma once

#include <csrc/jit/frontend/error_report.h>
#include <csrc/jit/frontend/tree.h>

#include <cstddef>
#include <functional>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

namespace torch::jit {

struct TORCH_API TreeView {
  explicit TreeView(TreeRef tree) : tree_(std::move(tree)) {}

  TreeRef tree() const {
    return tree_;
  }
  const TreeRef& get() const {
    return tree_;
  }
  operator TreeRef() const {
    return tree_;
  }
  const SourceRange& range() const {
    return tree_->range();
  }
  int kind() const {
    return tree_->kind();
  }
  /// Prints the tree to standard output.
  void dump() const;

 protected:
  const TreeRef& subtree(size_t i) const {
    return tree_->tree(i);
  }

  TreeRef tree_;
};

/// A view of the nodes of one kind, with at least `Parts` trees.
template <class View, int Kind, size_t Parts = 0, class Base = TreeView>
struct NodeView : Base {
  explicit NodeView(const TreeRef& tree) : Base(tree) {
    tree->match(Kind);
    if (tree->trees().size() < Parts) {
      tree->matchNumSubtrees(Kind, Parts);
    }
  }

 protected:
  template <class Part>
  Part part(size_t i) const {
    return Part(this->subtree(i));
  }
  template <class... Trees>
  static View make(const SourceRange& range, const Trees&... trees) {
    return View(Compound::create(Kind, range, {TreeRef(trees)...}));
  }
};

template <class T>
struct ListIterator {
  using iterator_category = std::input_iterator_tag;
  using value_type = T;
  using difference_type = std::ptrdiff_t;
  using pointer = const T*;
  using reference = T;

  explicit ListIterator(TreeList::const_iterator it) : it(it) {}
  bool operator==(const ListIterator& other) const {
    return it == other.it;
  }
  bool operator!=(const ListIterator& other) const {
    return it != other.it;
  }
  T operator*() const {
    return T(*it);
  }
  ListIterator& operator+=(std::ptrdiff_t n) {
    it += n;
    return *this;
  }
  ListIterator& operator++() {
    ++it;
    return *this;
  }
  ListIterator& operator--() {
    --it;
    return *this;
  }

 private:
  TreeList::const_iterator it;
};

template <class T>
struct List : TreeView {
  using iterator = ListIterator<T>;
  using const_iterator = ListIterator<T>;

  List(const TreeRef& tree) : TreeView(tree) {
    tree->match(TK_LIST);
    for (const TreeRef& each : tree->trees()) {
      T{each};
    }
  }
  iterator begin() const {
    return iterator(tree_->trees().begin());
  }
  iterator end() const {
    return iterator(tree_->trees().end());
  }
  bool empty() const {
    return tree_->trees().empty();
  }
  size_t size() const {
    return tree_->trees().size();
  }
  T operator[](size_t i) const {
    return T(subtree(i));
  }
  TreeRef map(const std::function<TreeRef(const T&)>& fn) const {
    return tree_->map([&](TreeRef each) { return fn(T(std::move(each))); });
  }
  static List create(const SourceRange& range, const std::vector<T>& subtrees) {
    return unsafeCreate(range, TreeList(subtrees.begin(), subtrees.end()));
  }
  static List unsafeCreate(const SourceRange& range, TreeList&& subtrees) {
    return List(Compound::create(TK_LIST, range, std::move(subtrees)));
  }
};

template <class T>
struct Maybe : TreeView {
  explicit Maybe(const TreeRef& tree) : TreeView(tree) {
    tree->match(TK_OPTION);
    if (tree->trees().size() > 1) {
      throw ErrorReport(tree) << "an option has at most one subtree, but this one has " << tree->trees().size();
    }
    if (present()) {
      get();
    }
  }
  Maybe(const T& tree) : Maybe(create(tree.range(), tree)) {}

  bool present() const {
    return !tree_->trees().empty();
  }
  /// Throws if it is not present.
  T get() const {
    return T(subtree(0));
  }
  TreeRef map(const std::function<TreeRef(const T&)>& fn) const {
    return tree_->map([&](TreeRef each) { return fn(T(std::move(each))); });
  }
  static Maybe create(const SourceRange& range) {
    return Maybe(Compound::create(TK_OPTION, range, {}));
  }
  static Maybe create(const SourceRange& range, const T& value) {
    return Maybe(Compound::create(TK_OPTION, range, {TreeRef(value)}));
  }
};

struct TORCH_API Ident : NodeView<Ident, TK_IDENT, 1> {
  using NodeView::NodeView;
  const std::string& name() const {
    return subtree(0)->stringValue();
  }
  static Ident create(const SourceRange& range, std::string name) {
    return make(range, String::create(std::move(name)));
  }
};

/// Any statement.
struct TORCH_API Stmt : TreeView {
  explicit Stmt(const TreeRef& tree);
};

/// Any expression.
struct TORCH_API Expr : TreeView {
  explicit Expr(const TreeRef& tree);
};

template <class View, int Kind, size_t Parts = 0>
using StmtView = NodeView<View, Kind, Parts, Stmt>;
template <class View, int Kind, size_t Parts = 0>
using ExprView = NodeView<View, Kind, Parts, Expr>;

} // namespace torch::jit
