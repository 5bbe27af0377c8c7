// What a callable takes and gives: function_traits<F>, as loops over tensors deduce it from a kernel's lambda.
#pragma once

#include <c10/util/Metaprogramming.h>

#include <cstddef>
#include <tuple>
#include <type_traits>

namespace at::detail {

template <class Signature>
struct signature_traits;
template <class Result, class... Args>
struct signature_traits<c10::guts::function_traits<Result(Args...)>> {
  using FunctionType = Result(Args...);
  using result_type = Result;
  using ArgsTuple = std::tuple<Args...>;
  static constexpr std::size_t arity = sizeof...(Args);
  template <std::size_t i>
  struct arg {
    using type = std::tuple_element_t<i, ArgsTuple>;
  };
};

} // namespace at::detail

/// result_type, arity, arg<i>::type, ArgsTuple and FunctionType of a function pointer or of anything with one
/// operator().
template <class F>
struct function_traits : at::detail::signature_traits<c10::guts::infer_function_traits_t<std::decay_t<F>>> {};

template <class F>
struct nullary_function_traits {
  using result_type = typename function_traits<F>::result_type;
};
template <class F>
struct unary_function_traits : nullary_function_traits<F> {
  using arg1_t = typename function_traits<F>::template arg<0>::type;
};
template <class F>
struct binary_function_traits : unary_function_traits<F> {
  using arg2_t = typename function_traits<F>::template arg<1>::type;
};
