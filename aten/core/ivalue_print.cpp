#include <aten/core/enum_type.h>
#include <aten/core/ivalue.h>
#include <aten/core/ivalue_print.h>

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
      case '\\': out += "\\\\"; break;
      case '\'': out += "\\'"; break;
      case '"': out += "\\\""; break;
      case '\a': out += "\\a"; break;
      case '\b': out += "\\b"; break;
      case '\f': out += "\\f"; break;
      case '\n': out += "\\n"; break;
      case '\r': out += "\\r"; break;
      case '\t': out += "\\t"; break;
      case '\v': out += "\\v"; break;
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
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  std::string out = fmt::format("{:.17g}", value);
  if (out.find_first_of(".e") == std::string::npos) out += '.';
  return out;
}

std::string complex_literal(const c10::complex<double>& value) {
  const std::string imaginary = float_literal(value.imag());
  const bool signed_already = imaginary[0] == '-';
  return float_literal(value.real()) + (signed_already ? "" : "+") + imaginary + "j";
}

namespace {

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
  switch (v.tag_) {
    case Tag::None: return out << "None";
    case Tag::Tensor: return at::print(out, v.toTensor(), 80);
    case Tag::Storage: return out << "Storage";
    case Tag::Double: return out << float_literal(v.toDouble());
    case Tag::ComplexDouble: return out << complex_literal(v.toComplexDouble());
    case Tag::Int: return out << v.payload_.u.as_int;
    case Tag::UInt: return out << v.toUInt();
    case Tag::SymInt: return out << v.toSymInt();
    case Tag::SymFloat: return out << v.toSymFloat();
    case Tag::SymBool: return out << v.toSymBool();
    case Tag::Bool: return out << (v.toBool() ? "True" : "False");
    case Tag::Tuple: {
      const auto& elements = v.toTupleRef().elements();
      print_sequence(out, elements, "(", elements.size() == 1 ? ",)" : ")", print);
      return out;
    }
    case Tag::String: return out << v.toStringRef();
    case Tag::GenericList: print_sequence(out, v.toListRef(), "[", "]", print); return out;
    case Tag::GenericDict:
      print_sequence(out, v.toGenericDict(), "{", "}", [&](const auto& entry) { out << entry.key() << ": " << entry.value(); });
      return out;
    case Tag::Device: return out << v.toDevice();
    case Tag::Stream: return out << v.toStream();
    case Tag::Object: return out << '<' << v.toObjectRef().name() << " object at " << v.internalToPointer() << '>';
    case Tag::Uninitialized: return out << "Uninitialized";
    case Tag::Capsule: return out << "Capsule";
    case Tag::Generator: return out << "Generator";
    case Tag::Enum: {
      const auto holder = v.toEnumHolder();
      return out << "Enum<" << holder->qualifiedClassName() << '.' << holder->name() << '>';
    }
  }
  return out << "<Invalid IValue tag=" << v.tagKind() << '>';
}

} // namespace c10
