#include <csrc/program/write_argument.h>

#include <csrc/program/schema_numbers.h>
#include <csrc/program/write_graph.h>
#include <c10/util/Exception.h>

namespace torch::program {

namespace {

using c10::IValue;
using c10::TypeKind;

Json one(const char* kind, Json value) {
  return json_object({{kind, std::move(value)}});
}

Json complex_json(c10::complex<double> value) {
  return json_object({{"real", Json(value.real())}, {"imag", Json(value.imag())}});
}

template <class Get>
Json list_json(const char* kind, const IValue& list, const Get& get) {
  Json::Array items;
  for (const IValue& item : list.toListRef()) {
    items.push_back(get(item));
  }
  return one(kind, Json(std::move(items)));
}

Json int_json(const IValue& value) {
  return Json(value.isBool() ? int64_t(value.toBool()) : value.toInt());
}
Json double_json(const IValue& value) {
  return Json(value.isDouble() ? value.toDouble() : static_cast<double>(value.toInt()));
}
Json bool_json(const IValue& value) {
  return Json(value.toBool());
}
Json string_json(const IValue& value) {
  return Json(value.toStringRef());
}

/// Integers that stand for something.
Json named_number(int64_t value, TypeKind kind) {
  switch (kind) {
    case TypeKind::ScalarTypeType:
      return one("as_scalar_type", Json(number_of(static_cast<c10::ScalarType>(value))));
    case TypeKind::LayoutType:
      return one("as_layout", Json(number_of(static_cast<c10::Layout>(value))));
    case TypeKind::MemoryFormatType:
      return one("as_memory_format", Json(number_of(static_cast<c10::MemoryFormat>(value))));
    default:
      return one("as_int", Json(value));
  }
}

Json list_argument(const IValue& value, const c10::Type* element) {
  const c10::Type* const inner = without_optional(element);
  const auto items = value.toListRef();
  const TypeKind kind = inner             ? inner->kind()
      : items.empty() || items[0].isInt() ? TypeKind::IntType
      : items[0].isDouble()               ? TypeKind::FloatType
      : items[0].isBool()                 ? TypeKind::BoolType
      : items[0].isString()               ? TypeKind::StringType
                                          : TypeKind::AnyType;
  switch (kind) {
    case TypeKind::IntType:
    case TypeKind::SymIntType:
      return list_json("as_ints", value, int_json);
    case TypeKind::FloatType:
      return list_json("as_floats", value, double_json);
    case TypeKind::BoolType:
      return list_json("as_bools", value, bool_json);
    case TypeKind::StringType:
      return list_json("as_strings", value, string_json);
    case TypeKind::TensorType:
      TORCH_CHECK(items.empty(), "a list of constants that are tensors cannot be saved: make them attributes");
      return one(
          element && element->kind() == TypeKind::OptionalType ? "as_optional_tensors" : "as_tensors",
          Json(Json::Array()));
    case TypeKind::NumberType: {
      bool are_ints = true, are_real = true;
      for (const IValue& item : items) {
        are_ints = are_ints && item.isInt();
        are_real = are_real && (item.isInt() || item.isDouble());
      }
      TORCH_CHECK(are_real, "a list of numbers that are neither integers nor floats cannot be saved");
      return are_ints ? list_json("as_ints", value, int_json) : list_json("as_floats", value, double_json);
    }
    default:
      TORCH_CHECK(false, "a list of ", inner ? inner->str() : std::string("values"), " cannot be saved in a program");
  }
}

} // namespace

Json json_object(Json::Object members) {
  return Json(std::move(members));
}

const c10::Type* without_optional(const c10::Type* type) {
  return type && type->kind() == TypeKind::OptionalType ? type->expectRef<c10::OptionalType>().getElementType().get()
                                                        : type;
}

const c10::Type* element_of(const c10::Type* type) {
  const c10::Type* const list = without_optional(type);
  return list && list->kind() == TypeKind::ListType ? list->expectRef<c10::ListType>().getElementType().get() : nullptr;
}

Json device_json(const c10::Device& device) {
  const bool has_index = device.has_index() && !device.is_cpu();
  return json_object(
      {{"type", Json(c10::DeviceTypeName(device.type(), /*lower_case=*/true))},
       {"index", has_index ? Json(static_cast<int64_t>(device.index())) : Json()}});
}

Json constant_argument(const IValue& value, const c10::Type* type) {
  if (value.isNone()) {
    return one("as_none", Json(true));
  }
  if (value.isList()) {
    return list_argument(value, element_of(type));
  }
  const c10::Type* const inner = without_optional(type);
  if (value.isBool()) {
    return one("as_bool", Json(value.toBool()));
  }
  if (value.isInt()) {
    return named_number(value.toInt(), inner ? inner->kind() : TypeKind::IntType);
  }
  if (value.isDouble()) {
    return one("as_float", Json(value.toDouble()));
  }
  if (value.isComplexDouble()) {
    return one("as_complex", complex_json(value.toComplexDouble()));
  }
  if (value.isString()) {
    return one("as_string", Json(value.toStringRef()));
  }
  if (value.isDevice()) {
    return one("as_device", device_json(value.toDevice()));
  }
  TORCH_CHECK(false, "a constant of type ", value.tagKind(), " cannot be saved in a program");
}

} // namespace torch::program
