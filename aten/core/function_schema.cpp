#include <aten/core/function_schema.h>

#include <c10/util/StringUtil.h>

#include <algorithm>
#include <ostream>
#include <set>

namespace c10 {

std::string toString(const OperatorName& name) {
  return name.overload_name.empty() ? name.name : name.name + "." + name.overload_name;
}

std::ostream& operator<<(std::ostream& out, const OperatorName& name) {
  return out << toString(name);
}

// --- Argument
// ----------------------------------------------------------------------------------------------------------

template class Indirect<std::optional<int32_t>>;
template class Indirect<std::optional<IValue>>;

Argument::Argument(std::string name, const TypePtr& type) : Argument(std::move(name), type, type) {}

Argument::Argument(std::string name, const TypePtr& type, std::optional<int32_t> N)
    : Argument(std::move(name), type, type, N) {}

Argument::Argument(
    std::string name,
    const TypePtr& type,
    std::optional<int32_t> N,
    std::optional<IValue> default_value,
    bool kwarg_only)
    : Argument(std::move(name), type, type, N, std::move(default_value), kwarg_only, std::nullopt) {}

Argument::Argument(
    std::string name,
    const TypePtr& type,
    std::optional<int32_t> N,
    std::optional<IValue> default_value,
    bool kwarg_only,
    std::optional<AliasInfo> alias_info)
    : Argument(std::move(name), type, type, N, std::move(default_value), kwarg_only, std::move(alias_info)) {}

Argument::Argument(std::string name, TypePtr fake_type, TypePtr real_type)
    : Argument(std::move(name), std::move(fake_type), std::move(real_type), std::nullopt) {}

Argument::Argument(std::string name, TypePtr fake_type, TypePtr real_type, std::optional<int32_t> N)
    : Argument(std::move(name), std::move(fake_type), std::move(real_type), N, std::nullopt) {}

Argument::Argument(
    std::string name,
    TypePtr fake_type,
    TypePtr real_type,
    std::optional<int32_t> N,
    std::optional<IValue> default_value,
    bool kwarg_only)
    : Argument(
          std::move(name),
          std::move(fake_type),
          std::move(real_type),
          N,
          std::move(default_value),
          kwarg_only,
          std::nullopt) {}

Argument::Argument(
    std::string name,
    TypePtr fake_type,
    TypePtr real_type,
    std::optional<int32_t> N,
    std::optional<IValue> default_value,
    bool kwarg_only,
    std::optional<AliasInfo> alias_info)
    : name_(std::move(name)),
      type_(fake_type ? std::move(fake_type) : TensorType::get()),
      real_type_(real_type ? std::move(real_type) : type_),
      alias_info_(alias_info ? std::make_unique<AliasInfo>(std::move(*alias_info)) : nullptr),
      kwarg_only_(kwarg_only),
      is_out_(kwarg_only && alias_info_ && alias_info_->isWrite()) {
  if (N) {
    N_.set(N);
  }
  if (default_value) {
    *default_value_ = std::move(default_value);
  }
}

Argument::Argument(const Argument& rhs)
    : name_(rhs.name_),
      type_(rhs.type_),
      real_type_(rhs.real_type_),
      N_(rhs.N_),
      default_value_(rhs.default_value_),
      alias_info_(rhs.alias_info_ ? std::make_unique<AliasInfo>(*rhs.alias_info_) : nullptr),
      kwarg_only_(rhs.kwarg_only_),
      is_out_(rhs.is_out_) {}

Argument& Argument::operator=(const Argument& rhs) {
  return *this = Argument(rhs);
}

Argument::~Argument() = default;

bool Argument::is_inferred_type() const {
  return type_->kind() == TypeKind::TensorType;
}

std::string Argument::formatTypeMismatchMsg(const std::string& actual_type) const {
  return str(
      "Expected a value of type '", type_->repr_str(), "' for argument '", name_, "' but instead found type '",
      actual_type, "'.");
}

Argument Argument::cloneWithType(const TypePtr& new_type) const {
  return Argument(
      name_, new_type, N(), default_value(), kwarg_only_,
      alias_info_ ? std::optional<AliasInfo>(*alias_info_) : std::nullopt);
}

bool Argument::isBackwardCompatibleWith(const Argument& old, std::ostream* why_not) const {
  const auto fail = [&](const char* what) {
    if (why_not) {
      *why_not << "argument '" << name_ << "': " << what << '\n';
    }
    return false;
  };
  if (name_ != old.name_) {
    return fail("the name changed");
  }
  if (N() != old.N()) {
    return fail("the list size changed");
  }
  if (old.default_value() && !(default_value() && *default_value() == *old.default_value())) {
    return fail("the default changed");
  }
  if (old.kwarg_only_ != kwarg_only_ && kwarg_only_) {
    return fail("it became keyword-only");
  }
  const bool alias_changed =
      (alias_info_ == nullptr) != (old.alias_info_ == nullptr) || (alias_info_ && !(*alias_info_ == *old.alias_info_));
  if (alias_changed) {
    return fail("the alias annotation changed");
  }
  if (!old.type_->isSubtypeOf(*type_)) {
    return fail("the type does not accept the old one");
  }
  return true;
}

bool operator==(const Argument& a, const Argument& b) {
  const bool same_alias = (a.alias_info() == nullptr) == (b.alias_info() == nullptr) &&
      (!a.alias_info() || *a.alias_info() == *b.alias_info());
  return a.name() == b.name() && *a.type() == *b.type() && a.N() == b.N() && a.default_value() == b.default_value() &&
      a.kwarg_only() == b.kwarg_only() && same_alias;
}

// --- FunctionSchema
// ------------------------------------------------------------------------------------------------------

FunctionSchema::FunctionSchema(
    std::string name,
    std::string overload_name,
    std::vector<Argument> arguments,
    std::vector<Argument> returns,
    bool is_vararg,
    bool is_varret)
    : name_(std::move(name), std::move(overload_name)),
      arguments_(std::move(arguments)),
      returns_(std::move(returns)),
      is_vararg_(is_vararg),
      is_varret_(is_varret) {
  checkDefaults();
}

FunctionSchema::FunctionSchema(
    Symbol name,
    std::string overload_name,
    std::vector<Argument> arguments,
    std::vector<Argument> returns,
    bool is_vararg,
    bool is_varret)
    : FunctionSchema(
          std::string(name.toQualString()),
          std::move(overload_name),
          std::move(arguments),
          std::move(returns),
          is_vararg,
          is_varret) {}

void FunctionSchema::checkDefaults() const {
  bool seen_default = false;
  for (const Argument& argument : arguments_) {
    // Lists with a size are exempt: int[2] was once filled from fewer numbers.
    if (argument.default_value()) {
      seen_default = true;
    } else if (seen_default && !argument.kwarg_only()) {
      const TypeKind kind = argument.type()->kind();
      TORCH_CHECK(
          kind == TypeKind::ListType || kind == TypeKind::OptionalType,
          "Non-default positional argument follows default argument. Parameter ", argument.name(), " in ", *this);
    }
  }
}

bool FunctionSchema::is_mutable() const {
  return std::any_of(arguments_.begin(), arguments_.end(), [](const Argument& argument) {
    return argument.alias_info() && argument.alias_info()->isWrite();
  });
}

bool FunctionSchema::is_mutable(const SchemaArgument& argument) const {
  const auto& list = getCorrectList(argument.type);
  TORCH_CHECK(argument.index < list.size(), "Invalid index for schema.");
  return list[argument.index].alias_info() && list[argument.index].alias_info()->isWrite();
}

bool FunctionSchema::is_mutable(std::string_view name) const {
  const std::optional<int> index = argumentIndexWithName(name);
  TORCH_CHECK(index, "Schema has no argument named ", name);
  return is_mutable(SchemaArgument(SchemaArgType::input, static_cast<size_t>(*index)));
}

bool FunctionSchema::is_aliasing(const SchemaArgument& argument) const {
  const auto& list = getCorrectList(argument.type);
  TORCH_CHECK(argument.index < list.size(), "Invalid index for schema.");
  return list[argument.index].alias_info() != nullptr;
}

bool FunctionSchema::is_view() const {
  return !is_mutable() &&
      std::any_of(returns_.begin(), returns_.end(), [](const Argument& result) { return result.alias_info(); });
}

bool FunctionSchema::hasAnyAliasInfo() const {
  const auto has = [](const Argument& argument) { return argument.alias_info() != nullptr; };
  return std::any_of(arguments_.begin(), arguments_.end(), has) || std::any_of(returns_.begin(), returns_.end(), has);
}

std::optional<int> FunctionSchema::argumentIndexWithName(std::string_view name) const {
  for (size_t i = 0; i < arguments_.size(); ++i) {
    if (arguments_[i].name() == name) {
      return static_cast<int>(i);
    }
  }
  return std::nullopt;
}

std::optional<std::string_view> FunctionSchema::getNamespace() const {
  return name_.getNamespace();
}

FunctionSchema FunctionSchema::cloneWithName(std::string name, std::string overload_name) const {
  FunctionSchema out = *this;
  out.name_ = OperatorName(std::move(name), std::move(overload_name));
  return out;
}
FunctionSchema FunctionSchema::cloneWithArguments(std::vector<Argument> arguments) const {
  FunctionSchema out = *this;
  out.arguments_ = std::move(arguments);
  out.checkDefaults();
  return out;
}
FunctionSchema FunctionSchema::cloneWithReturns(std::vector<Argument> returns) const {
  FunctionSchema out = *this;
  out.returns_ = std::move(returns);
  return out;
}

namespace {

TypePtr without_symint(const TypePtr& type) {
  if (type->kind() == TypeKind::SymIntType) {
    return IntType::get();
  }
  if (type->containedTypes().empty()) {
    return type;
  }
  std::vector<TypePtr> contained;
  for (const TypePtr& inner : type->containedTypes()) {
    contained.push_back(without_symint(inner));
  }
  return type->withContained(std::move(contained));
}

template <class TypeOf>
std::vector<Argument> with_types(const std::vector<Argument>& list, const TypeOf& type_of) {
  std::vector<Argument> out;
  out.reserve(list.size());
  for (const Argument& argument : list) {
    out.push_back(argument.cloneWithType(type_of(argument)));
  }
  return out;
}

} // namespace

FunctionSchema FunctionSchema::cloneWithRealTypes(bool with_symint) const {
  const auto real = [&](const std::vector<Argument>& list) {
    return with_types(list, [&](const Argument& argument) {
      return with_symint ? argument.real_type() : without_symint(argument.real_type());
    });
  };
  return cloneWithArguments(real(arguments_)).cloneWithReturns(real(returns_));
}
FunctionSchema FunctionSchema::cloneWithRemappedTypes(const std::function<TypePtr(TypePtr)>& type_map) const {
  const auto mapped = [&](const std::vector<Argument>& list) {
    return with_types(list, [&](const Argument& argument) { return type_map(argument.type()); });
  };
  return cloneWithArguments(mapped(arguments_)).cloneWithReturns(mapped(returns_));
}

bool FunctionSchema::isBackwardCompatibleWith(const FunctionSchema& old, std::ostream* why_not) const {
  const auto fail = [&](const auto&... what) {
    if (why_not) {
      (*why_not << ... << what) << '\n';
    }
    return false;
  };
  if (name_ != old.name_ || is_vararg_ != old.is_vararg_ || is_varret_ != old.is_varret_ ||
      returns_.size() != old.returns_.size()) {
    return fail("name, variadic form or number of results changed");
  }
  for (size_t i = 0; i < returns_.size(); ++i) {
    if (!returns_[i].type()->isSubtypeOf(*old.returns_[i].type())) {
      return fail("the type of result ", i, " changed");
    }
  }
  size_t positional = 0;
  for (const Argument& before : old.arguments_) {
    if (before.kwarg_only()) {
      const std::optional<int> now = argumentIndexWithName(before.name());
      if (!now) {
        return fail("argument '", before.name(), "' is gone");
      }
      if (!arguments_[static_cast<size_t>(*now)].isBackwardCompatibleWith(before, why_not)) {
        return false;
      }
    } else {
      if (positional >= arguments_.size()) {
        return fail("argument '", before.name(), "' is gone");
      }
      if (!arguments_[positional++].isBackwardCompatibleWith(before, why_not)) {
        return false;
      }
    }
  }
  for (const Argument& now : arguments_) {
    const bool existed = old.argumentIndexWithName(now.name()).has_value();
    if (!existed && !now.default_value() && !now.is_out()) {
      return fail("new argument '", now.name(), "' has no default");
    }
  }
  return true;
}

// --- checks of arguments
// -------------------------------------------------------------------------------------------------

namespace {

// A value fits by its own type, or as an empty or untyped container whose elements all fit.
bool fits(const IValue& value, const Type& type) {
  if (const OptionalType* optional = type.castRaw<OptionalType>()) {
    return value.isNone() || fits(value, *optional->getElementType());
  }
  switch (type.kind()) {
    case TypeKind::AnyType:
    case TypeKind::VarType:
      return true;
    case TypeKind::TensorType:
      return value.isTensor();
    case TypeKind::SymIntType:
    case TypeKind::IntType:
    case TypeKind::ScalarTypeType:
    case TypeKind::LayoutType:
    case TypeKind::MemoryFormatType:
    case TypeKind::QSchemeType:
      return value.isInt() || value.isSymInt();
    case TypeKind::SymFloatType:
    case TypeKind::FloatType:
      return value.isDouble() || value.isSymFloat();
    case TypeKind::SymBoolType:
    case TypeKind::BoolType:
      return value.isBool() || value.isSymBool();
    case TypeKind::NumberType:
      return value.isScalar();
    case TypeKind::GeneratorType:
      return value.isGenerator() || value.isNone();
    case TypeKind::ListType: {
      if (!value.isList()) {
        return false;
      }
      const Type& element = *type.castRaw<ListType>()->getElementType();
      for (const IValue& inner : value.toListRef()) {
        if (!fits(inner, element)) {
          return false;
        }
      }
      return true;
    }
    case TypeKind::TupleType: {
      if (!value.isTuple()) {
        return false;
      }
      const auto& elements = value.toTupleRef().elements();
      const auto types = type.containedTypes();
      if (elements.size() != types.size()) {
        return false;
      }
      for (size_t i = 0; i < types.size(); ++i) {
        if (!fits(elements[i], *types[i])) {
          return false;
        }
      }
      return true;
    }
    case TypeKind::DictType: {
      if (!value.isGenericDict()) {
        return false;
      }
      const DictType& dict = type.expectRef<DictType>();
      for (const auto& entry : value.toGenericDict()) {
        if (!fits(entry.key(), *dict.getKeyType()) || !fits(entry.value(), *dict.getValueType())) {
          return false;
        }
      }
      return true;
    }
    case TypeKind::AnyListType:
      return value.isList();
    case TypeKind::AnyTupleType:
      return value.isTuple();
    case TypeKind::FutureType: {
      if (!value.isFuture()) {
        return false;
      }
      const Type& element = *type.castRaw<FutureType>()->getElementType();
      return element.hasFreeVariables() || value.toFuture()->elementType()->isSubtypeOf(element);
    }
    case TypeKind::AwaitType: {
      if (!value.isAwait()) {
        return false;
      }
      const Type& element = *type.castRaw<AwaitType>()->getElementType();
      return element.hasFreeVariables() || value.toAwait()->elementType()->isSubtypeOf(element);
    }
    case TypeKind::RRefType:
      return false;
    default:
      return value.type()->isSubtypeOf(type);
  }
}

} // namespace

void FunctionSchema::checkArg(const IValue& value, const Argument& argument, std::optional<size_t> pos) const {
  if (fits(value, *argument.type())) {
    return;
  }
  const std::string position = pos ? str("\nPosition: ", *pos) : std::string();
  TORCH_CHECK_TYPE(
      false, toString(name_), "() ", argument.formatTypeMismatchMsg(value.type()->repr_str()), position,
      "\nDeclaration: ", *this);
}

void FunctionSchema::checkAndNormalizeInputs(std::vector<IValue>& inputs) const {
  checkAndNormalizeInputs(inputs, {});
}

void FunctionSchema::checkAndNormalizeInputs(
    std::vector<IValue>& inputs, const std::unordered_map<std::string, IValue>& kwargs) const {
  TORCH_CHECK_TYPE(
      inputs.size() <= arguments_.size() || is_vararg_, "Expected at most ", arguments_.size(),
      " argument(s) for operator '", toString(name_), "', but received ", inputs.size(),
      " argument(s). Declaration: ", *this);
  size_t used_kwargs = 0;
  for (size_t pos = 0; pos < arguments_.size(); ++pos) {
    const Argument& argument = arguments_[pos];
    const auto named = kwargs.find(argument.name());
    if (pos < inputs.size()) {
      TORCH_CHECK_TYPE(
          named == kwargs.end(), "Argument '", argument.name(),
          "' specified both as positional and keyword argument. Schema: ", *this);
      checkArg(inputs[pos], argument, pos);
    } else if (named != kwargs.end()) {
      checkArg(named->second, argument, std::nullopt);
      inputs.push_back(named->second);
      ++used_kwargs;
    } else {
      TORCH_CHECK_TYPE(
          argument.default_value(), toString(name_), "() is missing value for argument '", argument.name(),
          "'. Declaration: ", *this);
      inputs.push_back(*argument.default_value());
    }
  }
  if (used_kwargs != kwargs.size()) {
    std::vector<std::string> names;
    for (const auto& entry : kwargs) {
      names.push_back(entry.first);
    }
    TORCH_CHECK_TYPE(false, findErrorInKwargs(names));
  }
}

std::string FunctionSchema::findErrorInKwargs(const std::vector<std::string>& kwargs) const {
  std::set<std::string> seen;
  for (const std::string& name : kwargs) {
    if (!argumentIndexWithName(name)) {
      return str("Unknown keyword argument '", name, "' for operator '", toString(name_), "'. Schema: ", *this);
    }
    if (!seen.insert(name).second) {
      return str("Argument '", name, "' specified twice for operator '", toString(name_), "'. Schema: ", *this);
    }
  }
  return "";
}

bool operator==(const FunctionSchema& a, const FunctionSchema& b) {
  return a.operator_name() == b.operator_name() && a.arguments() == b.arguments() && a.returns() == b.returns() &&
      a.is_vararg() == b.is_vararg() && a.is_varret() == b.is_varret();
}

} // namespace c10
