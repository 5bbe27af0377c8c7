// Types and constants in printed programs.
#include <csrc/jit/serialize/print_context.h>

#include <aten/core/enum_type.h>
#include <aten/core/interface_type.h>
#include <aten/core/ivalue_print.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace torch::jit {

namespace {

constexpr int kMaxDepth = 256;

bool is_named(const Type& type) {
  switch (type.kind()) {
    case TypeKind::ClassType:
    case TypeKind::InterfaceType:
    case TypeKind::EnumType:
    case TypeKind::FunctionType:
      return true;
    case TypeKind::TupleType:
      return type.expectRef<TupleType>().schema() != nullptr && type.expectRef<TupleType>().name().has_value();
    default:
      return false;
  }
}

// Other characters stand in the table of constants: not every reader takes them in source text.
bool is_printable(const std::string& text) {
  return std::all_of(
      text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80 && c != '\0'; });
}

// The sum of a real and an imaginary literal loses signs of zeros, and there is no literal for what is not finite.
std::string complex_expression(const c10::complex<double>& value) {
  const double real = value.real(), imaginary = value.imag();
  const auto plain = [](double part) { return std::isfinite(part) && !(part == 0 && std::signbit(part)); };
  if (plain(real) && plain(imaginary)) {
    return c10::complex_literal(value);
  }
  return "complex(" + c10::float_literal(real) + ", " + c10::float_literal(imaginary) + ")";
}

} // namespace

bool elements_tell(const Type& type) {
  switch (type.kind()) {
    case TypeKind::OptionalType:
    case TypeKind::UnionType:
    case TypeKind::AnyType:
    case TypeKind::NumberType:
    case TypeKind::InterfaceType:
      return false;
    default:
      return true;
  }
}

void PrintContext::add_dependencies(const TypePtr& type, int depth) {
  TORCH_CHECK(depth < kMaxDepth, "a type nested more than ", kMaxDepth, " levels deep cannot be printed");
  if (is_named(*type)) {
    deps.add(type);
  }
  // What a class holds is looked at when the class is printed.
  if (type->kind() == TypeKind::ClassType) {
    return;
  }
  for (const TypePtr& contained : type->containedTypes()) {
    add_dependencies(contained, depth + 1);
  }
}

std::string PrintContext::annotation(const TypePtr& type) {
  add_dependencies(type, 0);
  return type->annotation_str(type_printer);
}

std::string PrintContext::in_table(const IValue& value) {
  size_t place = constants.size();
  if (value.isPtrType()) {
    place = places_.emplace(value.internalToPointer(), place).first->second;
  }
  if (place == constants.size()) {
    constants.push_back(value);
  }
  return "CONSTANTS.c" + std::to_string(place);
}

std::string PrintContext::list_literal(const IValue& value, int depth) {
  const auto elements = value.toListRef();
  const TypePtr type = value.type();
  std::string text = "[";
  for (const IValue& element : elements) {
    text += (text.size() > 1 ? ", " : "") + literal(element, depth + 1);
  }
  text += ']';
  if (!elements.empty() && elements_tell(*type->containedType(0))) {
    return text;
  }
  return "annotate(" + annotation(type) + ", " + text + ")";
}

std::string PrintContext::dict_literal(const IValue& value, int depth) {
  const auto dict = value.toGenericDict();
  const TypePtr type = value.type();
  std::string text = "{";
  for (const auto& entry : dict) {
    text += (text.size() > 1 ? ", " : "") + literal(entry.key(), depth + 1) + ": " + literal(entry.value(), depth + 1);
  }
  text += '}';
  if (dict.size() > 0 && elements_tell(*type->containedType(1))) {
    return text;
  }
  return "annotate(" + annotation(type) + ", " + text + ")";
}

std::string PrintContext::tuple_literal(const IValue& value, int depth) {
  const auto& elements = value.toTupleRef().elements();
  const TypePtr type = value.type();
  const bool named = type->expectRef<TupleType>().schema() != nullptr;
  std::string text = named ? annotation(type) + "(" : "(";
  const char* separator = "";
  for (const IValue& element : elements) {
    text += separator + literal(element, depth + 1);
    separator = ", ";
  }
  return text + (!named && elements.size() == 1 ? ",)" : ")");
}

std::string PrintContext::literal(const IValue& value) {
  return literal(value, 0);
}

std::string PrintContext::literal(const IValue& value, int depth) {
  TORCH_CHECK(depth < kMaxDepth, "a constant nested more than ", kMaxDepth, " levels deep cannot be printed");
  switch (value.tag()) {
    case IValue::Tag::None:
      return "None";
    case IValue::Tag::Bool:
      return value.toBool() ? "True" : "False";
    case IValue::Tag::Int:
      // Its magnitude is not a number that the reader takes.
      return value.toInt() == std::numeric_limits<int64_t>::min() ? in_table(value) : std::to_string(value.toInt());
    case IValue::Tag::Double:
      return c10::float_literal(value.toDouble());
    case IValue::Tag::ComplexDouble:
      return complex_expression(value.toComplexDouble());
    case IValue::Tag::String:
      return is_printable(value.toStringRef()) ? c10::quoted_text(value.toStringRef()) : in_table(value);
    case IValue::Tag::Device:
      return "torch.device(" + c10::quoted_text(value.toDevice().str()) + ")";
    case IValue::Tag::Enum:
      return annotation(value.toEnumHolder()->type()) + "." + value.toEnumHolder()->name();
    case IValue::Tag::GenericList:
      return list_literal(value, depth);
    case IValue::Tag::GenericDict:
      return dict_literal(value, depth);
    case IValue::Tag::Tuple:
      return tuple_literal(value, depth);
    case IValue::Tag::Generator:
      return "torch.Generator(device=" + c10::quoted_text(value.toGenerator().device().str()) +
          ", seed=" + std::to_string(value.toGenerator().current_seed()) + ")";
    case IValue::Tag::Object:
      annotation(value.type());
      return in_table(value);
    case IValue::Tag::Tensor:
      return in_table(value);
    default:
      TORCH_CHECK(
          !enforce_importable, "a constant of type ", value.type()->repr_str(), " cannot be saved: no source text ",
          "stands for it");
      return "^" + value.tagKind();
  }
}

} // namespace torch::jit
