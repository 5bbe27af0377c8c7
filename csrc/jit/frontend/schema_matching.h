// Calls that are being compiled: which overload takes the arguments, and with which conversions.
#pragma once

#include <csrc/jit/ir/ir.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace torch::jit {

/// A call that fits: the inputs of the node, converted and completed by defaults, and the types of the results.
struct MatchedSchema {
  std::vector<Value*> inputs;
  std::vector<TypePtr> return_types;
  /// Names of the results, if all have one.
  std::optional<std::vector<std::string>> return_field_names;
  std::string schema_name;
};

/// The type as programs see it: sizes that may be symbols are ints.
TORCH_API TypePtr withoutSymInts(const TypePtr& type);

/// Throws if the arguments do not fit, and says why.
TORCH_API MatchedSchema matchSchema(
    const FunctionSchema& schema,
    const SourceRange& range,
    Graph& graph,
    at::ArrayRef<NamedValue> arguments,
    at::ArrayRef<NamedValue> keyword_arguments,
    const std::optional<NamedValue>& self = std::nullopt);
/// The first of several schemas that fits; those that fit without conversions come first. Throws and lists all if none
/// does.
TORCH_API std::pair<size_t, MatchedSchema> matchSchemas(
    const std::vector<const FunctionSchema*>& schemas,
    const SourceRange& range,
    Graph& graph,
    at::ArrayRef<NamedValue> arguments,
    at::ArrayRef<NamedValue> keyword_arguments,
    const std::optional<NamedValue>& self = std::nullopt);

/// Inserts a call of the operator with that name. Throws if no overload takes the arguments.
TORCH_API Value* emitBuiltinCall(
    const SourceRange& range,
    Graph& graph,
    Symbol name,
    at::ArrayRef<NamedValue> arguments,
    at::ArrayRef<NamedValue> keyword_arguments,
    const std::optional<NamedValue>& self = std::nullopt);

/// Whether a tuple or list of that type may be passed for a list of the other.
TORCH_API bool convertibleToList(const TypePtr& type, const TypePtr& list_type);
/// The value as the concrete type asks for it (tuples to lists, tensors to numbers where conversions are allowed), or
/// itself.
TORCH_API Value* tryConvertToType(
    const SourceRange& range, Graph& graph, const TypePtr& concrete_type, Value* value, bool allow_conversions);
TORCH_API std::optional<size_t> findInputWithName(
    const std::string& name, at::ArrayRef<NamedValue> keyword_arguments, bool is_aten = false);

} // namespace torch::jit
