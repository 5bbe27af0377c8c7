#include <csrc/jit/serialize/literal_values.h>

#include <aten/core/List.h>

#include <charconv>
#include <limits>
#include <string_view>
#include <vector>

namespace torch::jit {

namespace {

// Numbers of any kind may stand for a number, anything for Any.
bool wants(const TypePtr& type, TypeKind kind) {
  return !type || type->kind() == kind || type->kind() == TypeKind::NumberType || type->kind() == TypeKind::AnyType;
}

std::optional<IValue> number(std::string_view text, bool negative, const TypePtr& type) {
  const char* const end = text.data() + text.size();
  if (text.find_first_not_of("0123456789") == std::string_view::npos && wants(type, TypeKind::IntType)) {
    uint64_t value = 0;
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    const uint64_t limit = uint64_t{1} << 63;
    if (error != std::errc() || stop != end || value > (negative ? limit : limit - 1)) {
      return std::nullopt;
    }
    return IValue(static_cast<int64_t>(negative ? 0 - value : value));
  }
  if (text.find_first_not_of("0123456789.eE+-") != std::string_view::npos || !wants(type, TypeKind::FloatType)) {
    return std::nullopt;
  }
  double value = 0;
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end) {
    return std::nullopt;
  }
  return IValue(negative ? -value : value);
}

std::optional<IValue> special_float(const std::string& name, bool negative, const TypePtr& type) {
  if ((name != "inf" && name != "nan") || !wants(type, TypeKind::FloatType)) {
    return std::nullopt;
  }
  const double value =
      name == "inf" ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  return IValue(negative ? -value : value);
}

std::optional<IValue> tuple(const Syntax& expression, const TypePtr& type) {
  const c10::TupleType* tuple_type = type ? type->castRaw<TupleType>() : nullptr;
  if (type && (!tuple_type || tuple_type->elements().size() != expression.size() || tuple_type->schema())) {
    return std::nullopt;
  }
  std::vector<IValue> elements;
  for (size_t i = 0; i < expression.size(); ++i) {
    std::optional<IValue> element = literalValue(expression[i], tuple_type ? tuple_type->elements()[i] : nullptr);
    if (!element) {
      return std::nullopt;
    }
    elements.push_back(std::move(*element));
  }
  return IValue(c10::ivalue::Tuple::create(std::move(elements)));
}

std::optional<IValue> list(const Syntax& expression, const TypePtr& type) {
  const c10::ListType* list_type = type ? type->castRaw<ListType>() : nullptr;
  if (!list_type) {
    return std::nullopt;
  }
  c10::List<IValue> elements(list_type->getElementType());
  for (size_t i = 0; i < expression.size(); ++i) {
    std::optional<IValue> element = literalValue(expression[i], list_type->getElementType());
    if (!element) {
      return std::nullopt;
    }
    elements.push_back(std::move(*element));
  }
  return IValue(std::move(elements));
}

} // namespace

std::optional<IValue> literalValue(const Syntax& expression, const TypePtr& wanted) {
  TypePtr type = wanted;
  if (const c10::OptionalType* optional = type ? type->castRaw<OptionalType>() : nullptr) {
    if (expression.is(SyntaxKind::None)) {
      return IValue();
    }
    type = optional->getElementType();
  }
  switch (expression.kind) {
    case SyntaxKind::Number:
      return number(expression.text, false, type);
    case SyntaxKind::Name:
      return special_float(expression.text, false, type);
    case SyntaxKind::Unary:
      if (expression.text == "-" && expression[0].is(SyntaxKind::Number)) {
        return number(expression[0].text, true, type);
      }
      return expression.text == "-" && expression[0].is(SyntaxKind::Name)
          ? special_float(expression[0].text, true, type)
          : std::nullopt;
    case SyntaxKind::String:
      return wants(type, TypeKind::StringType) ? std::optional<IValue>(expression.text) : std::nullopt;
    case SyntaxKind::True:
    case SyntaxKind::False:
      return wants(type, TypeKind::BoolType) ? std::optional<IValue>(expression.is(SyntaxKind::True)) : std::nullopt;
    case SyntaxKind::None:
      return wants(type, TypeKind::NoneType) ? std::optional<IValue>(IValue()) : std::nullopt;
    case SyntaxKind::Tuple:
      return tuple(expression, type);
    case SyntaxKind::List:
      return list(expression, type);
    default:
      return std::nullopt;
  }
}

} // namespace torch::jit
