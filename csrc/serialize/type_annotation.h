// Types as TorchScript writes them: "Dict[str, List[int]]".
#pragma once

#include <aten/core/ivalue.h>
#include <aten/core/jit_type.h>

#include <string_view>

namespace torch::serialize {

/// The type; nullptr for names that are not known (classes, enumerations), and for text that is no type.
c10::TypePtr parse_type_annotation(std::string_view text);

/// Whether the value fits the type as far as its outermost level tells.
bool may_be(const c10::IValue& value, const c10::Type& type);

} // namespace torch::serialize
