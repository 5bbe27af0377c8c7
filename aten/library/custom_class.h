#pragma once

#include <aten/library/custom_class_detail.h>
#include <aten/library/library.h>

#include <string>
#include <type_traits>
#include <utility>

namespace torch {

/// Parameters of a constructor to bind: `.def(torch::init<int64_t, double>())`.
template <class... Types>
detail::types<void, Types...> init() {
  return {};
}
template <class Func, class ParameterTypeList>
struct InitLambda {
  Func f;
};
/// A function that makes the object: `.def(torch::init([](int64_t n) { return c10::make_intrusive<T>(n); }))`.
template <class Func>
decltype(auto) init(Func&& f) {
  using Traits = c10::guts::infer_function_traits_t<std::decay_t<Func>>;
  using ParameterTypeList = typename Traits::parameter_types;
  return InitLambda<std::decay_t<Func>, ParameterTypeList>{std::forward<Func>(f)};
}

/// Binds a C++ class that derives from torch::CustomClassHolder, so that its objects can be held by IValues, passed to
/// operators and their methods called boxed:
///
///   static auto stack = torch::class_<Stack>("myclasses", "Stack")
///     .def(torch::init<std::vector<std::string>>())
///     .def("push", &Stack::push)
///     .def("pop", [](const c10::intrusive_ptr<Stack>& self) { return self->pop(); });
template <class CurClass>
class class_ : public detail::class_base {
  static_assert(
      std::is_base_of_v<CustomClassHolder, CurClass>, "torch::class_<T> requires T to inherit from CustomClassHolder");
  using Ptr = c10::intrusive_ptr<CurClass>;

 public:
  explicit class_(const std::string& namespaceName, const std::string& className, std::string doc_string = "")
      : class_base(namespaceName, className, std::move(doc_string), typeid(Ptr)) {}

  /// The constructor, as method __init__.
  template <class... Types>
  class_& def(
      detail::types<void, Types...>, std::string doc_string = "", std::initializer_list<arg> default_args = {}) {
    return def_init(
        [](c10::IValue self, Types... args) { store(self, c10::make_intrusive<CurClass>(std::move(args)...)); },
        std::move(doc_string), default_args);
  }
  template <class Func, class... Params>
  class_& def(
      InitLambda<Func, c10::guts::typelist::typelist<Params...>> init,
      std::string doc_string = "",
      std::initializer_list<arg> default_args = {}) {
    return def_init(
        [make = std::move(init.f)](c10::IValue self, Params... args) mutable {
          store(self, make(std::forward<Params>(args)...));
        },
        std::move(doc_string), default_args);
  }
  /// A method: a member function, or a function or lambda whose first parameter is the object.
  template <class Func>
  class_& def(std::string name, Func f, std::string doc_string = "", std::initializer_list<arg> default_args = {}) {
    define(std::move(name), detail::wrap_func<CurClass>(std::move(f)), std::move(doc_string), default_args, false);
    return *this;
  }
  template <class Func>
  class_& def_static(
      std::string name, Func func, std::string doc_string = "", std::initializer_list<arg> default_args = {}) {
    define(std::move(name), std::move(func), std::move(doc_string), default_args, true);
    return *this;
  }
  /// A method that works on the stack itself, with its schema.
  class_& _def_unboxed(
      const std::string& name,
      std::function<void(jit::Stack&)> func,
      c10::FunctionSchema schema,
      std::string doc_string = "") {
    add_method(name, std::move(schema), std::move(func), std::move(doc_string), {}, false);
    return *this;
  }

  /// A property with getter, and setter if it can be written.
  template <class GetterFunc, class SetterFunc>
  class_& def_property(
      const std::string& name, GetterFunc getter_func, SetterFunc setter_func, std::string doc_string = "") {
    jit::Function* getter =
        define(name + "_getter", detail::wrap_func<CurClass>(std::move(getter_func)), doc_string, {}, false);
    jit::Function* setter =
        define(name + "_setter", detail::wrap_func<CurClass>(std::move(setter_func)), doc_string, {}, false);
    add_property(name, getter, setter);
    return *this;
  }
  template <class GetterFunc, class = std::enable_if_t<!std::is_convertible_v<GetterFunc, std::string>>>
  class_& def_property(const std::string& name, GetterFunc getter_func, std::string doc_string = "") {
    add_property(
        name,
        define(name + "_getter", detail::wrap_func<CurClass>(std::move(getter_func)), std::move(doc_string), {}, false),
        nullptr);
    return *this;
  }
  /// A data member.
  template <class T>
  class_& def_readwrite(const std::string& name, T CurClass::*field) {
    return def_property(
        name, [field](const Ptr& self) { return (*self).*field; },
        [field](const Ptr& self, T value) { (*self).*field = std::move(value); });
  }
  template <class T>
  class_& def_readonly(const std::string& name, T CurClass::*field) {
    return def_property(name, [field](const Ptr& self) { return (*self).*field; });
  }

