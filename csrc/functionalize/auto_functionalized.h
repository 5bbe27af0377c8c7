// Calls of operators that write, on copies.
#pragma once

#include <csrc/fx/graph.h>

#include <aten/core/dispatch/Dispatcher.h>
#include <aten/core/ivalue.h>

#include <vector>

namespace torch::functionalize {

/// A call of the function "auto_functionalized" in the place of `node`, with `args` for its arguments: the operator
/// runs on copies of what it writes to, with the strides of the originals. Its results are those of the operator that
/// are tensors of their own, and behind them what the `written` arguments are to hold. Nobody knows what the operator
/// does: calls stay in their order.
fx::Node* call_on_copies(
    fx::Graph& graph, const fx::Node& node, std::vector<fx::Arg> args, const std::vector<size_t>& written);

/// What such a call does: runs the operator on copies of the `written` arguments, and gives its results as said above.
std::vector<c10::IValue> call_on_copies(
    const c10::OperatorHandle& op, torch::jit::Stack stack, const std::vector<int64_t>& written);

/// Which results of a call are tensors of their own.
std::vector<size_t> fresh_results(const c10::FunctionSchema& schema);

} // namespace torch::functionalize
