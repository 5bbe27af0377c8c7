#include <aten/core/enum_type.h>
#include <aten/core/ivalue.h>
#include <aten/core/ivalue_nesting.h>
#include <aten/core/ivalue_print.h>
#include <c10/util/Exception.h>

#include <fmt/format.h>

#include <cmath>
#include <ostream>

namespace at {
// Declared with the tensor printer in Formatting.h, which only printing sources should have to include.
TORCH_API std::ostream& print(std::ostream& stream, const Tensor& tensor, int64_t linesize);
} // namespace at

namespace c10 {

std::string quoted_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    switch (c) {
      case '\\':
        out += "\\\\";
        break;
      case '\'':
        out += "\\'";
        break;
      case '"':
        out += "\\\"";
        break;
      case '\a':
        out += "\\a";
        break;
      case '\b':
        out += "\\b";
        break;
      case '\f':
        out += "\\f";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      case '\v':
        out += "\\v";
        break;
      default:
        if (static_cast<unsigned char>(c) >= 0x20 && static_cast<unsigned char>(c) < 0x7f) {
          out += c;
        } else {
          // Three octal digits, so that a digit after the character is not taken for part of it.
          out += fmt::format("\\{:03o}", static_cast<unsigned char>(c));
        }
    }
  }
  return out + '"';
}

std::string float_literal(double value) {
  if (std::isnan(value)) {
    return "nan";
  }
  if (std::isinf(value)) {
    return value > 0 ? "inf" : "-inf";
  }
  std::string out = fmt::format("{:.17g}", value);
  if (out.find_first_of(".e") == std::string::npos) {
    out += '.';
  }
  return out;
}

std::string complex_literal(const c10::complex<double>& value) {
  const std::string imaginary = float_literal(value.imag());
  const bool signed_already = imaginary[0] == '-';
  return float_literal(value.real()) + (signed_already ? "" : "+") + imaginary + "j";
}

namespace {

struct Printing;
using PrintedContainer = detail::EnteredContainer<Printing>;

template <class Values, class Print>
void print_sequence(std::ostream& out, const Values& values, const char* open, const char* close, Print&& print) {
  out << open;
  const char* separator = "";
  for (const auto& value : values) {
    out << separator;
    print(value);
    separator = ", ";
  }
  out << close;
}

} // namespace

std::ostream& operator<<(std::ostream& out, const IValue& v) {
  using Tag = IValue::Tag;
  const auto print = [&](const IValue& element) { out << element; };
  // One that holds itself prints as in Python: [1, [...]].
  const auto print_container = [&](const auto& values, const char* open, const char* close,
                                   const auto& print_element) -> std::ostream& {
    const PrintedContainer printed(v.internalToPointer());
    if (printed.again()) {
      return out << open << "..." << close;
    }
    print_sequence(out, values, open, close, print_element);
    return out;
  };
  switch (v.tag_) {
    case Tag::None:
      return out << "None";
    case Tag::Tensor:
      return at::print(out, v.toTensor(), 80);
    case Tag::Storage:
      return out << "Storage";
    case Tag::Double:
      return out << float_literal(v.toDouble() + 0.0); // without the sign of -0.0
    case Tag::ComplexDouble:
      return out << complex_literal(v.toComplexDouble());
    case Tag::Int:
      return out << v.payload_.u.as_int;
    case Tag::UInt:
      return out << v.toUInt();
    case Tag::SymInt:
      return out << v.toSymInt();
    case Tag::SymFloat:
      return out << v.toSymFloat();
    case Tag::SymBool:
      return out << v.toSymBool();
    case Tag::Bool:
      return out << (v.toBool() ? "True" : "False");
    case Tag::Tuple: {
      const auto& elements = v.toTupleRef().elements();
      return print_container(elements, "(", elements.size() == 1 ? ",)" : ")", print);
    }
    case Tag::String:
      return out << v.toStringRef();
    case Tag::GenericList:
      return print_container(v.toListRef(), "[", "]", print);
    case Tag::GenericDict:
      return print_container(
          v.toGenericDict(), "{", "}", [&](const auto& entry) { out << entry.key() << ": " << entry.value(); });
    case Tag::Device:
      return out << v.toDevice();
    case Tag::Stream:
      return out << v.toStream();
    case Tag::Object:
      return out << '<' << v.toObjectRef().name() << " object at " << v.internalToPointer() << '>';
    case Tag::Uninitialized:
      return out << "Uninitialized";
    case Tag::Capsule:
      return out << "Capsule";
    case Tag::Generator:
      return out << "Generator";
    case Tag::Enum: {
      const auto holder = v.toEnumHolder();
      return out << "Enum<" << holder->type()->qualifiedClassName().name() << '.' << holder->name() << '>';
    }
    case Tag::Future:
      return out << "Future";
    case Tag::Await:
      return out << "Await";
  }
  return out << "<Invalid IValue tag=" << v.tagKind() << '>';
}

