#include <csrc/program/write_number.h>

#include <csrc/program/size_text.h>
#include <csrc/program/write_graph.h>
#include <c10/util/Exception.h>

#include <fmt/format.h>

namespace torch::program {

namespace {

using c10::IValue;

// Expressions are written out, and could double with each operation.
constexpr size_t kMaxNumberText = 20000;

struct Rule {
  const char* function;
  size_t operands;
  char kind; // 0: a float when an operand is one
  const char* text;
};

constexpr Rule kRules[] = {
    {"add", 2, 0, "Add({}, {})"},
    {"sub", 2, 0, "Add({}, Mul(Integer(-1), {}))"},
    {"mul", 2, 0, "Mul({}, {})"},
    {"floordiv", 2, 'i', "FloorDiv({}, {})"},
    {"mod", 2, 'i', "PythonMod({}, {})"},
    {"neg", 1, 0, "Mul(Integer(-1), {})"},
    {"pos", 1, 0, "{}"},
    {"sym_float", 1, 'f', "ToFloat({})"},
    {"sym_int", 1, 'i', "TruncToInt({})"},
    {"trunc", 1, 'i', "TruncToInt({})"},
    {"sym_max", 2, 0, "Max({}, {})"},
    {"sym_min", 2, 0, "Min({}, {})"},
    {"sym_sqrt", 1, 'f', "OpaqueUnaryFn_sqrt({})"},
    {"eq", 2, 'b', "Equality({}, {})"},
    {"ne", 2, 'b', "Unequality({}, {})"},
    {"lt", 2, 'b', "StrictLessThan({}, {})"},
    {"le", 2, 'b', "LessThan({}, {})"},
    {"gt", 2, 'b', "StrictGreaterThan({}, {})"},
    {"ge", 2, 'b', "GreaterThan({}, {})"},
    {"and_", 2, 'b', "And({}, {})"},
    {"or_", 2, 'b', "Or({}, {})"},
    {"sym_not", 1, 'b', "Not({})"},
};

const Rule* find_rule(const std::string& function) {
  for (const Rule& rule : kRules) {
    if (function == rule.function) {
      return &rule;
    }
  }
  return nullptr;
}

} // namespace

bool is_number_function(const std::string& function) {
  static constexpr const char* kOthers[] = {"pow",      "truediv",  "xor",      "lshift",   "rshift",   "abs",
                                            "round",    "floor",    "ceil",     "sym_ite",  "sym_sum",  "sym_sin",
                                            "sym_cos",  "sym_tan",  "sym_sinh", "sym_cosh", "sym_tanh", "sym_asin",
                                            "sym_acos", "sym_atan", "sym_log2", "sym_exp",  "sym_log"};
  for (const char* const name : kOthers) {
    if (function == name) {
      return true;
    }
  }
  return find_rule(function) != nullptr;
}

NumberText apply_to_texts(const std::string& function, const std::vector<NumberText>& operands) {
  const auto at = [&](size_t i) { return i < operands.size() ? operands[i].text : std::string(); };
  bool has_float = false;
  size_t length = 0;
  for (const NumberText& operand : operands) {
    has_float = has_float || operand.kind == 'f';
    length += operand.text.size();
  }
  TORCH_CHECK(length < kMaxNumberText, "a number is computed in too many steps to be saved in a program");
  if (operands.size() == 2 && function == "truediv") {
    return {'f', fmt::format("{}({}, {})", has_float ? "FloatTrueDiv" : "IntTrueDiv", at(0), at(1))};
  }
  if (operands.size() == 2 && function == "pow") {
    return {has_float ? 'f' : 'i', fmt::format("{}({}, {})", has_float ? "FloatPow" : "PowByNatural", at(0), at(1))};
  }
  const Rule* const rule = find_rule(function);
  TORCH_CHECK(
      rule && rule->operands == operands.size(), "what '", function, "' computes from ", operands.size(),
      " numbers cannot be saved in a program");
  const std::string a = at(0), b = at(1);
  return {
      rule->kind      ? rule->kind
          : has_float ? 'f'
                      : 'i',
      rule->operands == 1 ? fmt::format(fmt::runtime(rule->text), a) : fmt::format(fmt::runtime(rule->text), a, b)};
}

std::string number_text(const IValue& value) {
  if (value.isBool()) {
    return value.toBool() ? "true" : "false";
  }
  if (value.isInt()) {
    return fmt::format("Integer({})", value.toInt());
  }
  return fmt::format("Float('{}', precision=53)", value.toDouble());
}

std::optional<int64_t> hint_of(fx::Dim dim, const fx::SizeTable& table, const std::map<std::string, int64_t>& hints) {
  fx::SymbolValues values(table.size());
  for (size_t i = 0; i < table.size(); ++i) {
    const auto found = hints.find(table.entries()[i].name);
    if (table.entries()[i].op == fx::SizeOp::Symbol && found != hints.end()) {
      values[i] = found->second;
    }
  }
  return table.evaluate(dim, values);
}

Json size_json(fx::Dim dim, const fx::SizeTable& table, const std::map<std::string, int64_t>& hints) {
  if (!dim.is_expression()) {
    return json_object({{"as_int", Json(dim.value())}});
  }
  const auto hint = hint_of(dim, table, hints);
  return json_object(
      {{"as_expr",
        json_object(
            {{"expr_str", Json(print_size(dim, table))},
             {"hint", hint ? json_object({{"as_int", Json(*hint)}}) : Json()}})}});
}

} // namespace torch::program
