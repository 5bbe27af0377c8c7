// Operators that have been called.
#pragma once

#include <unordered_set>

namespace c10::impl {

class OperatorEntry;

/// Operators with masks or kernels in their tables, see Note [Lazy dispatch tables]: what a fallback that comes or goes
/// has to empty. A program calls a few of the thousands that there are. The caller holds the registration lock.
std::unordered_set<OperatorEntry*>& resolved_operators();

} // namespace c10::impl
