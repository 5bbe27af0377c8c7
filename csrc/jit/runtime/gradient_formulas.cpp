#include <csrc/jit/runtime/gradient_formulas.h>

#include <csrc/jit/api/compilation_unit.h>
#include <csrc/jit/api/compile_lock.h>
#include <csrc/jit/frontend/resolver.h>
#include <csrc/jit/frontend/schema_matching.h>
#include <csrc/jit/frontend/sugared_value.h>
#include <csrc/jit/passes/dead_code_elimination.h>
#include <csrc/jit/passes/inliner.h>
#include <csrc/jit/passes/lower_tuples.h>
#include <csrc/jit/runtime/gradient_table.h>
#include <csrc/jit/runtime/operator.h>

#include <algorithm>
#include <cctype>
#include <unordered_map>
#include <utility>

namespace torch::jit {

namespace {

using Row = GradientRow;

c10::OperatorName operator_name(std::string_view text) {
  const size_t dot = text.find('.');
  const bool has_overload = dot != std::string_view::npos;
  return {std::string(text.substr(0, dot)), has_overload ? std::string(text.substr(dot + 1)) : std::string()};
}

/// The rows by the names of their operators.
const std::unordered_map<c10::OperatorName, const Row*>& rows() {
  static const auto& by_name = *[] {
    auto* map = new std::unordered_map<c10::OperatorName, const Row*>();
    for (const Row& row : gradientRows()) {
      map->emplace(operator_name(row.name), &row);
    }
    return map;
  }();
  return by_name;
}

const Row* find_row(const Node* node) {
  if (!node->kind().is_aten()) {
    return nullptr;
  }
  const Operator* op = node->maybeOperator();
  if (!op) {
    return nullptr;
  }
  const auto found = rows().find(op->schema().operator_name());
  return found == rows().end() ? nullptr : found->second;
}

// ---- names in expressions -------------------------------------------------------------------------------------------

std::vector<std::string> identifiers(std::string_view text) {
  const auto is_part = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  std::vector<std::string> found;
  for (size_t i = 0; i < text.size();) {
    size_t end = i;
    while (end < text.size() && is_part(text[end])) {
      ++end;
    }
    const bool is_member = i > 0 && text[i - 1] == '.';
    if (end > i && !is_member) {
      found.emplace_back(text.substr(i, end - i));
    }
    i = std::max(end, i + 1);
  }
  return found;
}

bool has_argument(const FunctionSchema& schema, const std::string& name) {
  return schema.argumentIndexWithName(name).has_value();
}

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() > end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

/// The annotation of what a name in an expression stands for; empty if it stands for nothing of the operator.
std::string annotation(const FunctionSchema& schema, const Row& row, const std::string& name) {
  if (const std::optional<int> index = schema.argumentIndexWithName(name)) {
    return withoutSymInts(schema.arguments()[static_cast<size_t>(*index)].type())->annotation_str();
  }
  const bool is_result =
      name == "result" || (name.rfind("result", 0) == 0 && name.size() == 7 && std::isdigit(name[6]));
  if (name == "grad" || is_result || std::count(row.saved.begin(), row.saved.end(), name) > 0) {
    return "Tensor";
  }
  for (const auto& [suffix, type] : {std::pair("_sizes", "List[int]"), std::pair("_size", "Optional[List[int]]")}) {
    if (ends_with(name, suffix) && has_argument(schema, name.substr(0, name.size() - std::string(suffix).size()))) {
      return type;
    }
  }
  return "";
}

std::vector<std::string> needed_names(const FunctionSchema& schema, const Row& row, const char* expression) {
  std::vector<std::string> needs;
  for (const std::string& name : identifiers(expression)) {
    if (!annotation(schema, row, name).empty() && std::count(needs.begin(), needs.end(), name) == 0) {
      needs.push_back(name);
    }
  }
  return needs;
}

// ---- compilation ----------------------------------------------------------------------------------------------------

// Functions in use refer to its graphs, so it lives for ever.
CompilationUnit& functions() {
  static CompilationUnit& unit = *new CompilationUnit(gradientHelpers());
  return unit;
}

/// Finds the helpers that expressions call.
struct HelperResolver final : Resolver {
  std::shared_ptr<SugaredValue> resolveValue(
      const std::string& name, GraphFunction& method, const SourceRange& range) override {
    if (Function* helper = functions().find_function(c10::QualifiedName(name))) {
      return std::make_shared<FunctionValue>(helper);
    }
    return nativeResolver()->resolveValue(name, method, range);
  }
};

std::shared_ptr<Graph> compile_expression(
    const FunctionSchema& schema,
    const Row& row,
    const std::string& name,
    const std::vector<std::string>& parameters,
    const char* expression) {
  std::string source = "def " + name + "(";
  for (const std::string& parameter : parameters) {
    source += (parameter == parameters.front() ? "" : ", ") + parameter + ": " + annotation(schema, row, parameter);
  }
  source += "):\n    return " + std::string(expression) + "\n";
  functions().define(std::nullopt, source, std::make_shared<HelperResolver>(), nullptr);
  std::shared_ptr<Graph> graph = toGraphFunction(functions().get_function(c10::QualifiedName(name))).graph()->copy();
  inlineAsWritten(*graph);
  LowerAllTuples(graph);
  EliminateDeadCode(graph);
  return graph;
}

std::unique_ptr<GradientFormula> make_formula(const FunctionSchema& schema, const Row& row) {
  auto formula = std::make_unique<GradientFormula>();
  std::string base = "gradient_of_" + std::string(row.name).substr(std::string("aten::").size());
  std::replace(base.begin(), base.end(), '.', '_');
  for (const auto& [input, expression] : row.gradients) {
    const std::optional<int> index = schema.argumentIndexWithName(input);
    TORCH_INTERNAL_ASSERT(index, row.name, " has no argument ", input);
    std::vector<std::string> needs = needed_names(schema, row, expression);
    std::shared_ptr<Graph> graph = compile_expression(schema, row, base + "_for_" + input, needs, expression);
    formula->gradients.push_back({static_cast<size_t>(*index), std::move(graph), std::move(needs)});
  }
  if (row.forward) {
    std::vector<std::string> parameters;
    for (const Argument& argument : schema.arguments()) {
      parameters.push_back(argument.name());
    }
    formula->forward = compile_expression(schema, row, base + "_forward", parameters, row.forward);
    formula->saved.assign(row.saved.begin(), row.saved.end());
  }
  return formula;
}

} // namespace

bool hasGradientFormula(const Node* node) {
  return find_row(node) != nullptr;
}

const GradientFormula* findGradientFormula(const Node* node) {
  const Row* row = find_row(node);
  if (!row) {
    return nullptr;
  }
  static auto& formulas = *new std::unordered_map<const Row*, std::unique_ptr<GradientFormula>>();
  const auto lock = compile_lock();
  std::unique_ptr<GradientFormula>& formula = formulas[row];
  if (!formula) {
    formula = make_formula(node->schema(), *row);
  }
  return formula.get();
}

} // namespace torch::jit
