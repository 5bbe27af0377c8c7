#include <aten/core/type_matching.h>

#include <ostream>

namespace c10 {

namespace {

MatchTypeReturn mismatch(const Type& wanted, const Type& actual) {
  return MatchTypeReturn("Cannot match " + wanted.repr_str() + " to " + actual.repr_str());
}

MatchTypeReturn match_variable(const VarType& formal, const TypePtr& actual, TypeEnv& type_env) {
  const auto [bound, is_new] = type_env.emplace(formal.name(), actual);
  if (is_new) {
    return MatchTypeReturn::Success();
  }
  // What was bound first stays: whoever matches arguments checks that the others are of that type.
  if (unifyTypes(bound->second, actual)) {
    return MatchTypeReturn::Success();
  }
  return MatchTypeReturn(
      "Type variable '" + formal.name() + "' previously matched to type " + bound->second->repr_str() +
      " is matched to type " + actual->repr_str());
}

template <class Wrapper>
MatchTypeReturn match_element(const TypePtr& formal, const TypePtr& actual, TypeEnv& type_env) {
  if (const Wrapper* wrapper = actual->castRaw<Wrapper>()) {
    const MatchTypeReturn inner = matchTypeVariables(formal->containedType(0), wrapper->getElementType(), type_env);
    return inner.success() ? inner : mismatch(*formal, *actual);
  }
  return mismatch(*formal, *actual);
}

MatchTypeReturn match_list(const TypePtr& formal, const TypePtr& actual, TypeEnv& type_env) {
  const TypePtr& element = formal->containedType(0);
  if (const TupleType* tuple = actual->castRaw<TupleType>()) {
    // A tuple of one type is taken for a list.
    std::optional<TypePtr> common;
    for (const TypePtr& each : tuple->elements()) {
      common = common ? unifyTypes(*common, each) : std::optional<TypePtr>(each);
      if (!common) {
        return mismatch(*formal, *actual);
      }
    }
    return common ? matchTypeVariables(element, *common, type_env) : mismatch(*formal, *actual);
  }
  return match_element<ListType>(formal, actual, type_env);
}

} // namespace

MatchTypeReturn matchTypeVariables(const TypePtr& formal, const TypePtr& actual, TypeEnv& type_env) {
  if (!formal->hasFreeVariables()) {
    return MatchTypeReturn::Success();
  }
  switch (formal->kind()) {
    case TypeKind::VarType:
      return match_variable(formal->expectRef<VarType>(), actual, type_env);
    case TypeKind::ListType:
      return match_list(formal, actual, type_env);
    case TypeKind::FutureType:
      return match_element<FutureType>(formal, actual, type_env);
    case TypeKind::AwaitType:
      return match_element<AwaitType>(formal, actual, type_env);
    case TypeKind::RRefType:
      return match_element<RRefType>(formal, actual, type_env);
    case TypeKind::TupleType: {
      const TupleType* tuple = actual->castRaw<TupleType>();
      if (!tuple || tuple->elements().size() != formal->containedTypes().size()) {
        return mismatch(*formal, *actual);
      }
      for (size_t i = 0; i < tuple->elements().size(); ++i) {
        const MatchTypeReturn inner = matchTypeVariables(formal->containedType(i), tuple->elements()[i], type_env);
        if (!inner.success()) {
          return inner;
        }
      }
      return MatchTypeReturn::Success();
    }
    case TypeKind::OptionalType: {
      if (const OptionalType* optional = actual->castRaw<OptionalType>()) {
        return matchTypeVariables(formal->containedType(0), optional->getElementType(), type_env);
      }
      // None fits whatever the variable stands for.
      if (actual->kind() == TypeKind::NoneType) {
        return MatchTypeReturn::Success();
      }
      return matchTypeVariables(formal->containedType(0), actual, type_env);
    }
    case TypeKind::DictType: {
      const DictType* dict = actual->castRaw<DictType>();
      if (!dict) {
        return MatchTypeReturn("Cannot match a dict to " + actual->repr_str());
      }
      const MatchTypeReturn key = matchTypeVariables(formal->containedType(0), dict->getKeyType(), type_env);
      return key.success() ? matchTypeVariables(formal->containedType(1), dict->getValueType(), type_env) : key;
    }
    default:
      TORCH_CHECK(false, "Unhandled free variable container: ", formal->repr_str());
  }
}

TypePtr tryEvalTypeVariables(const TypePtr& type, TypeEnv& type_env) {
  if (!type->hasFreeVariables()) {
    return type;
  }
  if (const VarType* variable = type->castRaw<VarType>()) {
    const auto bound = type_env.find(variable->name());
    return bound == type_env.end() ? nullptr : bound->second;
  }
  std::vector<TypePtr> contained;
  for (const TypePtr& inner : type->containedTypes()) {
    TypePtr known = tryEvalTypeVariables(inner, type_env);
    if (!known) {
      return nullptr;
    }
    contained.push_back(std::move(known));
  }
  return type->withContained(std::move(contained));
}

bool elementTypeCanBeInferredFromMembers(const TypePtr& element) {
  switch (element->kind()) {
    case TypeKind::UnionType:
    case TypeKind::OptionalType:
    case TypeKind::NumberType:
    case TypeKind::InterfaceType:
    case TypeKind::AnyType:
      return false;
    default:
      return true;
  }
}

std::optional<TypePtr> unifyTypeList(ArrayRef<TypePtr> types, std::ostream& why_not) {
  if (types.empty()) {
    why_not << "Cannot get unified type from empty list";
    return std::nullopt;
  }
  TypePtr unified = types[0];
  for (size_t i = 1; i < types.size(); ++i) {
    const std::optional<TypePtr> both = unifyTypes(unified, types[i]);
    if (!both) {
      why_not << "Could not unify type list since element " << i << " of type " << types[i]->repr_str()
              << " did not match the types before it (" << unified->repr_str() << ")";
      return std::nullopt;
    }
    unified = *both;
  }
  return unified;
}

} // namespace c10
