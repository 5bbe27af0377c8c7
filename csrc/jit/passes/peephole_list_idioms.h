// Lists that are read where they were made.
#pragma once

#include <csrc/jit/ir/ir.h>

#include <memory>

namespace torch::jit {

class AliasDb;

/// `len`, elements, slices, sums and unpacking of lists that nothing writes to. `refine_list_len` also uses lengths
/// that conditions tell: it is accepted and changes nothing. True if something changed.
TORCH_API bool PeepholeOptimizeListIdioms(const std::shared_ptr<Graph>& graph, bool refine_list_len = false);
TORCH_API bool PeepholeOptimizeListIdioms(
    const std::shared_ptr<Graph>& graph, bool refine_list_len, const AliasDb& alias_db);

} // namespace torch::jit
