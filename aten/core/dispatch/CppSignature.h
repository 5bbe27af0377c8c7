#pragma once

#include <c10/core/DispatchKeySet.h>
#include <c10/macros/Export.h>
#include <c10/util/Metaprogramming.h>
#include <c10/util/Type.h>
#include <c10/util/TypeList.h>

#include <string>
#include <type_traits>
#include <typeindex>

namespace c10::impl {

/// The C++ type of a kernel, as far as callers see it: without functor classes and without a leading DispatchKeySet.
class TORCH_API CppSignature final {
 public:
  CppSignature(const CppSignature&) = default;
  CppSignature& operator=(const CppSignature&) = default;
  explicit CppSignature(const std::type_info& signature) : signature_(signature) {}

  /// From a function type, a function pointer, a functor or a lambda type.
  template <class FuncType>
  static CppSignature make() {
    return CppSignature(type<FuncType>());
  }
  template <class FuncType>
  static const std::type_info& type() {
    using Traits = guts::infer_function_traits_t<std::remove_pointer_t<std::decay_t<FuncType>>>;
    return typeid(typename Plain<typename Traits::return_type, typename Traits::parameter_types>::type);
  }
  std::string name() const {
    return c10::demangle(signature_.name());
  }
  friend bool operator==(const CppSignature& a, const CppSignature& b) {
    // Libraries may each have a type_info of their own; the names decide then.
    return a.signature_ == b.signature_ || std::string_view(a.signature_.name()) == b.signature_.name();
  }
  friend bool operator!=(const CppSignature& a, const CppSignature& b) {
    return !(a == b);
  }

 private:
  template <class Return, class Params>
  struct Plain;
  template <class Return, class... Params>
  struct Plain<Return, guts::typelist::typelist<Params...>> {
    using type = Return(Params...);
  };
  template <class Return, class... Params>
  struct Plain<Return, guts::typelist::typelist<DispatchKeySet, Params...>> {
    using type = Return(Params...);
  };

  std::type_index signature_;
};

} // namespace c10::impl
