// Which arguments and results of a schema may share memory.
#include <aten/core/function_schema.h>

#include <algorithm>

namespace c10 {

namespace {

const Argument& argument_of(const FunctionSchema& schema, const SchemaArgument& argument) {
  const std::vector<Argument>& list = schema.getCorrectList(argument.type);
  TORCH_CHECK(
      argument.index < list.size(), "Invalid index for schema. ", schema.name(), " has ", list.size(),
      argument.type == SchemaArgType::input ? " arguments" : " results", ", but number ", argument.index,
      " was asked for");
  return list[argument.index];
}

bool is_wildcard(const Argument& argument) {
  return argument.alias_info() && argument.alias_info()->isWildcardAfter();
}

void append(AliasTypeSet& types, const std::optional<AliasTypeSet>& more) {
  if (more) {
    types.insert(types.end(), more->begin(), more->end());
  }
}

std::optional<AliasTypeSet> unless_empty(AliasTypeSet types) {
  return types.empty() ? std::nullopt : std::optional<AliasTypeSet>(std::move(types));
}

} // namespace

std::optional<AliasTypeSet> FunctionSchema::mapTypeToAliasTypeSet(const TypePtr& type) const {
  AliasTypeSet types;
  switch (type->kind()) {
    case TypeKind::TensorType:
      return AliasTypeSet{TensorType::get()};
    case TypeKind::ListType:
    case TypeKind::DictType:
    case TypeKind::ClassType:
    case TypeKind::AnyType:
      return AliasTypeSet{type};
    case TypeKind::OptionalType:
    case TypeKind::UnionType:
      for (const TypePtr& member : type->containedTypes()) {
        append(types, mapTypeToAliasTypeSet(member));
      }
      return unless_empty(std::move(types));
    case TypeKind::FutureType: {
      const std::optional<AliasTypeSet> inner = mapTypeToAliasTypeSet(type->containedTypes()[0]);
      for (const TypePtr& each : inner.value_or(AliasTypeSet())) {
        types.push_back(FutureType::create(each));
      }
      return unless_empty(std::move(types));
    }
    case TypeKind::TupleType:
      for (const TypePtr& member : type->containedTypes()) {
        append(types, mapTypeToAliasTypeSet(member));
      }
      return types.empty() ? std::nullopt : std::optional<AliasTypeSet>({TupleType::create(std::move(types))});
    default:
      return std::nullopt;
  }
}

std::optional<AliasTypeSet> FunctionSchema::getAliasTypeSetContainedTypes(
    const std::optional<AliasTypeSet>& types) const {
  AliasTypeSet held;
  AliasTypeSet open = types.value_or(AliasTypeSet());
  while (!open.empty()) {
    const TypePtr type = open.back();
    open.pop_back();
    for (const TypePtr& inner : type->containedTypes()) {
      const AliasTypeSet mapped = mapTypeToAliasTypeSet(inner).value_or(AliasTypeSet());
      for (const TypePtr& each : mapped) {
        // A class may hold itself.
        if (std::none_of(held.begin(), held.end(), [&](const TypePtr& known) { return *known == *each; })) {
          held.push_back(each);
          open.push_back(each);
        }
      }
    }
  }
  return unless_empty(std::move(held));
}

bool FunctionSchema::canAliasTypeSetsAlias(
    const std::optional<AliasTypeSet>& lhs, const std::optional<AliasTypeSet>& rhs) const {
  if (!lhs || !rhs) {
    return false;
  }
  return std::any_of(lhs->begin(), lhs->end(), [&](const TypePtr& left) {
    return std::any_of(rhs->begin(), rhs->end(), [&](const TypePtr& right) {
      return left->kind() == TypeKind::AnyType || right->kind() == TypeKind::AnyType || *left == *right;
    });
  });
}

bool FunctionSchema::may_alias(const SchemaArgument& lhs, const SchemaArgument& rhs) const {
  const Argument& left = argument_of(*this, lhs);
  const Argument& right = argument_of(*this, rhs);
  if (!left.alias_info() || !right.alias_info() ||
      !canAliasTypeSetsAlias(mapTypeToAliasTypeSet(left.type()), mapTypeToAliasTypeSet(right.type()))) {
    return false;
  }
  if (is_wildcard(left) && is_wildcard(right)) {
    return true;
  }
  const std::vector<Symbol>& sets = right.alias_info()->afterSets();
  return std::any_of(left.alias_info()->afterSets().begin(), left.alias_info()->afterSets().end(), [&](Symbol set) {
    return std::find(sets.begin(), sets.end(), set) != sets.end();
  });
}

bool FunctionSchema::may_contain_alias(const SchemaArgument& lhs, const SchemaArgument& rhs, bool bidirectional) const {
  if (may_alias(lhs, rhs)) {
    return true;
  }
  const Argument& left = argument_of(*this, lhs);
  const Argument& right = argument_of(*this, rhs);
  const std::optional<AliasTypeSet> left_types = mapTypeToAliasTypeSet(left.type());
  const std::optional<AliasTypeSet> right_types = mapTypeToAliasTypeSet(right.type());
  const std::optional<AliasTypeSet> left_held = getAliasTypeSetContainedTypes(left_types);
  const std::optional<AliasTypeSet> right_held = getAliasTypeSetContainedTypes(right_types);
  return canAliasTypeSetsAlias(left_held, right_held) ||
      (is_wildcard(right) && canAliasTypeSetsAlias(left_held, right_types)) ||
      (bidirectional && is_wildcard(left) && canAliasTypeSetsAlias(right_held, left_types));
}

} // namespace c10
