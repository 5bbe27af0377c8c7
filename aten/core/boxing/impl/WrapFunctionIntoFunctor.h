#pragma once

#include <aten/core/boxing/OperatorKernel.h>
#include <c10/core/CompileTimeFunctionPointer.h>
#include <c10/macros/Macros.h>
#include <c10/util/Metaprogramming.h>
#include <c10/util/TypeTraits.h>

#include <type_traits>
#include <utility>

namespace c10 {

namespace impl {

namespace detail {

template <class FuncPtr, class Return, class ParameterList>
class CompileTimeFunctor;
template <class FuncPtr, class Return, class... Params>
class CompileTimeFunctor<FuncPtr, Return, guts::typelist::typelist<Params...>> final : public OperatorKernel {
 public:
  C10_ALWAYS_INLINE Return operator()(Params... args) {
    return (*FuncPtr::func_ptr())(std::forward<Params>(args)...);
  }
};

template <class Func, class Return, class ParameterList>
class RuntimeFunctor;
template <class Func, class Return, class... Params>
class RuntimeFunctor<Func, Return, guts::typelist::typelist<Params...>> final : public OperatorKernel {
 public:
  template <class F>
  explicit RuntimeFunctor(F&& func) : func_(std::forward<F>(func)) {}
  C10_ALWAYS_INLINE Return operator()(Params... args) {
    return func_(std::forward<Params>(args)...);
  }

 private:
  Func func_;
};

} // namespace detail

/// Kernel object for a function known at compile time.
template <class FuncPtr>
struct WrapFunctionIntoFunctor final {
  using traits = guts::infer_function_traits_t<typename FuncPtr::FuncType>;
  using type = detail::CompileTimeFunctor<FuncPtr, typename traits::return_type, typename traits::parameter_types>;
};
/// Kernel object for a function pointer or a lambda.
template <class Func>
using WrapFunctionIntoRuntimeFunctor = detail::RuntimeFunctor<
    Func,
    typename guts::infer_function_traits_t<Func>::return_type,
    typename guts::infer_function_traits_t<Func>::parameter_types>;

} // namespace impl
} // namespace c10
