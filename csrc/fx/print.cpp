// The text form. Note [Text form] has its grammar.
#include <csrc/fx/print.h>

#include <aten/core/jit_type.h>
#include <c10/core/MemoryFormat.h>
#include <c10/util/Exception.h>

#include <fmt/format.h>

#include <cmath>

namespace torch::fx {

// Note [Text form]
//     graph[s0 in [2, 64], s1](%x: float32[s0, 3], %n) {
//       %w: float32[4, 3] = get_attr("linear.weight")
//       %y: float32[s0, 4] = aten::linear(%x, %w)
//       %t: float32[s0, 2], int64[s0, 2] = aten::topk(%y, 2)
//       %z = cond(%n, graph(%a) { return (%a) }, graph(%a) { return (%a) }, [%t.0])
//       return (%z, %t.1, 3)
//     }
// In brackets stand the symbols of sizes with their ranges. A node is a name, what is known of its results, an operator
// or function and its arguments. %t.1 is the second result of %t. A function with a number of results other than one
// says so: "cond -> 2(...)". Behind the arguments may stand the module that the node comes from: @"encoder.layer.0".
// Arguments are
//   values %x, numbers 1, 1.0, inf, nan, (1.0+2.0j), True, False, None, strings in double quotes, device("cuda:0"),
//   dtypes, layouts and memory formats by their names in Python, sizes {s0 * 2}, graphs, lists [...] of these.
// A list of constants that a function takes says of what it is: int[1, 2]. Arguments that have their default value are
// left out; those behind one that is left out, and those that go by keyword alone, are written name=value.

namespace {

constexpr const char* kLayoutNames[] = {"strided",    "sparse_coo", "sparse_csr", "_mkldnn",
                                        "sparse_csc", "sparse_bsr", "sparse_bsc", "jagged"};
constexpr const char* kFormatNames[] = {"contiguous_format", "preserve_format", "channels_last", "channels_last_3d"};

std::string print_double(double value) {
  if (std::isnan(value)) {
    return "nan";
  }
  if (std::isinf(value)) {
    return value < 0 ? "-inf" : "inf";
  }
  std::string text = fmt::format("{}", value);
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

std::string print_complex(c10::complex<double> value) {
  const bool minus = std::signbit(value.imag()) && !std::isnan(value.imag());
  return fmt::format(
      "({}{}{}j)", print_double(value.real()), minus ? "-" : "+", print_double(minus ? -value.imag() : value.imag()));
}

const c10::Type* inner_type(const c10::Type* type) {
  return type && type->kind() == c10::TypeKind::OptionalType
      ? type->expectRef<c10::OptionalType>().getElementType().get()
      : type;
}

std::string print_number(int64_t value, const c10::Type* type) {
  using c10::TypeKind;
  if (type) {
    if (type->kind() == TypeKind::ScalarTypeType && value >= 0 &&
        value < static_cast<int64_t>(c10::ScalarType::NumOptions) &&
        find_dtype(dtype_name(static_cast<c10::ScalarType>(value)))) {
      return dtype_name(static_cast<c10::ScalarType>(value));
    }
    if (type->kind() == TypeKind::LayoutType && value >= 0 && value < int64_t(std::size(kLayoutNames))) {
      return kLayoutNames[value];
    }
    if (type->kind() == TypeKind::MemoryFormatType && value >= 0 && value < int64_t(std::size(kFormatNames))) {
      return kFormatNames[value];
    }
  }
  return std::to_string(value);
}

std::string print_constant(const c10::IValue& value, const c10::Type* type) {
  type = inner_type(type);
  if (value.isNone()) {
    return "None";
  }
  if (value.isInt()) {
    return print_number(value.toInt(), type);
  }
  if (value.isDouble()) {
    return print_double(value.toDouble());
  }
  if (value.isBool()) {
    return value.toBool() ? "True" : "False";
  }
  if (value.isComplexDouble()) {
    return print_complex(value.toComplexDouble());
  }
  if (value.isString()) {
    return quote(value.toStringRef());
  }
  if (value.isDevice()) {
    return fmt::format("device({})", quote(value.toDevice().str()));
  }
  if (value.isList()) {
    const bool is_typed = type && type->kind() == c10::TypeKind::ListType;
    const c10::TypePtr element =
        is_typed ? type->expectRef<c10::ListType>().getElementType() : value.toList().elementType();
    std::string text = is_typed ? "[" : element->str() + "[";
    for (const c10::IValue& item : value.toListRef()) {
      text += (text.back() == '[' ? "" : ", ") + print_constant(item, element.get());
    }
    return text + "]";
  }
  if (value.isTensor()) {
    TORCH_CHECK(false, "a graph with tensors among its constants has no text form; use get_attr() for them");
  }
  TORCH_CHECK(false, "a graph with a constant of type ", value.tagKind(), " has no text form");
}

std::string print_results(const Node& node, const SizeTable& sizes) {
  std::string text;
  bool is_known = false;
  for (uint32_t i = 0; i < node.num_results(); ++i) {
    const TensorInfo* info = node.info(i);
    is_known = is_known || info != nullptr;
    text += (i == 0 ? "" : ", ") + (info ? print_info(*info, sizes) : std::string("?"));
  }
  return is_known ? ": " + text : "";
}

std::string print_operator_args(const Node& node, const SizeTable& sizes) {
  const auto& formals = node.schema().arguments();
  std::string text;
  bool by_name = false;
  for (size_t i = 0; i < formals.size(); ++i) {
    const Arg& arg = node.args()[i];
    const bool is_default =
        formals[i].default_value() && arg.is_constant() && same_constant(arg.constant(), *formals[i].default_value());
    if (is_default) {
      by_name = true;
      continue;
    }
    by_name = by_name || formals[i].kwarg_only();
    text += text.empty() ? "" : ", ";
    text += (by_name ? formals[i].name() + "=" : "") + print_arg(arg, sizes, formals[i].real_type());
  }
  return text;
}

std::string print_args(const std::vector<Arg>& args, const SizeTable& sizes) {
  std::string text;
  for (const Arg& arg : args) {
    text += (text.empty() ? "" : ", ") + print_arg(arg, sizes);
  }
  return text;
}

std::string indented(const std::string& text) {
  std::string out;
  for (const char c : text) {
    out += c;
    if (c == '\n') {
      out += "  ";
    }
  }
  return out;
}

} // namespace

std::string quote(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string dtype_name(c10::ScalarType dtype) {
  return std::string(c10::getDtypeNames(dtype).first);
}

std::optional<c10::ScalarType> find_dtype(std::string_view name) {
  for (int i = 0; i < static_cast<int>(c10::ScalarType::NumOptions); ++i) {
    const auto dtype = static_cast<c10::ScalarType>(i);
    if (dtype != c10::ScalarType::Undefined && c10::getDtypeNames(dtype).first == name && !name.empty()) {
      return dtype;
    }
  }
  return std::nullopt;
}

std::optional<int64_t> find_word(std::string_view word) {
  if (const auto dtype = find_dtype(word)) {
    return static_cast<int64_t>(*dtype);
  }
  for (size_t i = 0; i < std::size(kLayoutNames); ++i) {
    if (word == kLayoutNames[i]) {
      return static_cast<int64_t>(i);
    }
  }
  for (size_t i = 0; i < std::size(kFormatNames); ++i) {
    if (word == kFormatNames[i]) {
      return static_cast<int64_t>(i);
    }
  }
  return std::nullopt;
}

std::string print_info(const TensorInfo& info, const SizeTable& sizes) {
  const auto print_dims = [&](const std::vector<Dim>& dims) {
    std::string text = "[";
    for (const Dim dim : dims) {
      text += (text.size() == 1 ? "" : ", ") + sizes.print(dim);
    }
    return text + "]";
  };
  std::string text = dtype_name(info.dtype) + print_dims(info.sizes);
  if (!info.strides.empty()) {
    // Strides of a contiguous tensor of known sizes go without saying.
    bool is_plain = info.strides.size() == info.sizes.size();
    int64_t stride = 1;
    for (size_t i = info.sizes.size(); is_plain && i-- > 0;) {
      is_plain = !info.sizes[i].is_expression() && info.strides[i] == Dim(stride) &&
          !__builtin_mul_overflow(stride, info.sizes[i].value() > 0 ? info.sizes[i].value() : 1, &stride);
    }
    text += is_plain ? "" : " strides" + print_dims(info.strides);
  }
  if (info.layout != c10::kStrided) {
    text += std::string(" ") + kLayoutNames[static_cast<size_t>(info.layout)];
  }
  if (!(info.device == c10::Device(c10::kCPU))) {
    text += " device(" + quote(info.device.str()) + ")";
  }
  return text;
}

std::string print_arg(const Arg& arg, const SizeTable& sizes, const c10::TypePtr& type) {
  switch (arg.kind()) {
    case Arg::Kind::Constant:
      return print_constant(arg.constant(), type.get());
    case Arg::Kind::Value: {
      const Value value = arg.value();
      const std::string name = "%" + value.node->name();
      return value.node->num_results() == 1 ? name : name + "." + std::to_string(value.result);
    }
    case Arg::Kind::Size:
      return "{" + sizes.print(arg.size()) + "}";
    case Arg::Kind::Graph:
      return indented(arg.graph()->to_string());
    case Arg::Kind::List:
      break;
  }
  const c10::Type* const inner = inner_type(type.get());
  const c10::TypePtr element =
      inner && inner->kind() == c10::TypeKind::ListType ? inner->expectRef<c10::ListType>().getElementType() : nullptr;
  std::string text = "[";
  for (const Arg& item : arg.list()) {
    text += (text.size() == 1 ? "" : ", ") + print_arg(item, sizes, element);
  }
  return text + "]";
}

std::string print_node(const Node& node) {
  const SizeTable& sizes = node.graph().sizes();
  if (node.kind() == NodeKind::Output) {
    return "return (" + print_args(node.args(), sizes) + ")";
  }
  std::string text = "%" + node.name() + print_results(node, sizes);
  switch (node.kind()) {
    case NodeKind::Placeholder:
      return text;
    case NodeKind::GetAttr:
      text += " = get_attr(" + quote(node.target()) + ")";
      break;
    case NodeKind::CallOperator:
      text += " = " + node.target() + "(" + print_operator_args(node, sizes) + ")";
      break;
    default:
      text += " = " + node.target() + (node.num_results() == 1 ? "" : fmt::format(" -> {}", node.num_results())) + "(" +
          print_args(node.args(), sizes) + ")";
      break;
  }
  return node.module_path().empty() ? text : text + " @" + quote(node.module_path());
}

std::string Graph::to_string() const {
  std::string symbols, inputs, body;
  for (const SizeTable::Entry& entry : sizes_.entries()) {
    if (entry.op != SizeOp::Symbol) {
      continue;
    }
    symbols += (symbols.empty() ? "" : ", ") + entry.name;
    if (entry.min || entry.max) {
      symbols += fmt::format(
          " in [{}, {}]", entry.min ? std::to_string(*entry.min) : "-inf",
          entry.max ? std::to_string(*entry.max) : "inf");
    }
  }
  for (const Node* node : nodes()) {
    if (node->kind() == NodeKind::Placeholder) {
      inputs += (inputs.empty() ? "" : ", ") + print_node(*node);
    } else {
      body += "  " + print_node(*node) + "\n";
    }
  }
  return "graph" + (symbols.empty() ? "" : "[" + symbols + "]") + "(" + inputs + ") {\n" + body + "}";
}

} // namespace torch::fx
