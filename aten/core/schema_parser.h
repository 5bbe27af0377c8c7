#pragma once

#include <aten/core/function_schema.h>

#include <string>
#include <string_view>
#include <variant>

namespace torch::jit {

/// Reads `ns::name.overload` or a whole schema `ns::name.overload(args) -> returns`.
/// Throws c10::Error that shows the text with a mark under the place where reading failed. Unknown lower-case type
/// names are type variables, unless allow_typevars is false.
TORCH_API std::variant<c10::OperatorName, c10::FunctionSchema> parseSchemaOrName(
    std::string_view text, bool allow_typevars = true);
/// Reads a schema; throws if there is only a name.
TORCH_API c10::FunctionSchema parseSchema(std::string_view text, bool allow_typevars = true);
/// Reads a name; throws if there is more.
TORCH_API c10::OperatorName parseName(std::string_view text);
/// Reads one type: `Tensor?[]`, `Dict(str, int)`.
TORCH_API c10::TypePtr parseSchemaType(std::string_view text);

} // namespace torch::jit
