// Runs an operator on the CPU for a backend that has no kernel for it: arguments move over, results move back.
//
//   void on_cpu(const c10::OperatorHandle& op, torch::jit::Stack* stack) { at::native::cpu_fallback(op, stack); }
//   TORCH_LIBRARY_IMPL(_, PrivateUse1, m) { m.fallback(torch::CppFunction::makeFromBoxedFunction<&on_cpu>()); }
#pragma once

#include <aten/core/boxing/KernelFunction.h>
#include <aten/core/dispatch/Dispatcher.h>
#include <aten/core/stack.h>
#include <c10/core/DispatchKey.h>

namespace at::native {

/// Takes the arguments of `op` from the end of the stack and puts its results there. What the operator writes to
/// (in-place and out arguments, whose size may change) is copied back into the caller's tensors; results that alias
/// nothing go to the device of the first tensor argument, or else of a Device argument. A view cannot be kept up across
/// devices: such results are copies, which is warned of once, or refused with `error_on_views`.
TORCH_API void cpu_fallback(
    const c10::OperatorHandle& op,
    torch::jit::Stack* stack,
    bool error_on_views = false,
    c10::DispatchKey cpu_dispatch_key = c10::DispatchKey::CPU);

namespace detail {
template <bool symint, class T>
using keep_symint = std::conditional_t<symint, T, typename c10::remove_symint<T>::type>;
} // namespace detail

template <c10::KernelFunction::BoxedKernelFunction* fallback_fn, class Op, bool symint, class Signature>
struct _call_fallback_fn;
template <
    c10::KernelFunction::BoxedKernelFunction* fallback_fn,
    class Op,
    bool symint,
    class ReturnType,
    class... ParameterTypes>
struct _call_fallback_fn<fallback_fn, Op, symint, ReturnType(ParameterTypes...)> {
  static ReturnType call(detail::keep_symint<symint, ParameterTypes>... args) {
    static const c10::OperatorHandle op = c10::Dispatcher::singleton().findSchemaOrThrow(Op::name, Op::overload_name);
    return c10::impl::BoxedKernelWrapper<ReturnType(detail::keep_symint<symint, ParameterTypes>...)>::call(
        c10::BoxedKernel::makeFromFunction<fallback_fn>(), op, c10::DispatchKeySet(), args...);
  }
};

/// `call_fallback_fn<&on_cpu, ATEN_OP2(add, Tensor)>::call(a, b, alpha)`: a boxed fallback called with C++ arguments,
/// from kernels that handle some cases themselves. The second form takes symbolic sizes.
template <c10::KernelFunction::BoxedKernelFunction* fallback_fn, class Op>
using call_fallback_fn = _call_fallback_fn<fallback_fn, Op, false, typename Op::schema>;
template <c10::KernelFunction::BoxedKernelFunction* fallback_fn, class Op>
using call_fallback_fn_symint = _call_fallback_fn<fallback_fn, Op, true, typename Op::schema>;

} // namespace at::native
