#include <csrc/compile/row_rules.h>

#include <csrc/fx/coerce.h>

#include <aten/core/Tensor.h>
#include <aten/core/dispatch/Dispatcher.h>
#include <c10/core/WrapDimMinimal.h>

#include <algorithm>
#include <string>

namespace torch::fused {

namespace {

using at::native::RowKernel;
using at::native::RowOperator;

const std::vector<RowRule>& row_rules() {
  static const std::vector<RowRule> rules = {
      {"aten::sum.dim_IntList", "aten::sum.IntList_out", RowKind::Reduction, {true}, 1, false, RowOperator::Sum},
      {"aten::mean.dim", "aten::mean.out", RowKind::Reduction, {true}, 1, false, RowOperator::Mean},
      {"aten::amax", "aten::amax.out", RowKind::Reduction, {true}},
      {"aten::amin", "aten::amin.out", RowKind::Reduction, {true}},
      {"aten::var.correction", "aten::var.correction_out", RowKind::Reduction, {true}},
      {"aten::std.correction", "aten::std.correction_out", RowKind::Reduction, {true}},
      {"aten::linalg_vector_norm", "aten::linalg_vector_norm.out", RowKind::Reduction, {true}},
      {"aten::_softmax", "aten::_softmax.out", RowKind::OneDim, {false}, 1, false, RowOperator::Softmax},
      {"aten::_log_softmax", "aten::_log_softmax.out", RowKind::OneDim, {false}, 1, false, RowOperator::LogSoftmax},
      {"aten::_softmax_backward_data",
       "aten::_softmax_backward_data.out",
       RowKind::OneDim,
       {false},
       2,
       false,
       RowOperator::SoftmaxBackward},
      {"aten::_log_softmax_backward_data",
       "aten::_log_softmax_backward_data.out",
       RowKind::OneDim,
       {false},
       2,
       false,
       RowOperator::LogSoftmaxBackward},
      {"aten::native_layer_norm",
       "aten::native_layer_norm.out",
       RowKind::Norm,
       {false, true, true},
       1,
       true,
       RowOperator::LayerNorm},
  };
  return rules;
}

/// The most elements of a row: a few rows have to fit the second-level cache.
constexpr int64_t kMostRowElements = 16384;
/// Reductions of many short rows cost less as one call than as one for each tile, or as a kernel for each row.
constexpr int64_t kLeastCalledRow = 2048, kLeastReducedRow = 32, kManyElements = 16384;

std::vector<int64_t> ints(const c10::IValue& value) {
  return value.isIntList() ? value.toIntVector()
      : value.isInt()      ? std::vector<int64_t>{value.toInt()}
                           : std::vector<int64_t>{};
}

/// How many of the last dimensions make up the rows; 0 if others do.
size_t row_dims(const RowRule& rule, const fx::Node& node, const std::vector<int64_t>& sizes) {
  const size_t rank = sizes.size();
  if (rule.kind == RowKind::Norm) {
    const fx::Arg& shape = node.arg("normalized_shape");
    return shape.is_constant() ? ints(shape.constant()).size() : 0;
  }
  const fx::Arg& arg = node.arg("dim");
  if (!arg.is_constant() || rank == 0) {
    return 0;
  }
  std::vector<int64_t> dims = ints(arg.constant());
  if (rule.kind == RowKind::Reduction && dims.empty()) {
    return 0;
  }
  for (int64_t& dim : dims) {
    dim = c10::maybe_wrap_dim(dim, static_cast<int64_t>(rank));
  }
  std::sort(dims.begin(), dims.end());
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] != static_cast<int64_t>(rank - dims.size() + i)) {
      return 0;
    }
  }
  return dims.size();
}

/// The kernel for a node's rows: where the dtypes are those that it reads and writes.
RowKernel kernel_of(const RowRule& rule, const fx::Node& node, c10::ScalarType dtype) {
  c10::ScalarType other = dtype;
  for (uint32_t r = 0; r < node.num_results(); ++r) {
    const fx::TensorInfo* const info = node.info(r);
    const bool is_other = rule.kind == RowKind::Norm && rule.is_row[r];
    if (!info || (!is_other && info->dtype != dtype)) {
      return nullptr;
    }
    other = is_other ? info->dtype : other;
  }
  for (size_t i = 0; i < node.args().size(); ++i) {
    const fx::Arg& arg = node.args()[i];
    const fx::TensorInfo* const info = arg.is_value() ? arg.value().node->info(arg.value().result) : nullptr;
    if (arg.is_value() && (!info || info->dtype != (i < rule.num_row_args ? dtype : other))) {
      return nullptr;
    }
  }
  return rule.kernel ? at::native::find_row_kernel(*rule.kernel, dtype, other) : nullptr;
}

} // namespace

const RowRule* find_row_rule(const fx::Node& node) {
  for (const RowRule& rule : row_rules()) {
    if (node.is_operator(rule.op)) {
      return &rule;
    }
  }
  return nullptr;
}

std::optional<RowPlan> plan_rows(
    const RowRule& rule, const fx::Node& node, const std::vector<int64_t>& sizes, c10::ScalarType dtype) {
  const size_t inner = row_dims(rule, node, sizes);
  if (inner == 0 || inner > sizes.size()) {
    return std::nullopt;
  }
  int64_t row = 1;
  for (size_t d = sizes.size() - inner; d < sizes.size(); ++d) {
    row *= sizes[d];
  }
  const size_t dot = rule.out.find('.');
  const auto op = c10::Dispatcher::singleton().findSchema(
      {std::string(rule.out.substr(0, dot)), std::string(rule.out.substr(dot + 1))});
  int64_t numel = 1;
  for (const int64_t size : sizes) {
    numel *= size;
  }
  const RowKernel kernel = kernel_of(rule, node, dtype);
  const bool is_short =
      rule.kind == RowKind::Reduction && row < (kernel ? kLeastReducedRow : kLeastCalledRow) && numel > kManyElements;
  if (row < 2 || row > kMostRowElements || is_short || !op) {
    return std::nullopt;
  }
  RowPlan plan{*op, {}, row, {}, {}, kernel, 0};
  const auto& formals = node.schema().arguments();
  for (size_t i = 0; i < node.args().size(); ++i) {
    const fx::Arg& arg = node.args()[i];
    const std::string& name = formals[i].name();
    if (arg.is_value()) {
      (i < rule.num_row_args ? plan.row_args : plan.whole_args).push_back(i);
      plan.stack.emplace_back(at::Tensor());
    } else if (i < rule.num_row_args || !arg.is_constant()) {
      return std::nullopt;
    } else if (name == "dim") {
      plan.stack.push_back(
          rule.kind == RowKind::Reduction ? c10::IValue(std::vector<int64_t>{1}) : c10::IValue(int64_t{1}));
    } else if (name == "normalized_shape") {
      plan.stack.emplace_back(std::vector<int64_t>{row});
    } else if (name == "eps") {
      plan.eps = arg.constant().toDouble();
      plan.stack.emplace_back(plan.eps);
    } else if (name == "keepdim") {
      plan.stack.emplace_back(false);
    } else {
      plan.stack.push_back(fx::convert(arg.constant(), fx::conversion_to(*formals[i].type())));
    }
  }
  return plan;
}

} // namespace torch::fused
