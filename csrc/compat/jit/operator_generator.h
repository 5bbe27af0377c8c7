// Operators of TorchScript that a program registers or leaves out by a list of its own.
#pragma once

#include <csrc/compat/aten/core/op_registration/selective.h>
#include <csrc/jit/runtime/operator.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace torch::jit {

/// An operator for RegisterOperators; null if its schema is marked as left out. `op` is an Operation or an
/// OperationCreator.
template <class Func>
std::optional<Operator> OperatorGenerator(const char* schema, Func&& op, AliasAnalysisKind alias_analysis) {
  return Operator(std::string(schema), std::forward<Func>(op), alias_analysis);
}
template <class Func>
std::optional<Operator> OperatorGenerator(
    torch::detail::SelectiveStr<true> schema, Func&& op, AliasAnalysisKind alias_analysis) {
  return OperatorGenerator(static_cast<const char*>(schema), std::forward<Func>(op), alias_analysis);
}
template <class Func>
std::optional<Operator> OperatorGenerator(
    torch::detail::SelectiveStr<false> /*schema*/, Func&& /*op*/, AliasAnalysisKind /*alias_analysis*/) {
  return std::nullopt;
}
template <class Func>
std::optional<Operator> OperatorGenerator(
    std::string name,
    std::string overload_name,
    std::vector<Argument> arguments,
    std::vector<Argument> returns,
    Func&& op,
    AliasAnalysisKind alias_analysis) {
  return Operator(
      std::move(name), std::move(overload_name), std::move(arguments), std::move(returns), std::forward<Func>(op),
      alias_analysis);
}

} // namespace torch::jit