namespace {

std::string double_expression(double value) {
  // Whole numbers are written out below 1e10.
  const bool whole = std::abs(value) < 1e10 && std::trunc(value) == value;
  return whole ? fmt::format("{:.0f}.", value) : fmt::format("{:.17g}", value);
}

// Elements do not tell the element type where there are none, or where it says less than they do.
std::ostream& annotated(
    std::ostream& out,
    const IValue& container,
    size_t size,
    const Type& element,
    const char* separator,
    const std::function<void()>& print) {
  const bool inferable = size > 0 && element.kind() != TypeKind::AnyType && element.kind() != TypeKind::UnionType &&
      element.kind() != TypeKind::OptionalType;
  if (!inferable) {
    out << "annotate(" << container.type()->annotation_str() << separator;
  }
  print();
  return inferable ? out : out << ')';
}

} // namespace

std::ostream& IValue::repr(std::ostream& out, std::function<bool(std::ostream&, const IValue& v)> formatter) const {
  if (formatter(out, *this)) {
    return out;
  }
  const PrintedContainer printed(isTuple() || isList() || isGenericDict() ? internalToPointer() : this);
  TORCH_CHECK(!printed.again(), "IValue::repr: a value of type ", tagKind(), " that contains itself has no expression");
  const auto print = [&](const IValue& element) { element.repr(out, formatter); };
  switch (tag_) {
    case Tag::None:
    case Tag::Int:
    case Tag::UInt:
    case Tag::Bool:
      return out << *this;
    case Tag::Double:
      return out << double_expression(toDouble());
    case Tag::ComplexDouble:
      return out << complex_literal(toComplexDouble());
    case Tag::Tuple: {
      const auto& elements = toTupleRef().elements();
      print_sequence(out, elements, "(", elements.size() == 1 ? ",)" : ")", print);
      return out;
    }
    case Tag::String:
      return out << quoted_text(toStringRef());
    case Tag::Device:
      return out << "torch.device(" << quoted_text(toDevice().str()) << ')';
    case Tag::GenericList: {
      const ArrayRef<IValue> elements = toListRef();
      return annotated(out, *this, elements.size(), *type()->containedType(0), ", ", [&] {
        print_sequence(out, elements, "[", "]", print);
      });
    }
    case Tag::GenericDict: {
      const auto entries = toGenericDict();
      return annotated(out, *this, entries.size(), *entries.valueType(), ",", [&] {
        print_sequence(out, entries, "{", "}", [&](const auto& entry) {
          print(entry.key());
          out << ": ";
          print(entry.value());
        });
      });
    }
    case Tag::Enum: {
      const auto holder = toEnumHolder();
      return out << holder->qualifiedClassName() << '.' << holder->name();
    }
    default:
      TORCH_CHECK(
          false, "IValue::repr: a value of type ", type()->repr_str(),
          " has no expression; the formatter must print it");
  }
}

} // namespace c10
