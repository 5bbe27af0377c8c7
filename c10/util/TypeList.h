#pragma once

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

// Lists of types and the usual operations on them.

namespace c10::guts {

template <class... T>
struct false_t : std::false_type {};
template <template <class> class... T>
struct false_higher_t : std::false_type {};

namespace typelist {

template <class... Items>
struct typelist final {
  typelist() = delete;
};

template <class List>
struct size;
template <class... T>
struct size<typelist<T...>> {
  static constexpr size_t value = sizeof...(T);
};

template <class List>
struct to_tuple;
template <class... T>
struct to_tuple<typelist<T...>> {
  using type = std::tuple<T...>;
};
template <class List>
using to_tuple_t = typename to_tuple<List>::type;

template <class Tuple>
struct from_tuple;
template <class... T>
struct from_tuple<std::tuple<T...>> {
  using type = typelist<T...>;
};
template <class Tuple>
using from_tuple_t = typename from_tuple<Tuple>::type;

template <class... Lists>
struct concat;
template <>
struct concat<> {
  using type = typelist<>;
};
template <class... A>
struct concat<typelist<A...>> {
  using type = typelist<A...>;
};
template <class... A, class... B, class... Rest>
struct concat<typelist<A...>, typelist<B...>, Rest...> {
  using type = typename concat<typelist<A..., B...>, Rest...>::type;
};
template <class... Lists>
using concat_t = typename concat<Lists...>::type;

template <template <class> class Condition, class List>
struct filter;
template <template <class> class Condition, class... T>
struct filter<Condition, typelist<T...>> {
  using type = concat_t<std::conditional_t<Condition<T>::value, typelist<T>, typelist<>>...>;
};
template <template <class> class Condition, class List>
using filter_t = typename filter<Condition, List>::type;

template <template <class> class Condition, class List>
struct count_if {
  static constexpr size_t value = size<filter_t<Condition, List>>::value;
};

template <template <class> class Condition, class List>
struct all;
template <template <class> class Condition, class... T>
struct all<Condition, typelist<T...>> : std::conjunction<Condition<T>...> {};

template <template <class> class Condition, class List>
struct true_for_each_type : all<Condition, List> {};

template <template <class> class Condition, class List>
struct true_for_any_type;
template <template <class> class Condition, class... T>
struct true_for_any_type<Condition, typelist<T...>> : std::disjunction<Condition<T>...> {};

template <template <class> class Map, class List>
struct map;
template <template <class> class Map, class... T>
struct map<Map, typelist<T...>> {
  using type = typelist<Map<T>...>;
};
template <template <class> class Map, class List>
using map_t = typename map<Map, List>::type;

template <class List>
struct head;
template <class Head, class... Tail>
struct head<typelist<Head, Tail...>> {
  using type = Head;
};
template <class List>
using head_t = typename head<List>::type;

template <class Default, class List>
struct head_with_default {
  using type = Default;
};
template <class Default, class Head, class... Tail>
struct head_with_default<Default, typelist<Head, Tail...>> {
  using type = Head;
};
template <class Default, class List>
using head_with_default_t = typename head_with_default<Default, List>::type;

template <size_t Index, class List>
struct element;
template <size_t Index, class... T>
struct element<Index, typelist<T...>> {
  static_assert(Index < sizeof...(T), "index beyond the end of the typelist");
  using type = std::tuple_element_t<Index, std::tuple<T...>>;
};
template <size_t Index, class List>
using element_t = typename element<Index, List>::type;

template <class List>
struct last;
template <class... T>
struct last<typelist<T...>> {
  using type = element_t<sizeof...(T) - 1, typelist<T...>>;
};
template <class List>
using last_t = typename last<List>::type;

template <class List, size_t N, class = std::make_index_sequence<N>>
struct take;
template <class List, size_t N, size_t... I>
struct take<List, N, std::index_sequence<I...>> {
  using type = typelist<element_t<I, List>...>;
};
template <class List, size_t N>
using take_t = typename take<List, N>::type;

namespace detail {
template <class List, size_t N, class Indices>
struct drop_impl;
template <class List, size_t N, size_t... I>
struct drop_impl<List, N, std::index_sequence<I...>> {
  using type = typelist<element_t<N + I, List>...>;
};
} // namespace detail

template <class List, size_t N>
struct drop {
  static_assert(N <= size<List>::value, "cannot drop more types than there are");
  using type = typename detail::drop_impl<List, N, std::make_index_sequence<size<List>::value - N>>::type;
};
template <class List, size_t N>
using drop_t = typename drop<List, N>::type;

/// Like drop, but drops what is there when that is less than N.
template <class List, size_t N>
using drop_if_nonempty_t = drop_t<List, (N < size<List>::value ? N : size<List>::value)>;

template <class List>
struct reverse;
template <>
struct reverse<typelist<>> {
  using type = typelist<>;
};
template <class Head, class... Tail>
struct reverse<typelist<Head, Tail...>> {
  using type = concat_t<typename reverse<typelist<Tail...>>::type, typelist<Head>>;
};
template <class List>
using reverse_t = typename reverse<List>::type;

template <class List, class Type>
struct contains;
template <class Type, class... T>
struct contains<typelist<T...>, Type> : std::disjunction<std::is_same<T, Type>...> {};

/// The place of the first type of the list that fulfils the condition.
template <class List, template <class> class Condition>
struct find_if;
template <template <class> class Condition, class Head, class... Tail>
struct find_if<typelist<Head, Tail...>, Condition> {
  static constexpr size_t value_of() {
    if constexpr (Condition<Head>::value) {
      return 0;
    } else {
      return 1 + find_if<typelist<Tail...>, Condition>::value;
    }
  }
  static constexpr size_t value = value_of();
};
template <template <class> class Condition>
struct find_if<typelist<>, Condition> {
  static_assert(false_higher_t<Condition>::value, "no type of the list fulfils the condition");
};

namespace detail {
template <class T>
struct type_ final {
  using type = T;
};
} // namespace detail

/// Calls `f` once per type, with an object whose `type` is that type, and returns the results as a tuple.
template <class List>
struct map_types_to_values_impl;
template <class... T>
struct map_types_to_values_impl<typelist<T...>> {
  template <class Func>
  static auto call(Func&& func) {
    return std::tuple<decltype(func(detail::type_<T>()))...>{func(detail::type_<T>())...};
  }
};
template <class List, class Func>
decltype(auto) map_types_to_values(Func&& func) {
  return map_types_to_values_impl<List>::call(std::forward<Func>(func));
}

} // namespace typelist
} // namespace c10::guts
