#pragma once

#include <aten/core/Dimname.h>
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
inline constexpr bool is_of_names_v = std::is_same_v<T, at::Dimname> || std::is_same_v<T, at::DimnameList> ||
    std::is_same_v<T, std::optional<at::DimnameList>>;

template <class T>
inline constexpr bool can_box_v =
    std::is_constructible_v<IValue, std::decay_t<T>> || std::is_same_v<std::decay_t<T>, c10::TensorOptions> ||
    std::is_same_v<std::decay_t<T>, at::OptionalTensorRef> || is_of_names_v<std::decay_t<T>>;

/// Names of dimensions are strings in a stack, "*" for the wildcard.
TORCH_API IValue boxed_names(at::Dimname name);
TORCH_API IValue boxed_names(at::DimnameList names);
TORCH_API IValue boxed_names(const std::optional<at::DimnameList>& names);

template <class T>
void box_one(Stack& stack, const T& arg) {
  if constexpr (std::is_same_v<T, at::OptionalTensorRef>) {
    if (arg.has_value()) {
      stack.emplace_back(*arg);
    } else {
      stack.emplace_back();
    }
  } else if constexpr (is_of_names_v<T>) {
    stack.push_back(boxed_names(arg));
  } else {
    torch::jit::push_one(stack, arg);
  }
}
/// The same without the type, so that the code of a signature is a table and a list of addresses.
using BoxFunction = void (*)(Stack& stack, const void* arg);
template <class T>
void box_unnamed(Stack& stack, const void* arg) {
  box_one(stack, *static_cast<const T*>(arg));
}
template <class... Args>
inline constexpr BoxFunction box_functions[sizeof...(Args) + 1] = {&box_unnamed<std::decay_t<Args>>..., nullptr};
/// A stack of the arguments at these addresses, one for each function up to a null; they become `boxed_size` values.
TORCH_API Stack box_all(const BoxFunction* functions, const void* const* addresses, size_t boxed_size);
/// The same on the way to a kernel.
TORCH_API Stack call_boxed(
    const BoxedKernel& kernel,
    const OperatorHandle& op,
    DispatchKeySet keys,
    const BoxFunction* functions,
    const void* const* addresses,
    size_t boxed_size);
template <class... Args>
Stack boxArgs(const Args&... args) {
  const void* const addresses[] = {&args..., nullptr};
  return box_all(box_functions<Args...>, addresses, boxed_size<Args...>());
}

template <class Result>
struct PopResult final {
  C10_NOINLINE static Result call(Stack& stack) {
    TORCH_CHECK(
        stack.size() == 1, "Boxed kernel was expected to return one value on the stack, but instead pushed ",
        stack.size(), " values.");
    return std::move(stack[0]).template to<Result>();
  }
};
template <class... Types>
struct PopResult<std::tuple<Types...>> final {
  C10_NOINLINE static std::tuple<Types...> call(Stack& stack) {
    TORCH_CHECK(
        stack.size() == sizeof...(Types), "Boxed kernel was expected to return ", sizeof...(Types),
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
struct is_reference_tuple<std::tuple<Ts...>>
    : std::bool_constant<(sizeof...(Ts) > 0) && (std::is_lvalue_reference_v<Ts> && ...)> {};

/// The argument with this address, as the reference that was passed.
template <class Reference>
Reference argument_at(const void* address) {
  return *static_cast<std::remove_reference_t<Reference>*>(const_cast<void*>(address));
}
/// The arguments before the end of a list of addresses.
template <class Tuple>
struct last_references;
template <class... Ts>
struct last_references<std::tuple<Ts...>> {
  static std::tuple<Ts...> of(const void* const* end) {
    const void* const* next = end - sizeof...(Ts);
    return {argument_at<Ts>(*next++)...};
  }
};

template <class Signature>
struct BoxedKernelWrapper;
template <class Result, class... Args>
struct BoxedKernelWrapper<Result(Args...)> {
  static Result call(
      const BoxedKernel& kernel,
      const OperatorHandle& op,
      DispatchKeySet keys,
      std::remove_reference_t<Args>&... args) {
    static_assert(
        (can_box_v<Args> && ...),
        "An argument of this call cannot be put into an IValue, so it cannot reach a boxed kernel");
    const void* const addresses[] = {&args..., nullptr};
    Stack stack = call_boxed(kernel, op, keys, box_functions<Args...>, addresses, boxed_size<Args...>());
    if constexpr (std::is_void_v<Result>) {
      TORCH_CHECK(
          stack.empty(), "Boxed kernel was expected to return no values on the stack, but instead returned ",
          stack.size(), " values.");
    } else if constexpr (std::is_lvalue_reference_v<Result>) {
      // In-place operators return their first argument; out= operators their last.
      constexpr size_t last = sizeof...(Args) - 1;
      constexpr bool first = std::is_same_v<std::tuple_element_t<0, std::tuple<Args...>>, Result>;
      static_assert(
          first || std::is_same_v<std::tuple_element_t<last, std::tuple<Args...>>, Result>,
          "A reference can only be returned by operators that take it as first or last argument");
      return argument_at<Result>(addresses[first ? 0 : last]);
    } else if constexpr (is_reference_tuple<Result>::value) {
      return last_references<Result>::of(addresses + sizeof...(Args));
    } else {
      return PopResult<Result>::call(stack);
    }
  }
};

} // namespace c10::impl
