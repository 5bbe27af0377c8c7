// Trees of source code, as programs take them apart and build them; <csrc/jit/frontend/tree_views.h> has a class for
// each construct. The compiler itself works on Syntax, which is made from them.
#pragma once

#include <c10/util/SmallVector.h>
#include <c10/util/intrusive_ptr.h>
#include <csrc/jit/frontend/source_range.h>
#include <csrc/jit/frontend/token_kinds.h>

#include <cstddef>
#include <functional>
#include <initializer_list>
#include <iosfwd>
#include <string>
#include <type_traits>
#include <utility>

namespace torch::jit {

struct Tree;
using TreeRef = c10::intrusive_ptr<Tree>;
using TreeList = c10::SmallVector<TreeRef, 4>;

/// A node: a kind and either trees (Compound) or a text (String).
struct TORCH_API Tree : c10::intrusive_ptr_target {
  explicit Tree(int kind) : kind_(kind) {}

  /// A character or a TokenKind.
  int kind() const {
    return kind_;
  }
  virtual bool isAtom() const {
    return true;
  }
  /// Throws for an atom.
  virtual const SourceRange& range() const;
  /// Throws for what is no String.
  virtual const std::string& stringValue() const;
  /// Of an atom: none.
  virtual const TreeList& trees() const;
  /// Throws if there is no such tree.
  const TreeRef& tree(size_t i) const;
  /// A node of the same kind and range with `fn` of each tree; an atom itself.
  virtual TreeRef map(const std::function<TreeRef(TreeRef)>& fn);

  /// Throws unless the node is of this kind and has at least as many trees as places, which take them.
  template <class... Places>
  void match(int kind, Places... places) const {
    static_assert((std::is_same_v<Places, TreeRef*> && ...), "places of trees are TreeRef*");
    check(kind, sizeof...(places), /*allow_more=*/true);
    [[maybe_unused]] size_t i = 0;
    ((*places = trees()[i++]), ...);
  }
  /// Throws unless the node is of this kind and has so many trees.
  void matchNumSubtrees(int kind, size_t expected_subtrees) const {
    check(kind, expected_subtrees, /*allow_more=*/false);
  }

 private:
  void check(int kind, size_t expected_subtrees, bool allow_more) const;

  int kind_;
};

/// A text without a place in the source.
struct TORCH_API String final : Tree {
  explicit String(std::string value) : Tree(TK_STRING), value_(std::move(value)) {}

  const std::string& stringValue() const override {
    return value_;
  }
  static TreeRef create(std::string value) {
    return c10::make_intrusive<String>(std::move(value));
  }

 private:
  std::string value_;
};

/// A node with trees.
struct TORCH_API Compound final : Tree {
  /// Its range reaches over `range` and those of the trees.
  Compound(int kind, const SourceRange& range, TreeList&& trees = {});
  ~Compound() override;

  bool isAtom() const override {
    return false;
  }
  const SourceRange& range() const override {
    return range_;
  }
  const TreeList& trees() const override {
    return trees_;
  }
  TreeRef map(const std::function<TreeRef(TreeRef)>& fn) override;
  static TreeRef create(int kind, const SourceRange& range, TreeList&& trees) {
    return c10::make_intrusive<Compound>(kind, range, std::move(trees));
  }

 private:
  SourceRange range_;
  TreeList trees_;
};

/// Prints a tree as S-expression, `(+ (variable (ident x)) (const 1))`: what fits into `col` columns on one line.
struct pretty_tree {
  explicit pretty_tree(TreeRef tree, size_t col = 40) : tree(std::move(tree)), col(col) {}
  TreeRef tree;
  size_t col;
};
/// Ends with a newline.
TORCH_API std::ostream& operator<<(std::ostream& out, const pretty_tree& tree);
TORCH_API std::ostream& operator<<(std::ostream& out, const TreeRef& tree);

} // namespace torch::jit
