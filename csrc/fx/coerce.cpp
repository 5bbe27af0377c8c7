#include <csrc/fx/coerce.h>

#include <aten/core/ScalarOps.h>
#include <aten/core/jit_type.h>
#include <c10/util/Exception.h>

#include <fmt/format.h>

#include <sstream>

namespace torch::fx {

namespace {

using c10::IValue;
using c10::TypeKind;

const c10::Type& without_optional(const c10::Type& type) {
  return type.kind() == TypeKind::OptionalType ? *type.expectRef<c10::OptionalType>().getElementType() : type;
}

c10::TypePtr element_type(const c10::TypePtr& type) {
  const c10::TypePtr list =
      type->kind() == TypeKind::OptionalType ? type->expectRef<c10::OptionalType>().getElementType() : type;
  TORCH_CHECK(list->kind() == TypeKind::ListType, "a list does not fit type ", type->str());
  return list->expectRef<c10::ListType>().getElementType();
}

bool is_integral_kind(TypeKind kind) {
  switch (kind) {
    case TypeKind::IntType:
    case TypeKind::SymIntType:
    case TypeKind::ScalarTypeType:
    case TypeKind::LayoutType:
    case TypeKind::MemoryFormatType:
      return true;
    default:
      return false;
  }
}

/// Whether a constant that is no list fits the type, after convert().
bool fits(const IValue& value, const c10::Type& type) {
  if (value.isNone()) {
    return type.kind() == TypeKind::OptionalType || type.kind() == TypeKind::NoneType ||
        type.kind() == TypeKind::AnyType;
  }
  const TypeKind kind = without_optional(type).kind();
  if (is_integral_kind(kind)) {
    return value.isInt();
  }
  switch (kind) {
    case TypeKind::NumberType:
      return value.isScalar();
    case TypeKind::FloatType:
    case TypeKind::SymFloatType:
      return value.isDouble();
    case TypeKind::BoolType:
    case TypeKind::SymBoolType:
      return value.isBool();
    case TypeKind::ComplexType:
      return value.isComplexDouble();
    case TypeKind::StringType:
      return value.isString();
    case TypeKind::DeviceObjType:
      return value.isDevice();
    case TypeKind::TensorType:
      return value.isTensor() || value.isScalar();
    case TypeKind::GeneratorType:
      return value.isGenerator();
    default:
      return true; // classes, streams: the call checks them
  }
}

std::string kind_of(const Arg& arg) {
  if (arg.is_constant()) {
    std::ostringstream text;
    text << arg.constant().tagKind();
    return text.str();
  }
  return arg.is_list() ? "List" : arg.is_value() ? "Value" : "Graph";
}

class Coercion {
 public:
  Coercion(const c10::Argument& formal, const c10::FunctionSchema& schema) : formal_(formal), schema_(schema) {}

  Arg run(Arg arg, const c10::TypePtr& type) const {
    switch (arg.kind()) {
      case Arg::Kind::Value:
      case Arg::Kind::Size:
        return arg;
      case Arg::Kind::Graph:
        fail(arg, *type);
      case Arg::Kind::List:
        return run_list(arg.list(), type);
      case Arg::Kind::Constant:
        break;
    }
    const IValue& value = arg.constant();
    const c10::Type& inner = without_optional(*type);
    if (inner.kind() == TypeKind::ListType && !value.isNone()) {
      return list_from(value, type);
    }
    if (value.isTuple() || (value.isList() && inner.kind() != TypeKind::AnyType)) {
      fail(arg, *type);
    }
    IValue converted = inner.kind() == TypeKind::TensorType ? value : convert(value, conversion_to(*type));
    if (!fits(converted, *type)) {
      fail(arg, *type);
    }
    return converted;
  }

 private:
  [[noreturn]] void fail(const Arg& arg, const c10::Type& type) const {
    TORCH_CHECK(
        false, schema_.operator_name(), "() Expected a value of type '", type.str(), "' for argument '", formal_.name(),
        "' but instead found type '", kind_of(arg), "'.\nDeclaration: ", toString(schema_));
  }

  Arg list_from(const IValue& value, const c10::TypePtr& type) const {
    std::vector<Arg> items;
    if (value.isList()) {
      for (const IValue& item : value.toListRef()) {
        items.emplace_back(item);
      }
    } else if (formal_.N().has_value()) {
      items.assign(static_cast<size_t>(*formal_.N()), Arg(value));
    } else {
      fail(value, *type);
    }
    return run_list(items, type);
  }

  Arg run_list(const std::vector<Arg>& items, const c10::TypePtr& type) const {
    if (without_optional(*type).kind() != TypeKind::ListType) {
      fail(Arg(items), *type);
    }
    const c10::TypePtr element = element_type(type);
    std::vector<Arg> converted;
    std::vector<IValue> constants;
    const bool holds_tensors = without_optional(*element).kind() == TypeKind::TensorType;
    for (const Arg& item : items) {
      converted.push_back(run(item, element));
      if (converted.back().is_constant() && (!holds_tensors || converted.back().constant().isTensor())) {
        constants.push_back(converted.back().constant());
      }
    }
    if (constants.size() == converted.size()) {
      return make_list(std::move(constants), type);
    }
    return converted;
  }

  const c10::Argument& formal_;
  const c10::FunctionSchema& schema_;
};

} // namespace

Conversion conversion_to(const c10::Type& type, Conversion* element) {
  const c10::Type& inner = without_optional(type);
  switch (inner.kind()) {
    case TypeKind::TensorType:
      return Conversion::Tensor;
    case TypeKind::FloatType:
    case TypeKind::SymFloatType:
      return Conversion::Float;
    case TypeKind::ComplexType:
      return Conversion::Complex;
    case TypeKind::ListType:
      if (element) {
        *element = conversion_to(*inner.expectRef<c10::ListType>().getElementType());
      }
      return Conversion::List;
    default:
      return Conversion::None;
  }
}

IValue convert(IValue value, Conversion conversion) {
  switch (conversion) {
    case Conversion::Tensor:
      return value.isScalar() ? IValue(at::native::wrapped_scalar_tensor(value.toScalar())) : value;
    case Conversion::Float:
      return value.isInt() ? IValue(static_cast<double>(value.toInt())) : value;
    case Conversion::Complex:
      return value.isInt() || value.isDouble() ? IValue(value.toScalar().toComplexDouble()) : value;
    default:
      return value;
  }
}

IValue make_list(std::vector<IValue> items, const c10::TypePtr& type) {
  c10::TypePtr element = element_type(type);
  if (is_integral_kind(element->kind())) {
    element = c10::IntType::get();
  } else if (element->kind() == TypeKind::SymFloatType) {
    element = c10::FloatType::get();
  } else if (element->kind() == TypeKind::SymBoolType) {
    element = c10::BoolType::get();
  }
  const Conversion conversion = conversion_to(*element);
  c10::List<IValue> list(element);
  list.reserve(items.size());
  for (IValue& item : items) {
    IValue converted = convert(std::move(item), conversion);
    TORCH_CHECK(fits(converted, *element), "a list of ", element->str(), " cannot hold a ", converted.tagKind());
    list.push_back(std::move(converted));
  }
  return list;
}

Arg coerce(Arg arg, const c10::Argument& formal, const c10::FunctionSchema& schema) {
  return Coercion(formal, schema).run(std::move(arg), formal.type());
}

} // namespace torch::fx
