// Operators that work on whole rows, and can therefore be called on blocks of rows.
#pragma once

#include <csrc/fx/graph.h>

#include <aten/native/support/row_kernel.h>

#include <optional>
#include <string_view>
#include <vector>

namespace torch::fused {

/// How an operator says what its rows are.
enum class RowKind : uint8_t {
  Reduction, ///< a list of dimensions
  OneDim, ///< one dimension
  Norm ///< the sizes of the last dimensions
};

struct RowRule {
  std::string_view op;
  /// The overload with outputs.
  std::string_view out;
  RowKind kind;
  /// By result: whether it has one element for each row.
  std::vector<bool> is_row;
  /// How many of the first arguments are tensors of all rows.
  size_t num_row_args = 1;
  /// Results of one element for each row keep a dimension for the row.
  bool keeps_dim = false;
  /// Those that need no call of the operator.
  std::optional<at::native::RowOperator> kernel = std::nullopt;
};

/// The rule of a node; nullptr if there is none.
const RowRule* find_row_rule(const fx::Node& node);

/// A call on rows of a two-dimensional tensor.
struct RowPlan {
  c10::OperatorHandle op;
  std::vector<c10::IValue> stack; // without outputs
  int64_t row;
  std::vector<size_t> row_args;
  std::vector<size_t> whole_args; // tensors of one row: weights
  at::native::RowKernel kernel; // instead of the call; may be null
  double eps; // for it
};

/// The call for a node on tensors of `sizes` and `dtype`; nothing if its rows are not the last dimensions.
std::optional<RowPlan> plan_rows(
    const RowRule& rule, const fx::Node& node, const std::vector<int64_t>& sizes, c10::ScalarType dtype);

} // namespace torch::fused
