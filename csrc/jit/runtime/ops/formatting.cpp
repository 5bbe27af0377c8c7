// Text of values: str(), str.format() and the % operator.
#include <csrc/jit/runtime/ops/rows.h>

#include <algorithm>
#include <ios>
#include <limits>
#include <sstream>

namespace torch::jit::ops {

namespace {

std::string text_of(IValue& value) {
  if (value.isInt()) {
    return std::to_string(value.toInt());
  }
  std::ostringstream out;
  out << value;
  return out.str();
}

// The inputs of an operator with a vararg schema; their number is on top of the stack.
std::vector<IValue> take_inputs(Stack& stack) {
  const int64_t count = pop(stack).toInt();
  TORCH_CHECK(
      count >= 1 && static_cast<size_t>(count) <= stack.size(), "expected at least 1 input on the stack, got ", count);
  return pop(stack, static_cast<size_t>(count));
}

void format(Stack& stack) {
  const std::vector<IValue> inputs = take_inputs(stack);
  const std::string& form = inputs[0].toStringRef();
  std::ostringstream out;
  size_t used = 1;
  size_t done = 0;
  for (size_t at = form.find("{}"); at != std::string::npos; at = form.find("{}", done)) {
    TORCH_CHECK(used < inputs.size(), "Too few arguments for format string: ", form);
    out << std::string_view(form).substr(done, at - done) << inputs[used++];
    done = at + 2;
  }
  out << std::string_view(form).substr(done);
  stack.emplace_back(out.str());
}

// libtorch's numbers of `%` have 32 bits where they are converted: what does not fit is the least one.
int32_t as_int(double value) {
  const bool fits = value > -2147483649.0 && value < 2147483648.0;
  return fits ? static_cast<int32_t>(value) : std::numeric_limits<int32_t>::min();
}
float as_float(const IValue& value) {
  return static_cast<float>(value.toScalar().toDouble());
}

void print_number(std::ostream& out, char specifier, const IValue& value) {
  TORCH_CHECK(value.isScalar(), "%", specifier, " requires a number for formatting, but got ", value.tagKind());
  const std::ios_base::fmtflags before = out.flags();
  switch (specifier) {
    case 'd':
    case 'i':
      if (value.isDouble()) {
        out << as_int(value.toDouble());
      } else {
        out << value.toScalar().to<int64_t>();
      }
      break;
    case 'e':
    case 'E':
      out << std::scientific << (specifier == 'E' ? std::uppercase : std::nouppercase) << as_float(value);
      break;
    default:
      out << std::fixed << as_float(value);
  }
  out.flags(before);
}

void print_as(std::ostream& out, char specifier, const IValue& value) {
  switch (specifier) {
    case 's':
      out << value;
      break;
    case 'd':
    case 'i':
    case 'e':
    case 'E':
    case 'f':
    case 'F':
      print_number(out, specifier, value);
      break;
    case 'c':
      TORCH_CHECK(
          value.isInt() || (value.isString() && value.toStringRef().size() == 1),
          "%c requires an int or char for formatting, but got ", value.tagKind());
      if (value.isInt()) {
        out << static_cast<char>(value.toInt());
      } else {
        out << value.toStringRef();
      }
      break;
    default:
      TORCH_CHECK(false, "The specifier %", specifier, " is not supported in TorchScript format strings");
  }
}

void percent_format(Stack& stack) {
  const std::vector<IValue> inputs = take_inputs(stack);
  const std::string& form = inputs[0].toStringRef();
  // One value, or a tuple of them.
  at::ArrayRef<IValue> values = at::ArrayRef<IValue>(inputs).slice(1);
  std::vector<IValue> elements;
  if (values.size() == 1 && values[0].isTuple()) {
    const auto& tuple = values[0].toTupleRef().elements();
    elements.assign(tuple.begin(), tuple.end());
    values = elements;
  }
  std::ostringstream out;
  size_t used = 0;
  size_t done = 0;
  for (size_t at = form.find('%'); at != std::string::npos; at = form.find('%', done)) {
    out << std::string_view(form).substr(done, at - done);
    TORCH_CHECK(at + 1 < form.size(), "Incomplete format specifier");
    const char specifier = form[at + 1];
    done = at + 2;
    if (specifier == '%') {
      out << '%';
      continue;
    }
    TORCH_CHECK(used < values.size(), "Too few arguments for format string");
    print_as(out, specifier, values[used++]);
  }
  TORCH_CHECK(used == values.size(), "Too many arguments for format string");
  out << std::string_view(form).substr(done);
  stack.emplace_back(out.str());
}

constexpr OperatorRow kRows[] = {
    {"aten::str(t elem) -> str", call<text_of>},
    {"aten::format(str self, ...) -> str", format},
    {"aten::percentFormat(str self, ...) -> str", percent_format},
};

} // namespace

at::ArrayRef<OperatorRow> formatting_rows() {
  return kRows;
}

} // namespace torch::jit::ops
