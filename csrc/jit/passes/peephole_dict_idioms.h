// Dicts that are read where they were made.
#pragma once

#include <csrc/jit/ir/ir.h>

#include <memory>

namespace torch::jit {

class AliasDb;

/// `len` and entries of dicts with constant keys that nothing writes to. True if something changed.
TORCH_API bool PeepholeOptimizeDictIdioms(const std::shared_ptr<Graph>& graph);
TORCH_API bool PeepholeOptimizeDictIdioms(const std::shared_ptr<Graph>& graph, const AliasDb& alias_db);

} // namespace torch::jit
