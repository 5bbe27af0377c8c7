// Graphs in the one form that all graphs like them have.
#pragma once

#include <csrc/jit/ir/ir.h>

#include <memory>
#include <optional>

namespace torch::jit {

/// A copy whose values are numbered in the order of the text, and without names unless `keep_unique_names`.
TORCH_API std::shared_ptr<Graph> Canonicalize(const std::shared_ptr<Graph>& graph, bool keep_unique_names = true);

/// Orders the outputs of conditionals and loops by their first uses.
TORCH_API void CanonicalizeOutputs(std::shared_ptr<Graph>& graph);

/// The use that comes first, or last, in the order of evaluation; nullopt if there is none.
TORCH_API std::optional<const Use> firstOrLastUse(Value* value, bool find_first);
/// Whether a use comes before another, or, without `checking_before`, after it.
TORCH_API bool isBeforeOrAfter(const Use& a, const Use& b, bool checking_before);

} // namespace torch::jit
