// Derivatives for operators that a program registers, by a formula beside their kernels.
#pragma once

#include <aten/core/ivalue.h>
#include <aten/library/library.h>
#include <autograd/custom_function.h>
#include <c10/macros/Export.h>
#include <c10/util/ArrayRef.h>

#include <functional>

namespace torch::autograd {

/// Gradients of the operator's arguments from those of its results: one for each argument of the schema, in its order
/// (one for each tensor of a list), undefined for those that are no tensors. Made of recorded operators it has
/// derivatives itself.
using FormulaBackward = std::function<variable_list(AutogradContext* ctx, variable_list grads)>;

/// Runs after the kernel, if the call is recorded: keeps in `ctx` what the formula needs and marks results without a
/// gradient. The tensors in `results` may be saved as well.
using FormulaSetup =
    std::function<void(AutogradContext* ctx, c10::ArrayRef<c10::IValue> arguments, c10::ArrayRef<c10::IValue> results)>;

/// A kernel for the Autograd keys that calls the operator's kernel for the device, and records a node with this
/// derivative where an argument requires grad:
///
///     TORCH_LIBRARY_IMPL(myops, Autograd, m) {
///       m.impl("scale", torch::autograd::autogradFormula(
///           [](AutogradContext* ctx, variable_list grads) -> variable_list {
///             return {grads[0] * ctx->saved_data["factor"].toDouble(), Variable()};
///           },
///           [](AutogradContext* ctx, auto arguments, auto) { ctx->saved_data["factor"] = arguments[1]; }));
///     }
///
/// Throws when called for an operator that writes to its arguments: such ones need an Autograd kernel with Function.
TORCH_API torch::CppFunction autogradFormula(FormulaBackward backward, FormulaSetup setup_context = {});

} // namespace torch::autograd
