// What recorded code may do with an operator.
#pragma once

#include <aten/core/dispatch/Dispatcher.h>
#include <aten/core/stack.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace torch::capture {

/// What keeps an operator out of graphs.
enum class Obstacle : uint8_t {
  None,
  SizesFromValues, ///< sizes of its results depend on values
  Masks, ///< the same where an index is a mask
  NewMemory, ///< a tensor gets other memory
  ReadsValues ///< it gives numbers
};

struct OperatorKind {
  /// It gives numbers that follow from dtypes and shapes alone, or tells or changes what a tensor is for autograd.
  bool is_metadata;
  Obstacle obstacle;
};

/// Found once for each operator.
OperatorKind kind_of(const c10::FunctionSchema& schema);

/// Why no graph can have the operator with these arguments. `first` is the first of them on the stack.
std::optional<std::string> why_not_recorded(
    const c10::OperatorHandle& op, Obstacle obstacle, const torch::jit::Stack& stack, size_t first);

} // namespace torch::capture
