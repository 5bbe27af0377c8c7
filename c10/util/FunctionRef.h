#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace c10 {

/// Refers to a callable that lives elsewhere: two words, no allocation. For parameters, not for keeping.
template <typename Fn>
class function_ref;

template <typename Ret, typename... Params>
class function_ref<Ret(Params...)> {
 public:
  function_ref() = default;
  function_ref(std::nullptr_t) {}

  template <
      typename Callable,
      std::enable_if_t<!std::is_same_v<std::remove_cv_t<std::remove_reference_t<Callable>>, function_ref>, int> = 0,
      std::enable_if_t<std::is_invocable_r_v<Ret, Callable&, Params...>, int> = 0>
  function_ref(Callable&& callable)
      : call_(&call<std::remove_reference_t<Callable>>), callable_(reinterpret_cast<intptr_t>(&callable)) {}

  Ret operator()(Params... params) const {
    return call_(callable_, std::forward<Params>(params)...);
  }
  operator bool() const {
    return call_ != nullptr;
  }

 private:
  template <typename Callable>
  static Ret call(intptr_t callable, Params... params) {
    return (*reinterpret_cast<Callable*>(callable))(std::forward<Params>(params)...);
  }

  Ret (*call_)(intptr_t, Params...) = nullptr;
  intptr_t callable_ = 0;
};

} // namespace c10
