// In which order overloads of a name are tried, and listed in messages.
#pragma once

#include <csrc/jit/runtime/operator.h>

#include <vector>

namespace torch::jit {

/// Puts the overloads of one name into libtorch's order: a call takes the first that it fits. `from_dispatcher` are in
/// front, the dispatcher has no order of its own.
void sort_overloads(std::vector<OperatorPtr>& overloads, size_t from_dispatcher);

} // namespace torch::jit
