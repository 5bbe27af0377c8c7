#pragma once

#include <aten/core/alias_info.h>
#include <aten/core/dispatch/OperatorOptions.h>
#include <aten/core/interned_strings.h>
#include <aten/core/ivalue.h>
#include <aten/core/jit_type.h>
#include <aten/core/operator_name.h>
#include <c10/util/Exception.h>
#include <c10/util/Indirect.h>
#include <c10/util/OwnedPtr.h>

#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace c10 {

struct FunctionSchema;
using AliasTypeSet = std::vector<TypePtr>;

extern template class TORCH_API Indirect<std::optional<int32_t>>;
extern template class TORCH_API Indirect<std::optional<IValue>>;

/// One parameter or result of an operator.
struct TORCH_API Argument {
  // No std::nullopt as default: every program would compile the optional.
  Argument(std::string name = "", const TypePtr& type = nullptr);
  Argument(std::string name, const TypePtr& type, std::optional<int32_t> N);
  Argument(
      std::string name,
      const TypePtr& type,
      std::optional<int32_t> N,
      std::optional<IValue> default_value,
      bool kwarg_only = false);
  Argument(
      std::string name,
      const TypePtr& type,
      std::optional<int32_t> N,
      std::optional<IValue> default_value,
      bool kwarg_only,
      std::optional<AliasInfo> alias_info);
  /// `fake_type` is how values travel (int for a ScalarType), `real_type` what the schema says.
  Argument(std::string name, TypePtr fake_type, TypePtr real_type);
  Argument(std::string name, TypePtr fake_type, TypePtr real_type, std::optional<int32_t> N);
  Argument(
      std::string name,
      TypePtr fake_type,
      TypePtr real_type,
      std::optional<int32_t> N,
      std::optional<IValue> default_value,
      bool kwarg_only = false);
  Argument(
      std::string name,
      TypePtr fake_type,
      TypePtr real_type,
      std::optional<int32_t> N,
      std::optional<IValue> default_value,
      bool kwarg_only,
      std::optional<AliasInfo> alias_info);
  Argument(Argument&& rhs) noexcept = default;
  Argument& operator=(Argument&& rhs) noexcept = default;
  Argument(const Argument& rhs);
  Argument& operator=(const Argument& rhs);
  ~Argument();

  const std::string& name() const {
    return name_;
  }
  const TypePtr& type() const {
    return type_;
  }
  const TypePtr& real_type() const {
    return real_type_;
  }
  /// The 2 of `int[2]`: a single number is broadcast to a list of this length.
  const std::optional<int32_t>& N() const {
    return N_.get();
  }
  const std::optional<IValue>& default_value() const {
    return default_value_.get();
  }
  bool kwarg_only() const {
    return kwarg_only_;
  }
  /// Keyword-only and written to: an out= argument.
  bool is_out() const {
    return is_out_;
  }
  const AliasInfo* alias_info() const {
    return alias_info_.get();
  }
  bool is_inferred_type() const;
  std::string formatTypeMismatchMsg(const std::string& actual_type) const;
  Argument cloneWithType(const TypePtr& new_type) const;

  /// A caller that was written against `old` may still call: same type (or wider), and a default is not lost.
  bool isBackwardCompatibleWith(const Argument& old, std::ostream* why_not = nullptr) const;

 private:
  std::string name_;
  TypePtr type_;
  TypePtr real_type_;
  Indirect<std::optional<int32_t>> N_;
  Indirect<std::optional<IValue>> default_value_;
  OwnedPtr<AliasInfo> alias_info_;
  bool kwarg_only_;
  bool is_out_;
};

/// Equal names, types, sizes, defaults and alias info.
TORCH_API bool operator==(const Argument& lhs, const Argument& rhs);
inline bool operator!=(const Argument& lhs, const Argument& rhs) {
  return !(lhs == rhs);
}

enum struct SchemaArgType { input, output };

/// Names an argument or a result of a schema by position.
struct TORCH_API SchemaArgument {
  SchemaArgType type;
  size_t index;
  SchemaArgument(SchemaArgType type, size_t index) : type(type), index(index) {}
  bool operator==(const SchemaArgument& rhs) const {
    return type == rhs.type && index == rhs.index;
  }
};

/// An operator's signature: `ns::name.overload(args) -> returns`.
struct TORCH_API FunctionSchema {
  /// Throws if a positional parameter without default follows one with a default.
  FunctionSchema(
      std::string name,
      std::string overload_name,
      std::vector<Argument> arguments,
      std::vector<Argument> returns,
      bool is_vararg = false,
      bool is_varret = false);
  FunctionSchema(
      Symbol name,
      std::string overload_name,
      std::vector<Argument> arguments,
      std::vector<Argument> returns,
      bool is_vararg = false,
      bool is_varret = false);

