#pragma once

#include <aten/library/library.h>
#include <c10/macros/Export.h>

namespace torch::autograd {

/// A kernel for the Autograd keys of an operator without a derivative: calls the operator, and gives its outputs a
/// history that throws when a gradient reaches it.
TORCH_API torch::CppFunction autogradNotImplementedFallback();

/// A kernel for the ADInplaceOrView key: raises the versions of arguments that the schema says are written, and makes
/// outputs that it says are views into tracked views.
TORCH_API torch::CppFunction autogradNotImplementedInplaceOrViewFallback();

/// The kernel that operators without any kernel for the Autograd keys get; setAutogradFallbackMode decides what it
/// does.
TORCH_API torch::CppFunction basicAutogradNotImplementedFallback();

/// What happens when a gradient reaches an operator without any kernel for the Autograd keys.
enum class AutogradFallbackMode {
  Nothing, // no gradient, no word
  Warn, // no gradient, a warning in the backward pass (the default)
  Error, // an error in the backward pass
};

TORCH_API void setAutogradFallbackMode(AutogradFallbackMode mode);
TORCH_API AutogradFallbackMode getAutogradFallbackMode();

namespace detail {
void basic_autograd_not_implemented_fallback(
    const c10::OperatorHandle& op, c10::DispatchKeySet dispatch_keys, torch::jit::Stack* stack);
} // namespace detail

} // namespace torch::autograd
