#pragma once

#include <aten/core/boxing/OperatorKernel.h>
#include <c10/macros/Macros.h>
#include <c10/util/Metaprogramming.h>
#include <c10/util/TypeTraits.h>

#include <type_traits>
#include <utility>

namespace c10 {

/// A function known at compile time, as a type: TORCH_FN(f) makes a value of it. Calls can then be inlined.
template <class FuncType, FuncType* func_ptr>
struct CompileTimeFunctionPointer final {
  static_assert(std::is_function_v<FuncType>, "TORCH_FN needs a function");
  using FuncType_ = FuncType;
  using type = FuncType;
  static constexpr FuncType* func_ptr_() {
    return func_ptr;
  }
  static constexpr FuncType* func_ptr_value = func_ptr;
};
template <class T>
struct is_compile_time_function_pointer : std::false_type {};
template <class FuncType, FuncType* func_ptr>
struct is_compile_time_function_pointer<CompileTimeFunctionPointer<FuncType, func_ptr>> : std::true_type {};

/// Makes `f` a compile-time constant for m.def() and m.impl().
#define TORCH_FN_TYPE(func) ::c10::CompileTimeFunctionPointer<std::remove_pointer_t<std::remove_reference_t<decltype(func)>>, func>
#define TORCH_FN(func) TORCH_FN_TYPE(func)()

namespace impl {

namespace detail {

template <class FuncPtr, class Return, class ParameterList>
class CompileTimeFunctor;
template <class FuncPtr, class Return, class... Params>
class CompileTimeFunctor<FuncPtr, Return, guts::typelist::typelist<Params...>> final : public OperatorKernel {
 public:
  C10_ALWAYS_INLINE Return operator()(Params... args) {
    return (*FuncPtr::func_ptr_())(std::forward<Params>(args)...);
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
  using traits = guts::infer_function_traits_t<typename FuncPtr::FuncType_>;
  using type = detail::CompileTimeFunctor<FuncPtr, typename traits::return_type, typename traits::parameter_types>;
};
/// Kernel object for a function pointer or a lambda.
template <class Func>
using WrapFunctionIntoRuntimeFunctor = detail::RuntimeFunctor<Func, typename guts::infer_function_traits_t<Func>::return_type,
    typename guts::infer_function_traits_t<Func>::parameter_types>;

} // namespace impl
} // namespace c10