  /// How to save and restore: get_state(object) gives a value, set_state(value) makes an object of it.
  template <class GetStateFn, class SetStateFn>
  class_& def_pickle(GetStateFn&& get_state, SetStateFn&& set_state) {
    using SetTraits = c10::guts::infer_function_traits_t<std::decay_t<SetStateFn>>;
    using State = std::decay_t<c10::guts::typelist::head_t<typename SetTraits::parameter_types>>;
    static_assert(std::is_same_v<typename SetTraits::return_type, Ptr>, "set_state must return c10::intrusive_ptr<T>");
    def("__getstate__", std::forward<GetStateFn>(get_state));
    auto restore = [set_state = std::decay_t<SetStateFn>(std::forward<SetStateFn>(set_state))](
                       c10::IValue self, State state) mutable { store(self, set_state(std::move(state))); };
    add_self_method("__setstate__", std::move(restore), "", {});
    check_pickle();
    return *this;
  }

 private:
  // The holder for the new object comes in as first argument; its slot gets the C++ object.
  static void store(const c10::IValue& self, Ptr object) {
    self.toObjectRef().setSlot(0, c10::IValue::make_capsule(std::move(object)));
  }
  template <class Func>
  class_& def_init(Func f, std::string doc_string, std::initializer_list<arg> default_args) {
    add_self_method("__init__", std::move(f), std::move(doc_string), default_args);
    return *this;
  }
  template <class Func>
  static std::function<void(jit::Stack&)> boxed(Func f) {
    return [f = std::move(f)](jit::Stack& stack) mutable { detail::call_boxed(f, stack); };
  }
  template <class Func>
  void add_self_method(const char* name, Func f, std::string doc_string, std::initializer_list<arg> default_args) {
    c10::FunctionSchema schema = c10::inferFunctionSchemaSingleReturn<Func>(name);
    std::vector<c10::Argument> arguments = schema.arguments();
    arguments[0] = c10::Argument(arguments[0].name(), classTypePtr_);
    add_method(
        name, schema.cloneWithArguments(std::move(arguments)), boxed(std::move(f)), std::move(doc_string), default_args,
        false);
  }
  template <class Func>
  jit::Function* define(
      std::string name, Func f, std::string doc_string, std::initializer_list<arg> default_args, bool is_static) {
    c10::FunctionSchema schema = c10::inferFunctionSchemaSingleReturn<Func>(name);
    return add_method(
        std::move(name), std::move(schema), boxed(std::move(f)), std::move(doc_string), default_args, is_static);
  }
};

/// A value holding a new object of a bound class.
template <class CurClass, class... CtorArgs>
c10::IValue make_custom_class(CtorArgs&&... args) {
  return c10::IValue(c10::make_intrusive<CurClass>(std::forward<CtorArgs>(args)...));
}

/// Whether the value holds an object of some bound class.
TORCH_API bool isCustomClass(const c10::IValue& v);

template <class CurClass>
class_<CurClass> Library::class_(const std::string& class_name) {
  TORCH_CHECK(
      kind_ == DEF || kind_ == FRAGMENT, "class_(\"", class_name,
      "\"): Cannot define a class inside of a TORCH_LIBRARY_IMPL block.  All class_()s should be placed in the "
      "(unique) TORCH_LIBRARY ",
      "block for their namespace.  ", debugString());
  torch::class_<CurClass> bound(ns_, class_name);
  registrarsAdd(detail::bound_class(ns_, class_name));
  return bound;
}

namespace jit {
using ::torch::CustomClassHolder;
using ::torch::class_;
using ::torch::getCustomClass;
using ::torch::isCustomClass;
using ::torch::init;
} // namespace jit

} // namespace torch
