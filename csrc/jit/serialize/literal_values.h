// Values that expressions of an archive's source write out.
#pragma once

#include <csrc/jit/frontend/syntax.h>
#include <csrc/jit/types.h>

#include <optional>

namespace torch::jit {

/// The value of numbers, strings, True, False, None, inf, nan, and of tuples and lists of these, as one of the type;
/// without a type, as it is written. nullopt for other expressions, and if it is no value of the type.
std::optional<IValue> literalValue(const Syntax& expression, const TypePtr& type);

} // namespace torch::jit
