// Questions about module types that the templates of torch::nn ask.
#pragma once

#include <type_traits>
#include <utility>

namespace torch::nn {
class Module;
} // namespace torch::nn

namespace torch::detail {

/// Does T have one `forward` that is neither overloaded nor a template?
template <typename T, typename = void>
struct has_forward : std::false_type {};
template <typename T>
struct has_forward<T, std::void_t<decltype(&T::forward)>> : std::true_type {};

/// Is none of the types a reference to something that may be changed?
template <typename... Types>
constexpr bool check_not_lvalue_references() {
  return ((!std::is_lvalue_reference_v<Types> || std::is_const_v<std::remove_reference_t<Types>>)&&...);
}

template <typename M>
using is_module = std::is_base_of<torch::nn::Module, std::decay_t<M>>;
template <typename M, typename T = void>
using enable_if_module_t = std::enable_if_t<is_module<M>::value, T>;

/// The base of all module holders.
struct ModuleHolderIndicator {};

template <typename T>
using is_module_holder = std::is_base_of<ModuleHolderIndicator, std::decay_t<T>>;
template <typename T>
using disable_if_module_holder_t = std::enable_if_t<!is_module_holder<T>::value>;

/// Is T a holder whose module has type C?
template <typename T, typename C, typename = void>
struct is_module_holder_of : std::false_type {};
template <typename T, typename C>
struct is_module_holder_of<T, C, std::enable_if_t<is_module_holder<T>::value>>
    : std::is_same<typename std::decay_t<T>::ContainedType, std::decay_t<C>> {};

/// What C::forward returns for these arguments.
template <typename C, typename... Args>
using return_type_of_forward_t = decltype(std::declval<C&>().forward(std::declval<Args>()...));
template <typename Void, typename C, typename... Args>
struct return_type_of_call {
  using type = void;
};
template <typename C, typename... Args>
struct return_type_of_call<std::void_t<return_type_of_forward_t<C, Args...>>, C, Args...> {
  using type = return_type_of_forward_t<C, Args...>;
};
/// The same as a member; void for a class that cannot be called so.
template <typename C, typename... Args>
struct return_type_of_forward : return_type_of_call<void, C, Args...> {};

} // namespace torch::detail
