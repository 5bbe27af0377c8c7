#include <csrc/serialize/typed_values.h>

#include <aten/core/class_type.h>
#include <aten/core/enum_type.h>
#include <aten/core/interface_type.h>
#include <c10/util/Exception.h>

#include <vector>

namespace torch::serialize {

void TypedValues::spend(uint64_t work) {
  TORCH_CHECK(
      work <= work_, "Unpickler: the pickle asks for far more work than its length explains; it is damaged or hostile");
  work_ -= work;
}

c10::IValue TypedValues::restore(const c10::IValue& value, const c10::TypePtr& type) {
  c10::IValue restored = value;
  TORCH_CHECK(
      restore_in_place(restored, *type), "expected a value of type ", type->repr_str(), ", got a value of type ",
      value.tagKind());
  return restored;
}

namespace {

bool implements(const c10::IValue& value, const c10::InterfaceType& interface) {
  if (!value.isObject()) {
    return false;
  }
  // Signatures would have to be compiled; a call that does not fit throws.
  const c10::ClassTypePtr type = value.toObjectRef().type();
  for (const c10::FunctionSchema& method : interface.methods()) {
    if (!type->hasMethod(method.name())) {
      return false;
    }
  }
  return type->is_module() || !interface.is_module();
}

} // namespace

bool TypedValues::restore_in_place(c10::IValue& value, const c10::Type& type) {
  spend(1);
  switch (type.kind()) {
    case c10::TypeKind::AnyType:
      return true;
    case c10::TypeKind::TensorType:
      return value.isTensor();
    case c10::TypeKind::IntType:
    case c10::TypeKind::QSchemeType:
    case c10::TypeKind::LayoutType:
    case c10::TypeKind::ScalarTypeType:
    case c10::TypeKind::MemoryFormatType:
      return value.isInt();
    case c10::TypeKind::FloatType:
      return value.isDouble();
    case c10::TypeKind::ComplexType:
      return value.isComplexDouble();
    case c10::TypeKind::NumberType:
      return value.isInt() || value.isDouble() || value.isComplexDouble();
    case c10::TypeKind::BoolType:
      return value.isBool();
    case c10::TypeKind::StringType:
      return value.isString();
    case c10::TypeKind::DeviceObjType:
      return value.isDevice();
    case c10::TypeKind::NoneType:
      return value.isNone();
    case c10::TypeKind::StorageType:
      return value.isStorage();
    case c10::TypeKind::OptionalType:
    case c10::TypeKind::UnionType:
      for (const c10::TypePtr& member : type.containedTypes()) {
        if (restore_in_place(value, *member)) {
          return true;
        }
      }
      return type.kind() == c10::TypeKind::OptionalType && value.isNone();
    case c10::TypeKind::ListType:
      return value.isList() && restore_list(value, type.castRaw<c10::ListType>()->getElementType());
    case c10::TypeKind::DictType:
      return value.isGenericDict() && restore_dict(value, *type.castRaw<c10::DictType>());
    case c10::TypeKind::TupleType:
      return value.isTuple() && restore_tuple(value, *type.castRaw<c10::TupleType>());
    case c10::TypeKind::ClassType:
      return value.isObject() && value.toObjectRef().type()->isSubtypeOf(type);
    case c10::TypeKind::InterfaceType:
      return implements(value, *type.castRaw<c10::InterfaceType>());
    case c10::TypeKind::EnumType:
      return value.isEnum() && *value.toEnumHolder()->type() == type;
    case c10::TypeKind::AnyClassType:
      return value.isObject();
    case c10::TypeKind::AnyListType:
      return value.isList();
    case c10::TypeKind::AnyTupleType:
      return value.isTuple();
    case c10::TypeKind::AnyEnumType:
      return value.isEnum();
    default:
      return false;
  }
}

// An element type other than Any was compared with all elements before.
bool TypedValues::restore_list(const c10::IValue& value, const c10::TypePtr& element) {
  c10::List<c10::IValue> list = value.toList();
  if (*list.elementType() == *element) {
    return true;
  }
  for (size_t i = 0; i < list.size(); ++i) {
    c10::IValue item = list.get(i);
    const bool is_tuple = item.isTuple();
    if (!restore_in_place(item, *element)) {
      return false;
    }
    if (is_tuple) {
      list.set(i, std::move(item));
    }
  }
  list.unsafeSetElementType(element);
  return true;
}

bool TypedValues::restore_dict(const c10::IValue& value, const c10::DictType& type) {
  c10::Dict<c10::IValue, c10::IValue> dict = value.toGenericDict();
  if (*dict.keyType() == *type.getKeyType() && *dict.valueType() == *type.getValueType()) {
    return true;
  }
  for (const auto& entry : dict) {
    c10::IValue key = entry.key();
    c10::IValue item = entry.value();
    const bool is_tuple = item.isTuple();
    if (!restore_in_place(key, *type.getKeyType()) || !restore_in_place(item, *type.getValueType())) {
      return false;
    }
    if (is_tuple) {
      entry.setValue(std::move(item));
    }
  }
  dict.unsafeSetKeyType(type.getKeyType());
  dict.unsafeSetValueType(type.getValueType());
  return true;
}

bool TypedValues::restore_tuple(c10::IValue& value, const c10::TupleType& type) {
  const c10::ivalue::Tuple& tuple = value.toTupleRef();
  if (tuple.size() != type.elements().size()) {
    return false;
  }
  const auto known = tuples_.find({&tuple, &type});
  if (known != tuples_.end()) {
    value = known->second;
    return true;
  }
  std::vector<c10::IValue> elements;
  elements.reserve(tuple.size());
  bool changed = type.schema() != nullptr;
  for (size_t i = 0; i < tuple.size(); ++i) {
    elements.push_back(tuple.elements()[i]);
    if (!restore_in_place(elements.back(), *type.elements()[i])) {
      return false;
    }
    changed = changed || (elements.back().isTuple() && !elements.back().is(tuple.elements()[i]));
  }
  const c10::IValue before = value;
  if (changed) {
    value = type.schema() ? c10::ivalue::Tuple::createNamed(
                                std::move(elements),
                                std::const_pointer_cast<c10::TupleType>(
                                    std::static_pointer_cast<const c10::TupleType>(type.shared_from_this())))
                          : c10::ivalue::Tuple::create(std::move(elements));
  }

  tuples_.emplace(
      std::pair(static_cast<const void*>(&before.toTupleRef()), static_cast<const c10::Type*>(&type)), value);
  if (changed) {
    replaced_.push_back(before);
  }
  return true;
}

} // namespace torch::serialize
