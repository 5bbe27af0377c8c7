// TorchScript's own operators, one table a family. A new family is a source in this folder and a line in tables.cpp.
#pragma once

#include <csrc/jit/runtime/operator.h>

#include <functional>

namespace torch::jit::ops {

// One a family.
at::ArrayRef<OperatorRow> number_rows();
at::ArrayRef<OperatorRow> comparison_rows();
at::ArrayRef<OperatorRow> math_rows();
at::ArrayRef<OperatorRow> string_rows();
at::ArrayRef<OperatorRow> formatting_rows();
at::ArrayRef<OperatorRow> list_rows();
at::ArrayRef<OperatorRow> dict_rows();
at::ArrayRef<OperatorRow> conversion_rows();
at::ArrayRef<OperatorRow> tensor_rows();
at::ArrayRef<OperatorRow> tensor_change_rows();
at::ArrayRef<OperatorRow> function_rows();
at::ArrayRef<OperatorRow> image_rows();
at::ArrayRef<OperatorRow> profiler_rows();
at::ArrayRef<OperatorRow> device_rows();

/// The tables of all families.
std::vector<at::ArrayRef<OperatorRow>> all_tables();
/// Operators whose code depends on the node: construction of containers, attributes, control.
void for_each_node_operator(const std::function<void(Operator&&)>& add);
/// Those of graphs of derivatives.
void for_each_gradient_operator(const std::function<void(Operator&&)>& add);

} // namespace torch::jit::ops
