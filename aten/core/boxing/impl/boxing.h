#pragma once

#include <aten/core/IListRef.h>
#include <aten/core/boxing/BoxedKernel.h>
#include <aten/core/stack.h>
#include <c10/core/TensorOptions.h>
#include <c10/util/Metaprogramming.h>

#include <tuple>
#include <type_traits>

// Calls a boxed kernel with plain C++ arguments. What the call returns follows from its signature: values come from the
// stack; references (in-place and out= operators) are the arguments themselves.

namespace c10::impl {

/// How many values an argument becomes: TensorOptions travel as dtype, layout, device, pin_memory.
template <class T>
constexpr size_t boxed_size_one() {
  return std::is_same_v<std::decay_t<T>, c10::TensorOptions> ? 4 : 1;
}
template <class... Args>
constexpr size_t boxed_size() {
  return (boxed_size_one<Args>() + ... + size_t{0});
}

template <class T>
inline constexpr bool can_box_v = std::is_constructible_v<IValue, std::decay_t<T>> || std::is_same_v<std::decay_t<T>, c10::TensorOptions> ||
    std::is_same_v<std::decay_t<T>, at::OptionalTensorRef>;

template <class T>
void box_one(Stack& stack, const T& arg) {
  if constexpr (std::is_same_v<T, at::OptionalTensorRef>) {
    if (arg.has_value()) {
      stack.emplace_back(*arg);
    } else {
      stack.emplace_back();
    }
  } else {
    torch::jit::push_one(stack, arg);
  }
}
template <class... Args>
Stack boxArgs(const Args&... args) {
  Stack stack;
  stack.reserve(boxed_size<Args...>() + 1);
  (box_one(stack, args), ...);
  return stack;
}

template <class Result>
struct PopResult final {
  static Result call(Stack& stack) {
    TORCH_CHECK(stack.size() == 1, "Boxed kernel was expected to return one value on the stack, but instead pushed ", stack.size(), " values.");
    return std::move(stack[0]).template to<Result>();
  }
};
template <class... Types>
struct PopResult<std::tuple<Types...>> final {
  static std::tuple<Types...> call(Stack& stack) {
    TORCH_CHECK(stack.size() == sizeof...(Types), "Boxed kernel was expected to return ", sizeof...(Types),
        " values on the stack, but instead returned ", stack.size(), " values.");
    return unpack(stack, std::index_sequence_for<Types...>());
  }

 private:
  template <size_t... I>
  static std::tuple<Types...> unpack(Stack& stack, std::index_sequence<I...>) {
    return std::tuple<Types...>(std::move(stack[I]).template to<Types>()...);
  }
};

template <class T>
struct is_reference_tuple : std::false_type {};
template <class... Ts>
struct is_reference_tuple<std::tuple<Ts...>> : std::bool_constant<(sizeof...(Ts) > 0) && (std::is_lvalue_reference_v<Ts> && ...)> {};

/// The Nth of the arguments, as the reference that was passed.
template <size_t N, class... Args>
decltype(auto) nth(Args&&... args) {
  return std::get<N>(std::forward_as_tuple(std::forward<Args>(args)...));
}

template <class Signature>
struct BoxedKernelWrapper;
template <class Result, class... Args>
struct BoxedKernelWrapper<Result(Args...)> {
  C10_NOINLINE static Result call(const BoxedKernel& kernel, const OperatorHandle& op, DispatchKeySet keys, Args... args) {
    static_assert((can_box_v<Args> && ...), "An argument of this call cannot be put into an IValue, so it cannot reach a boxed kernel");
    Stack stack = boxArgs(args...);
    kernel.callBoxed(op, keys, &stack);
    return result(stack, args...);
  }

 private:
  static Result result(Stack& stack, Args&... args) {
    if constexpr (std::is_void_v<Result>) {
      TORCH_CHECK(stack.empty(), "Boxed kernel was expected to return no values on the stack, but instead returned ", stack.size(), " values.");
    } else if constexpr (std::is_lvalue_reference_v<Result>) {
      return same_reference(args...);
    } else if constexpr (is_reference_tuple<Result>::value) {
      return last_references(std::make_index_sequence<std::tuple_size_v<Result>>(), args...);
    } else {
      return PopResult<Result>::call(stack);
    }
  }
  // In-place operators return their first argument; out= operators their last.
  static Result same_reference(Args&... args) {
    using First = std::tuple_element_t<0, std::tuple<Args...>>;
    constexpr size_t last = sizeof...(Args) - 1;
    if constexpr (std::is_same_v<First, Result>) {
      return nth<0>(args...);
    } else {
      static_assert(std::is_same_v<std::tuple_element_t<last, std::tuple<Args...>>, Result>,
          "A reference can only be returned by operators that take it as first or last argument");
      return nth<last>(args...);
    }
  }
  template <size_t... I>
  static Result last_references(std::index_sequence<I...>, Args&... args) {
    constexpr size_t first = sizeof...(Args) - sizeof...(I);
    return Result(nth<first + I>(args...)...);
  }
};

} // namespace c10::impl
