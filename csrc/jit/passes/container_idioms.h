// What the passes on lists and dicts that are read where they were made have in common.
#pragma once

#include <csrc/jit/ir/alias_analysis.h>

#include <memory>

namespace torch::jit {

/// The alias analysis of a graph, made when it is first asked for: most graphs never need it.
class LazyAliasDb {
 public:
  explicit LazyAliasDb(std::shared_ptr<Graph> graph) : graph_(std::move(graph)) {}
  LazyAliasDb(std::shared_ptr<Graph> graph, const AliasDb& known) : graph_(std::move(graph)), known_(&known) {}

  const AliasDb& get() {
    if (!known_) {
      made_ = std::make_unique<AliasDb>(graph_);
      known_ = made_.get();
    }
    return *known_;
  }

 private:
  std::shared_ptr<Graph> graph_;
  const AliasDb* known_ = nullptr;
  std::unique_ptr<AliasDb> made_;
};

} // namespace torch::jit
