// Values as the types of a schema want them.
#pragma once

#include <csrc/fx/arg.h>

#include <aten/core/function_schema.h>

#include <vector>

namespace torch::fx {

/// What becomes of a value on its way into an argument.
enum class Conversion : uint8_t { None, Tensor, Float, Complex, List };

/// For an argument of this type; `element` gets that of a list's elements.
Conversion conversion_to(const c10::Type& type, Conversion* element = nullptr);
/// A number becomes a tensor, a double or a complex number where that is asked for; all else stays.
c10::IValue convert(c10::IValue value, Conversion conversion);
/// A list of the type (a list type or an optional one) from its elements.
c10::IValue make_list(std::vector<c10::IValue> items, const c10::TypePtr& type);
/// The argument as the schema wants it: constants get its type, lists of constants become one constant. Numbers for
/// tensors stay numbers. Throws, naming the argument, where that cannot be.
Arg coerce(Arg arg, const c10::Argument& formal, const c10::FunctionSchema& schema);

} // namespace torch::fx