  const OperatorName& operator_name() const {
    return name_;
  }
  const std::string& name() const {
    return name_.name;
  }
  const std::string& overload_name() const {
    return name_.overload_name;
  }
  const std::vector<Argument>& arguments() const {
    return arguments_;
  }
  const std::vector<Argument>& returns() const {
    return returns_;
  }
  bool is_vararg() const {
    return is_vararg_;
  }
  bool is_varret() const {
    return is_varret_;
  }
  /// Whether some argument is written to.
  bool is_mutable() const;
  bool is_mutable(const SchemaArgument& argument) const;
  bool is_mutable(std::string_view name) const;
  bool is_aliasing(const SchemaArgument& argument) const;
  /// Whether both may be the same memory: their types allow it, and the schema names a common set, or the wildcard for
  /// both. What containers hold does not count.
  bool may_alias(const SchemaArgument& lhs, const SchemaArgument& rhs) const;
  /// As may_alias(), or one of them holds the other, or both hold the same: nothing tells what containers of one kind
  /// hold. With `bidirectional` = false, `rhs` is not asked whether it holds `lhs`.
  bool may_contain_alias(const SchemaArgument& lhs, const SchemaArgument& rhs, bool bidirectional = true) const;
  /// The types that a value of this type may have in memory, without Optional and the like; null if it has none that
  /// could be shared.
  std::optional<AliasTypeSet> mapTypeToAliasTypeSet(const TypePtr& type) const;
  /// The same of what values of these types hold.
  std::optional<AliasTypeSet> getAliasTypeSetContainedTypes(const std::optional<AliasTypeSet>& types) const;
  /// Whether some type is in both.
  bool canAliasTypeSetsAlias(const std::optional<AliasTypeSet>& lhs, const std::optional<AliasTypeSet>& rhs) const;
  /// Whether a result shares memory with an argument and nothing is written: a view operator.
  bool is_view() const;
  bool hasAnyAliasInfo() const;
  /// What optimisers may assume; CONSERVATIVE unless it was set.
  AliasAnalysisKind aliasAnalysis() const {
    return alias_analysis_;
  }
  void setAliasAnalysis(AliasAnalysisKind kind) {
    alias_analysis_ = kind;
    has_alias_analysis_ = true;
  }
  bool isDefaultAliasAnalysisKind() const {
    return !has_alias_analysis_;
  }

  const std::vector<Argument>& getCorrectList(SchemaArgType type) const {
    return type == SchemaArgType::input ? arguments_ : returns_;
  }
  std::optional<int> argumentIndexWithName(std::string_view name) const;

  FunctionSchema cloneWithName(std::string name, std::string overload_name) const;
  FunctionSchema cloneWithArguments(std::vector<Argument> arguments) const;
  FunctionSchema cloneWithReturns(std::vector<Argument> returns) const;
  /// type() of every argument becomes its real type; with_symint = false also turns SymInt into int.
  FunctionSchema cloneWithRealTypes(bool with_symint = true) const;
  /// type() of every argument and result becomes what the function gives for it.
  FunctionSchema cloneWithRemappedTypes(const std::function<TypePtr(TypePtr)>& type_map) const;

  /// Whether every caller written against `old` may call this one.
  bool isBackwardCompatibleWith(const FunctionSchema& old, std::ostream* why_not = nullptr) const;

  /// Throws c10::TypeError (with operator, argument, expected and given type) if the value does not fit.
  void checkArg(const IValue& value, const Argument& argument, std::optional<size_t> pos) const;
  /// Completes positional inputs by keyword arguments and defaults, and checks all.
  void checkAndNormalizeInputs(std::vector<IValue>& inputs) const;
  void checkAndNormalizeInputs(
      std::vector<IValue>& inputs, const std::unordered_map<std::string, IValue>& kwargs) const;
  std::string findErrorInKwargs(const std::vector<std::string>& kwargs) const;

  void setNamespaceIfNotSet(const char* ns) {
    name_.setNamespaceIfNotSet(ns);
  }
  std::optional<std::string_view> getNamespace() const;

 private:
  void checkDefaults() const;

  OperatorName name_;
  std::vector<Argument> arguments_;
  std::vector<Argument> returns_;
  bool is_vararg_;
  bool is_varret_;
  AliasAnalysisKind alias_analysis_ = AliasAnalysisKind::CONSERVATIVE;
  bool has_alias_analysis_ = false;
};

TORCH_API bool operator==(const FunctionSchema& lhs, const FunctionSchema& rhs);
inline bool operator!=(const FunctionSchema& lhs, const FunctionSchema& rhs) {
  return !(lhs == rhs);
}
/// As the schema language writes it; parseSchema reads it back.
TORCH_API std::ostream& operator<<(std::ostream& out, const FunctionSchema& schema);
TORCH_API std::ostream& operator<<(std::ostream& out, const Argument& arg);
TORCH_API std::string toString(const FunctionSchema& schema);

} // namespace c10

template <>
struct std::hash<c10::SchemaArgument> {
  size_t operator()(const c10::SchemaArgument& argument) const {
    return 2 * argument.index + (argument.type == c10::SchemaArgType::output ? 1 : 0);
  }
};
