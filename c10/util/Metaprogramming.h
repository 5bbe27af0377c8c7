#pragma once

#include <c10/util/TypeList.h>

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

namespace c10::guts {

/// Result and parameter types of a plain function type.
template <class Func>
struct function_traits {
  static_assert(false_t<Func>::value, "function_traits needs a plain function type such as int(float)");
};
template <class Result, class... Args>
struct function_traits<Result(Args...)> {
  using func_type = Result(Args...);
  using return_type = Result;
  using parameter_types = typelist::typelist<Args...>;
  static constexpr auto number_of_parameters = sizeof...(Args);
};

/// The same for function pointers and anything with one operator().
template <class Functor>
struct infer_function_traits;

namespace detail {
template <class T>
struct plain_function;
template <class Class, class Result, class... Args>
struct plain_function<Result (Class::*)(Args...)> {
  using type = Result(Args...);
};
template <class Class, class Result, class... Args>
struct plain_function<Result (Class::*)(Args...) const> {
  using type = Result(Args...);
};
template <class Class, class Result, class... Args>
struct plain_function<Result (Class::*)(Args...) noexcept> {
  using type = Result(Args...);
};
template <class Class, class Result, class... Args>
struct plain_function<Result (Class::*)(Args...) const noexcept> {
  using type = Result(Args...);
};
} // namespace detail

template <class Functor>
struct infer_function_traits {
  using type = function_traits<typename detail::plain_function<decltype(&Functor::operator())>::type>;
};
template <class Result, class... Args>
struct infer_function_traits<Result (*)(Args...)> {
  using type = function_traits<Result(Args...)>;
};
template <class Result, class... Args>
struct infer_function_traits<Result (*)(Args...) noexcept> {
  using type = function_traits<Result(Args...)>;
};
template <class Result, class... Args>
struct infer_function_traits<Result(Args...)> {
  using type = function_traits<Result(Args...)>;
};
template <class T>
using infer_function_traits_t = typename infer_function_traits<T>::type;

/// The function type of a result and a typelist of arguments.
template <typename Result, typename ArgList>
struct make_function_traits;
template <typename Result, typename... Args>
struct make_function_traits<Result, typelist::typelist<Args...>> {
  using type = function_traits<Result(Args...)>;
};
template <typename Result, typename ArgList>
using make_function_traits_t = typename make_function_traits<Result, ArgList>::type;

namespace detail {
template <size_t Start, size_t... I>
std::index_sequence<(Start + I)...> offset_indices(std::index_sequence<I...>);
} // namespace detail

/// std::index_sequence<Start, Start + 1, ...> of N numbers.
template <size_t Start, size_t N>
using make_offset_index_sequence = decltype(detail::offset_indices<Start>(std::make_index_sequence<N>()));

/// The elements of a tuple at these places, as a tuple.
template <class Tuple, size_t... I>
constexpr auto tuple_elements(Tuple tuple, std::index_sequence<I...>) {
  return std::tuple<std::tuple_element_t<I, Tuple>...>(std::get<I>(tuple)...);
}
/// N elements of a tuple from place Start on.
template <class Tuple, size_t Start, size_t N>
constexpr auto tuple_slice(Tuple tuple) {
  static_assert(Start + N <= std::tuple_size_v<Tuple>, "tuple_slice: the tuple has fewer than Start + N elements");
  return tuple_elements(tuple, make_offset_index_sequence<Start, N>());
}
/// The first N elements of a tuple, or the last -N.
template <class Tuple, int N>
constexpr auto tuple_take(Tuple tuple) {
  constexpr size_t size = std::tuple_size_v<Tuple>;
  constexpr size_t count = N < 0 ? static_cast<size_t>(-N) : static_cast<size_t>(N);
  static_assert(count <= size, "tuple_take: the tuple has fewer elements");
  constexpr size_t first = N < 0 ? size - count : 0;
  return tuple_slice<Tuple, first, count>(tuple);
}

namespace detail {
template <class Mapper, class... Args, size_t... I>
auto tuple_map(std::tuple<Args...>&& tuple, const Mapper& mapper, std::index_sequence<I...>) {
  return std::tuple<decltype(mapper(std::forward<Args>(std::get<I>(tuple))))...>(
      mapper(std::forward<Args>(std::get<I>(tuple)))...);
}
} // namespace detail

/// Applies `mapper` to each element.
template <class Mapper, class... Args>
auto tuple_map(std::tuple<Args...>&& tuple, const Mapper& mapper) {
  return detail::tuple_map(std::move(tuple), mapper, std::index_sequence_for<Args...>());
}

} // namespace c10::guts
