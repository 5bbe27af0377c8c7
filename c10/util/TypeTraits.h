#pragma once

#include <c10/util/Metaprogramming.h>
#include <c10/util/TypeList.h>

#include <functional>
#include <type_traits>

namespace c10::guts {

template <class T, class Enable = void>
struct is_equality_comparable : std::false_type {};
template <class T>
struct is_equality_comparable<T, std::void_t<decltype(std::declval<T&>() == std::declval<T&>())>> : std::true_type {};
template <class T>
using is_equality_comparable_t = typename is_equality_comparable<T>::type;

template <class T, class Enable = void>
struct is_hashable : std::false_type {};
template <class T>
struct is_hashable<T, std::void_t<decltype(std::hash<T>()(std::declval<T&>()))>> : std::true_type {};
template <class T>
using is_hashable_t = typename is_hashable<T>::type;

/// Whether T is a plain function type such as int(float).
template <class T>
using is_function_type = std::is_function<T>;
template <class T>
using is_function_type_t = typename is_function_type<T>::type;

template <template <class...> class Template, class T>
struct is_instantiation_of : std::false_type {};
template <template <class...> class Template, class... Args>
struct is_instantiation_of<Template, Template<Args...>> : std::true_type {};
template <template <class...> class Template, class T>
using is_instantiation_of_t = typename is_instantiation_of<Template, T>::type;

namespace detail {
template <class T>
struct strip_class {};
template <class Class, class Result, class... Args>
struct strip_class<Result (Class::*)(Args...)> {
  using type = Result(Args...);
};
template <class Class, class Result, class... Args>
struct strip_class<Result (Class::*)(Args...) const> {
  using type = Result(Args...);
};
template <class Class, class Result, class... Args>
struct strip_class<Result (Class::*)(Args...) noexcept> {
  using type = Result(Args...);
};
template <class Class, class Result, class... Args>
struct strip_class<Result (Class::*)(Args...) const noexcept> {
  using type = Result(Args...);
};
template <class T>
using strip_class_t = typename strip_class<T>::type;

template <class Functor, class Enable = void>
struct is_functor_ : std::false_type {};
template <class Functor>
struct is_functor_<Functor, std::enable_if_t<is_function_type<strip_class_t<decltype(&Functor::operator())>>::value>>
    : std::true_type {};

template <class Functor, class Enable = void>
struct lambda_is_stateless_ : std::false_type {};
template <class Functor>
struct lambda_is_stateless_<
    Functor,
    std::enable_if_t<is_functor_<Functor>::value && std::is_pointer_v<decltype(+std::declval<Functor>())>>>
    : std::true_type {};
} // namespace detail

/// Whether T has exactly one operator().
template <class T>
using is_functor = detail::is_functor_<T>;

/// Whether Condition<T>::value can be asked, as for std::is_reference.
template <template <class> class Condition, class Enable = void>
struct is_type_condition : std::false_type {};
template <template <class> class Condition>
struct is_type_condition<
    Condition,
    std::enable_if_t<std::is_same_v<bool, std::remove_cv_t<decltype(Condition<int>::value)>>>> : std::true_type {};

/// Whether a lambda captures nothing, that is converts to a function pointer.
template <class LambdaType>
using is_stateless_lambda = detail::lambda_is_stateless_<std::remove_cv_t<std::remove_reference_t<LambdaType>>>;
template <class LambdaType>
using is_stateless_lambda_t = typename is_stateless_lambda<LambdaType>::type;

} // namespace c10::guts
