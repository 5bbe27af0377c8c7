#pragma once

#include <aten/core/builtin_function.h>
#include <aten/core/custom_class_registry.h>
#include <aten/core/op_registration/infer_schema.h>
#include <aten/core/boxing/impl/make_boxed_from_unboxed_functor.h>
#include <c10/util/Indirect.h>
#include <c10/util/Metaprogramming.h>

#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

namespace torch {

/// A method's parameter name, maybe with a default: `.def("scale", &T::scale, "", {torch::arg("by") = 2.0})`.
struct arg {
  explicit arg(std::string name) : name_(std::move(name)) {}
  TORCH_API arg operator=(const c10::IValue& rhs) &&;
  /// The default None.
  static c10::IValue none() {
    return c10::IValue();
  }
  std::string name_;
  c10::Indirect<std::optional<c10::IValue>> value_;
};

namespace detail {

template <class... Args>
struct types {
  using type = types;
};

// A member function as a plain callable whose first parameter is the object.
template <class Class, class Method>
struct WrapMethod;
template <class Class, class Return, class Declared, class... Args>
struct WrapMethod<Class, Return (Declared::*)(Args...)> {
  Return (Declared::*method)(Args...);
  Return operator()(c10::intrusive_ptr<Class> self, Args... args) {
    return ((*self).*method)(std::forward<Args>(args)...);
  }
};
template <class Class, class Return, class Declared, class... Args>
struct WrapMethod<Class, Return (Declared::*)(Args...) const> {
  Return (Declared::*method)(Args...) const;
  Return operator()(c10::intrusive_ptr<Class> self, Args... args) {
    return ((*self).*method)(std::forward<Args>(args)...);
  }
};
template <class Class, class Func>
auto wrap_func(Func f) {
  if constexpr (std::is_member_function_pointer_v<Func>) {
    return WrapMethod<Class, Func>{f};
  } else {
    return f;
  }
}

template <class Func, class Return, class List>
struct BoxedCall;
template <class Func, class Return, class... Params>
struct BoxedCall<Func, Return, c10::guts::typelist::typelist<Params...>> {
  static void call(Func& func, jit::Stack& stack) {
    call_impl(func, stack, std::index_sequence_for<Params...>());
  }

 private:
  template <size_t... I>
  static void call_impl(Func& func, jit::Stack& stack, std::index_sequence<I...>) {
    // A method returns one value; a tuple stays a tuple.
    c10::IValue* const args = stack.data() + (stack.size() - sizeof...(Params));
    (void)args; // unused without parameters
    if constexpr (std::is_void_v<Return>) {
      func(c10::impl::FromStack<Params>::get(args[I])...);
      jit::drop(stack, sizeof...(Params));
      stack.emplace_back();
    } else {
      std::decay_t<Return> result = func(c10::impl::FromStack<Params>::get(args[I])...);
      jit::drop(stack, sizeof...(Params));
      stack.emplace_back(std::move(result));
    }
  }
};

/// Runs a callable on the stack.
template <class Func>
void call_boxed(Func& func, jit::Stack& stack) {
  using traits = c10::guts::infer_function_traits_t<Func>;
  BoxedCall<Func, typename traits::return_type, typename traits::parameter_types>::call(func, stack);
}

/// Throws if `name` cannot be part of a qualified name.
TORCH_API void checkValidIdent(const std::string& str, const char* type);

/// What of class_<T> does not depend on T.
class TORCH_API class_base {
 protected:
  class_base(
      const std::string& namespaceName,
      const std::string& className,
      std::string doc_string,
      const std::type_info& holder);

  /// The inferred schema with the given names and defaults. Throws if they do not fit.
  static c10::FunctionSchema withNewArguments(
      const c10::FunctionSchema& schema, std::initializer_list<arg> default_args);
  jit::Function* add_method(
      std::string name,
      c10::FunctionSchema schema,
      std::function<void(jit::Stack&)> boxed,
      std::string doc_string,
      std::initializer_list<arg> default_args,
      bool is_static);
  void add_property(const std::string& name, jit::Function* getter, jit::Function* setter);
  /// Throws unless __getstate__ and __setstate__ fit each other.
  void check_pickle() const;

  std::string qualClassName_;
  c10::ClassTypePtr classTypePtr_;
};

} // namespace detail
} // namespace torch
