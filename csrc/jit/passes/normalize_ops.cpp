#include <csrc/jit/passes/normalize_ops.h>

#include <csrc/jit/runtime/operator.h>

#include <utility>

namespace torch::jit {

namespace {

constexpr std::pair<const char*, const char*> kOtherNames[] = {
    {"absolute", "abs"},
    {"absolute_", "abs_"},
    {"arccos", "acos"},
    {"arccos_", "acos_"},
    {"arccosh", "acosh"},
    {"arccosh_", "acosh_"},
    {"arcsin", "asin"},
    {"arcsin_", "asin_"},
    {"arcsinh", "asinh"},
    {"arcsinh_", "asinh_"},
    {"arctan", "atan"},
    {"arctan_", "atan_"},
    {"arctan2", "atan2"},
    {"arctan2_", "atan2_"},
    {"arctanh", "atanh"},
    {"arctanh_", "atanh_"},
    {"clip", "clamp"},
    {"clip_", "clamp_"},
    {"concat", "cat"},
    {"concatenate", "cat"},
    {"det", "linalg_det"},
    {"divide", "div"},
    {"divide_", "div_"},
    {"fix", "trunc"},
    {"fix_", "trunc_"},
    {"ger", "outer"},
    {"greater", "gt"},
    {"greater_", "gt_"},
    {"greater_equal", "ge"},
    {"greater_equal_", "ge_"},
    {"inner_product", "inner"},
    {"inverse", "linalg_inv"},
    {"less", "lt"},
    {"less_", "lt_"},
    {"less_equal", "le"},
    {"less_equal_", "le_"},
    {"linalg_matmul", "matmul"},
    {"matrix_exp", "linalg_matrix_exp"},
    {"matrix_power", "linalg_matrix_power"},
    {"moveaxis", "movedim"},
    {"multiply", "mul"},
    {"multiply_", "mul_"},
    {"negative", "neg"},
    {"negative_", "neg_"},
    {"not_equal", "ne"},
    {"not_equal_", "ne_"},
    {"orgqr", "linalg_householder_product"},
    {"row_stack", "vstack"},
    {"special_digamma", "digamma"},
    {"special_erf", "erf"},
    {"special_erfc", "erfc"},
    {"special_erfinv", "erfinv"},
    {"special_exp2", "exp2"},
    {"special_expit", "sigmoid"},
    {"special_expm1", "expm1"},
    {"special_gammainc", "igamma"},
    {"special_gammaincc", "igammac"},
    {"special_gammaln", "lgamma"},
    {"special_i0", "i0"},
    {"special_log1p", "log1p"},
    {"special_logit", "logit"},
    {"special_logsumexp", "logsumexp"},
    {"special_multigammaln", "mvlgamma"},
    {"special_polygamma", "polygamma"},
    {"special_psi", "digamma"},
    {"special_round", "round"},
    {"special_sinc", "sinc"},
    {"special_xlogy", "xlogy"},
    {"subtract", "sub"},
    {"subtract_", "sub_"},
    {"swapaxes", "transpose"},
    {"swapaxes_", "transpose_"},
    {"swapdims", "transpose"},
    {"swapdims_", "transpose_"},
    {"true_divide", "div"},
    {"true_divide_", "div_"},
};

bool has_operator(Node* node, Symbol kind) {
  for (const OperatorPtr& op : getAllOperatorsFor(kind)) {
    const FunctionSchema& schema = op->schema();
    // The schema of the other name, whose own kind is not compared.
    if (schema.arguments().size() != node->inputs().size() || schema.returns().size() != node->outputs().size()) {
      continue;
    }
    bool fits = true;
    for (size_t i = 0; i < node->inputs().size(); ++i) {
      fits = fits && node->input(i)->type()->isSubtypeOf(*schema.arguments()[i].type());
    }
    if (fits) {
      return true;
    }
  }
  return false;
}

bool is_bool(const Value* value) {
  return value->type()->kind() == TypeKind::BoolType;
}

void normalize(Block* block) {
  const auto& names = getOperatorAliasMap();
  for (auto it = block->nodes().begin(); it != block->nodes().end();) {
    Node* node = *it++;
    for (Block* inner : node->blocks()) {
      normalize(inner);
    }
    const auto found = names.find(node->kind());
    if (found != names.end() && has_operator(node, found->second)) {
      node->replaceWithNewSymbol(found->second);
    } else if (
        (node->kind() == aten::__is__ || node->kind() == aten::__isnot__) && node->inputs().size() == 2 &&
        is_bool(node->input(0)) && is_bool(node->input(1))) {
      node->replaceWithNewSymbol(node->kind() == aten::__is__ ? aten::eq : aten::ne);
    }
  }
}

} // namespace

const std::unordered_map<Symbol, Symbol>& getOperatorAliasMap() {
  static const auto& names = *new std::unordered_map<Symbol, Symbol>([] {
    std::unordered_map<Symbol, Symbol> map;
    for (const auto& [name, stands_for] : kOtherNames) {
      map.emplace(Symbol::aten(name), Symbol::aten(stands_for));
    }
    return map;
  }());
  return names;
}

void NormalizeOps(const std::shared_ptr<Graph>& graph) {
  normalize(graph->block());
}

} // namespace torch::jit
