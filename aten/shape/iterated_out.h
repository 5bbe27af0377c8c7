// Outputs that are written in one pass over all operands: what such a pass refuses, before it looks at sizes.
#pragma once

#include <aten/core/Tensor.h>
#include <c10/util/SmallVector.h>

#include <optional>
#include <type_traits>

namespace at::shape {

/// The tensors among an operator's arguments, in their order.
using Operands = c10::SmallVector<const TensorBase*, 6>;

/// Throws when elements of the last operand, the output, share memory with each other, or with those of another operand
/// without being the same.
void check_iterated(const Operands& operands);

/// Throws unless the output has the dtype of the first operand.
void check_found_dtype(const Operands& operands);

template <class... Arguments>
Operands operands_of(const Arguments&... arguments) {
  Operands operands;
  const auto add = [&]<class T>(const T& argument) {
    if constexpr (std::is_base_of_v<TensorBase, T>) {
      operands.push_back(&argument);
    } else if constexpr (std::is_same_v<T, std::optional<Tensor>>) {
      if (argument.has_value()) {
        operands.push_back(&*argument);
      }
    }
  };
  (add(arguments), ...);
  return operands;
}

/// For operators with one output, whichever arguments stand before it.
template <class... ArgumentsAndOut>
void iterated_out(const char*, const ArgumentsAndOut&... arguments_and_out) {
  check_iterated(operands_of(arguments_and_out...));
}

/// The same, where the output takes no other dtype.
template <class... ArgumentsAndOut>
void iterated_out_of_input_dtype(const char*, const ArgumentsAndOut&... arguments_and_out) {
  const Operands operands = operands_of(arguments_and_out...);
  check_iterated(operands);
  check_found_dtype(operands);
}

} // namespace at::shape
