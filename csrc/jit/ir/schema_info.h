// What a call of an operator writes to and shares, once some of its arguments
// are known.
#pragma once

#include <aten/core/function_schema.h>
#include <aten/core/ivalue.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace torch::utils {

/// A schema with values for some of its arguments. Values make answers sharper
/// (dropout that is off is deterministic) or wider (arguments that are one
/// tensor alias). Not for several threads at once.
class TORCH_API SchemaInfo {
 public:
  explicit SchemaInfo(c10::FunctionSchema schema);
  /// From the text of a schema. Throws if it cannot be read.
  explicit SchemaInfo(const char* signature);

  /// Whether the call writes to anything.
  bool is_mutable();
  /// Whether it writes to this argument or result, or to one that aliases it.
  /// Running statistics of normalizations are written to unless the value of
  /// the flag for training is false. Throws if there is no such argument.
  bool is_mutable(const c10::SchemaArgument& argument);
  bool is_mutable(std::string_view name);
  /// Whether it draws random numbers. Dropout does not if `train` is false.
  bool is_nondeterministic() const;

  /// As FunctionSchema::may_alias() and may_contain_alias(), and where the
  /// values that are known make it so.
  bool may_alias(const c10::SchemaArgument& lhs, const c10::SchemaArgument& rhs);
  bool may_contain_alias(const c10::SchemaArgument& lhs, const c10::SchemaArgument& rhs, bool bidirectional = true);

  bool has_argument(std::string_view name) const;
  bool hasInputArgumentNamed(const std::string& name) const {
    return has_argument(name);
  }
  /// Throws if there is no argument of that name.
  void addArgumentValue(const std::string& name, const at::IValue& value);
  /// By position; what is null is not known. Throws if there are more than
  /// arguments.
  void addArgumentValues(const std::vector<std::optional<at::IValue>>& value_list);
  void addArgumentValues(const std::unordered_map<std::string, at::IValue>& values);

 private:
  using ArgumentSet = std::unordered_set<c10::SchemaArgument>;
  void findWildcards(c10::SchemaArgType type);
  void updateAliases();
  void updateInputs();
  void updateOutputs();
  const at::IValue* valueOf(size_t input) const;
  bool isTraining() const;
  bool holdsWildcard(const c10::SchemaArgument& container, const c10::SchemaArgument& held) const;

  c10::FunctionSchema schema_;
  std::unordered_map<std::string, at::IValue> values_;
  // By the schema alone, and with what values add.
  ArgumentSet declared_wildcards_;
  ArgumentSet wildcards_;
  // Inputs that each input, and each output, aliases.
  std::vector<std::unordered_set<size_t>> input_aliases_;
  std::vector<std::unordered_set<size_t>> output_aliases_;
  bool is_current_ = false;
};

} // namespace torch::utils
