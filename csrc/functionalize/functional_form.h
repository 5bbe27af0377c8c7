// The operator that gives as a new tensor what another writes to its argument.
#pragma once

#include <csrc/fx/node.h>

#include <optional>
#include <vector>

namespace torch::functionalize {

/// The arguments that a call writes to, in order: those that its schema names, and those of operators whose schemas do
/// not say what they write (running statistics, noise).
std::vector<size_t> written_arguments(const fx::Node& node);

/// How a call that writes is made without writing. Its results are the new tensors that the call makes, and behind them
/// what its written arguments are to hold.
struct FunctionalForm {
  c10::OperatorHandle op;
  /// Which arguments of the call it takes, in its order.
  std::vector<size_t> args;
  /// Which results of the call are tensors of their own.
  std::vector<size_t> fresh;
};

/// Nothing where there is none: then a copy must be written to.
std::optional<FunctionalForm> functional_form(const fx::Node& node, const std::vector<size_t>& written);

/// "aten::transpose" of "aten::transpose_", which changes how a tensor lies in its memory; nothing for others.
std::optional<c10::OperatorHandle> view_form(const c10::OperatorHandle& op);

/// "aten::relu_" of "aten::relu": the operator that writes to the argument `self` what this gives, with the same other
/// arguments. Nothing where there is none.
std::optional<c10::OperatorHandle> inplace_form(const c10::OperatorHandle& op);

} // namespace torch::functionalize
