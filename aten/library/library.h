#pragma once

// Registering operators:
//
//   TORCH_LIBRARY(myops, m) {
//     m.def("add_one(Tensor self) -> Tensor");
//   }
//   TORCH_LIBRARY_IMPL(myops, CPU, m) {
//     m.impl("add_one", &add_one_cpu);
//   }
//
// Everything that a block registers is undone when the library that contains it is unloaded.

#include <aten/core/boxing/KernelFunction.h>
#include <aten/core/dispatch/CppSignature.h>
#include <aten/core/dispatch/RegistrationHandleRAII.h>
#include <aten/core/enum_tag.h>
#include <aten/core/op_registration/infer_schema.h>
#include <aten/core/op_registration/op_allowlist.h>
#include <c10/core/DispatchKey.h>
#include <c10/core/DeviceType.h>
#include <c10/util/Indirect.h>
#include <c10/util/OwnedPtr.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <variant>
#include <vector>

namespace torch {

template <class CurClass>
class class_;
class Library;

/// A kernel on its way into a Library: made implicitly from functions, TORCH_FN(f), lambdas and functors, or by the
/// static functions.
class TORCH_API CppFunction final {
 public:
  /// From a function or function pointer.
  template <class Func>
  explicit CppFunction(Func* f, std::enable_if_t<std::is_function_v<Func>, std::nullptr_t> = nullptr)
      : CppFunction(
            c10::KernelFunction::makeFromUnboxedRuntimeFunction(f),
            &c10::impl::CppSignature::type<Func>(),
            schema_of<Func>()) {}
  /// From TORCH_FN(f).
  template <class FuncPtr>
  explicit CppFunction(
      FuncPtr f, std::enable_if_t<c10::is_compile_time_function_pointer<FuncPtr>::value, std::nullptr_t> = nullptr)
      : CppFunction(
            c10::KernelFunction::makeFromUnboxedFunction(f),
            &c10::impl::CppSignature::type<typename FuncPtr::FuncType>(),
            schema_of<typename FuncPtr::FuncType>()) {}
  /// From a lambda or another object with operator(), which is kept.
  template <class Lambda>
  explicit CppFunction(
      Lambda&& f,
      std::enable_if_t<
          c10::guts::is_functor<std::decay_t<Lambda>>::value &&
              !std::is_base_of_v<c10::OperatorKernel, std::decay_t<Lambda>> &&
              !c10::is_compile_time_function_pointer<std::decay_t<Lambda>>::value,
          std::nullptr_t> = nullptr)
      : CppFunction(
            c10::KernelFunction::makeFromUnboxedLambda(std::forward<Lambda>(f)),
            &c10::impl::CppSignature::type<std::decay_t<Lambda>>(),
            schema_of<std::decay_t<Lambda>>()) {}
  /// From an object derived from OperatorKernel.
  template <class Functor>
  explicit CppFunction(
      Functor f, std::enable_if_t<std::is_base_of_v<c10::OperatorKernel, Functor>, std::nullptr_t> = nullptr)
      : CppFunction(makeFromUnboxedFunctor(std::make_unique<Functor>(std::move(f)))) {}

  ~CppFunction();
  CppFunction(const CppFunction&) = delete;
  CppFunction& operator=(const CppFunction&) = delete;
  CppFunction(CppFunction&&) noexcept;
  CppFunction& operator=(CppFunction&&) = default;

  /// "Go on with the next key."
  static CppFunction makeFallthrough() {
    return CppFunction(c10::KernelFunction::makeFallthrough(), nullptr, nullptr);
  }
  /// Throws when called: for the Named key.
  static CppFunction makeNamedNotSupported() {
    return CppFunction(c10::KernelFunction::makeNamedNotSupported(), nullptr, nullptr);
  }
  /// From void(const OperatorHandle&, Stack*) or void(const OperatorHandle&, DispatchKeySet, Stack*).
  template <auto* func>
  static CppFunction makeFromBoxedFunction() {
    return CppFunction(c10::KernelFunction::makeFromBoxedFunction<func>(), nullptr, nullptr);
  }
  template <class KernelFunctor>
  static CppFunction makeFromBoxedFunctor(std::unique_ptr<KernelFunctor> kernel_functor) {
    return CppFunction(c10::KernelFunction::makeFromBoxedFunctor(std::move(kernel_functor)), nullptr, nullptr);
  }
  static CppFunction makeFromBoxedKernel(c10::BoxedKernel kernel) {
    return CppFunction(c10::KernelFunction::makeFromBoxedKernel(std::move(kernel)), nullptr, nullptr);
  }
  /// A boxed kernel for Autograd keys that unboxed calls skip while nothing requires grad.
  static CppFunction makeBoxedAutogradFallback(c10::BoxedKernel kernel) {
    return CppFunction(c10::KernelFunction::makeBoxedAutogradFallback(std::move(kernel)), nullptr, nullptr);
  }
  template <class Functor>
  static CppFunction makeFromUnboxedFunctor(std::unique_ptr<Functor> functor) {
    return CppFunction(
        c10::KernelFunction::makeFromUnboxedFunctor<false, Functor>(std::move(functor)),
        &c10::impl::CppSignature::type<Functor>(), schema_of<Functor>());
  }
  template <class Func, std::enable_if_t<c10::guts::is_function_type<Func>::value, std::nullptr_t> = nullptr>
  static CppFunction makeFromUnboxedFunction(Func* f) {
    return CppFunction(f);
  }
  template <
      class FuncPtr,
      std::enable_if_t<c10::is_compile_time_function_pointer<FuncPtr>::value, std::nullptr_t> = nullptr>
  static CppFunction makeFromUnboxedFunction(FuncPtr f) {
    return CppFunction(f);
  }
  /// Where it was written, for messages and dumps.
  CppFunction&& debug(std::string where) && {
    debug_ = std::move(where);
    return std::move(*this);
  }

 private:
  // Boxed kernels have no signature and no schema.
  CppFunction(c10::KernelFunction func, const std::type_info* signature, c10::OwnedPtr<c10::FunctionSchema> schema);
  template <class Func>
  static c10::OwnedPtr<c10::FunctionSchema> schema_of() {
    return c10::OwnedPtr<c10::FunctionSchema>(
        new c10::FunctionSchema(c10::inferFunctionSchemaFlattenedReturns<Func>()));
  }

  c10::DispatchKey dispatch_key_ = c10::DispatchKey::CatchAll; // that of the block
  c10::KernelFunction func_;
  const std::type_info* signature_;
  c10::OwnedPtr<c10::FunctionSchema> schema_;
  std::string debug_;

  friend class Library;
  template <class Func>
  friend CppFunction dispatch(c10::DispatchKey, Func&&);
};

/// `m.impl("op", torch::dispatch(torch::kCUDA, &f))`: the kernel for one key.
template <class Func>
CppFunction dispatch(c10::DispatchKey k, Func&& raw_f) {
  CppFunction f(std::forward<Func>(raw_f));
  f.dispatch_key_ = k;
  return f;
}
/// By device type. Throws for types that have no dispatch key.
TORCH_API c10::DispatchKey dispatch_key_of(c10::DeviceType type);
template <class Func>
CppFunction dispatch(c10::DeviceType type, Func&& raw_f) {
  return dispatch(dispatch_key_of(type), std::forward<Func>(raw_f));
}

/// Parses a schema. Throws c10::Error with the place marked.
TORCH_API c10::FunctionSchema schema(const char* str, c10::AliasAnalysisKind k, bool allow_typevars = false);
TORCH_API c10::FunctionSchema schema(const char* str, bool allow_typevars = false);
inline c10::FunctionSchema schema(const std::string& str, bool allow_typevars = false) {
  return schema(str.c_str(), allow_typevars);
}
inline c10::FunctionSchema&& schema(c10::FunctionSchema&& s) {
  return std::move(s);
}

namespace detail {

TORCH_API std::variant<c10::OperatorName, c10::FunctionSchema> constructSchemaOrName(const char* str);
TORCH_API std::variant<c10::OperatorName, c10::FunctionSchema> constructSchemaOrName(const std::string& str);
TORCH_API std::variant<c10::OperatorName, c10::FunctionSchema> constructSchemaOrName(c10::FunctionSchema&& s);
TORCH_API std::variant<c10::OperatorName, c10::FunctionSchema> constructSchemaOrName(c10::OperatorName&& n);

class TorchLibraryInit;

} // namespace detail

/// Whether to register, or only to check an earlier registration.
enum class _RegisterOrVerify { REGISTER, VERIFY };

/// Registers definitions and kernels for one namespace; what it registered lives as long as it does.
class TORCH_API Library final {
 public:
  enum Kind { DEF, IMPL, FRAGMENT };

  /// Use the TORCH_LIBRARY macros, or MAKE_TORCH_LIBRARY where the lifetime is the program's own business.
  Library(Kind kind, std::string ns, std::optional<c10::DispatchKey> k, const char* file, uint32_t line);
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  Library(Library&&) = default;
  Library& operator=(Library&&) = default;
  ~Library() = default;

  /// Defines an operator by its schema: "name(args) -> returns", without namespace.
  template <class Schema>
  Library& def(
      Schema&& raw_schema,
      const std::vector<at::Tag>& tags = {},
      _RegisterOrVerify rv = _RegisterOrVerify::REGISTER) & {
    return _def(schema(std::forward<Schema>(raw_schema)), nullptr, tags, rv);
  }
  /// Defines an operator and its kernel for every backend. With a name alone the schema is inferred from the function.
  template <class NameOrSchema, class Func>
  Library& def(NameOrSchema&& raw_name_or_schema, Func&& raw_f, const std::vector<at::Tag>& tags = {}) & {
    return _def(
        detail::constructSchemaOrName(std::forward<NameOrSchema>(raw_name_or_schema)),
        CppFunction(std::forward<Func>(raw_f)), tags);
  }
  /// Gives an operator a kernel, for the block's key or the one named with torch::dispatch. The operator may be defined
  /// later, elsewhere, or never.
  template <class Name, class Func>
  Library& impl(Name name, Func&& raw_f, _RegisterOrVerify rv = _RegisterOrVerify::REGISTER) & {
    return _impl(name, CppFunction(std::forward<Func>(raw_f)), rv);
  }
  /// The kernel for one key or device type, whatever the block's key says.
  template <class Name, class Dispatch, class Func>
  Library& impl(Name name, Dispatch&& key, Func&& raw_f) & {
    return _impl(name, dispatch(std::forward<Dispatch>(key), std::forward<Func>(raw_f)), _RegisterOrVerify::REGISTER);
  }
  /// The operator's name as this library knows it.
  c10::OperatorName _resolve(const char* name) const;
  /// impl() by its old name.
  template <class Name, class Func>
  Library& impl_UNBOXED(Name /*name*/, Func* /*raw_f*/) & {
    static_assert(c10::guts::false_t<Func>(), ".impl_UNBOXED(...) was removed. Please use .impl(...) instead.");
    return *this;
  }
  /// The kernel for operators that have none for the block's key. Only for namespace `_`.
  template <class Func>
  Library& fallback(Func&& raw_f) & {
    return _fallback(CppFunction(std::forward<Func>(raw_f)));
  }
  /// Binds a C++ class; needs <torch/custom_class.h>.
  template <class CurClass>
  torch::class_<CurClass> class_(const std::string& class_name);

  /// Names the Python module that would hold the operators' Python side. There is none; kept for sources that say it.
  Library& set_python_module(const char* /*pymodule*/, const char* /*context*/ = "") {
    return *this;
  }
  Library& impl_abstract_pystub(const char* /*pymodule*/, const char* /*context*/ = "") {
    return *this;
  }
  /// Undoes all registrations.
  void reset();
  /// Also undoes `raii` when this library goes.
  void registrarsAdd(c10::RegistrationHandleRAII raii);
  const std::string& ns() const;
  std::string debugString(const char* file, uint32_t line) const;
  std::string debugString() const {
    return debugString(file_, line_);
  }

 private:
  Library& _def(
      c10::FunctionSchema&& schema,
      c10::OperatorName* out_name,
      const std::vector<at::Tag>& tags,
      _RegisterOrVerify rv) &;
  Library& _def(
      std::variant<c10::OperatorName, c10::FunctionSchema>&& name_or_schema,
      CppFunction&& f,
      const std::vector<at::Tag>& tags) &;
  Library& _impl(const char* name, CppFunction&& f, _RegisterOrVerify rv = _RegisterOrVerify::REGISTER) &;
  Library& _impl(const std::string& name, CppFunction&& f, _RegisterOrVerify rv = _RegisterOrVerify::REGISTER) & {
    return _impl(name.c_str(), std::move(f), rv);
  }
  Library& _fallback(CppFunction&& f) &;
  c10::OperatorName _parseNameForLib(const char* name_str) const;

  Kind kind_;
  bool has_ns_; // false for the namespace `_`
  std::string ns_;
  c10::DispatchKey dispatch_key_; // CatchAll where the block has none
  const char* file_;
  uint32_t line_;
  c10::Indirect<std::vector<c10::RegistrationHandleRAII>> registrars_;
};

namespace detail {

/// Runs a TORCH_LIBRARY block at load time and holds what it registered.
class TorchLibraryInit final {
 public:
  using InitFn = void(Library&);
  TORCH_API TorchLibraryInit(
      Library::Kind kind,
      InitFn* fn,
      const char* ns,
      std::optional<c10::DispatchKey> k,
      const char* file,
      uint32_t line);

 private:
  Library lib_;
};

} // namespace detail
} // namespace torch

/// Defines the operators of a namespace; once for each namespace.
#define TORCH_LIBRARY(ns, m)                                                                               \
  static void TORCH_LIBRARY_init_##ns(torch::Library&);                                                    \
  static const torch::detail::TorchLibraryInit TORCH_LIBRARY_static_init_##ns(                             \
      torch::Library::DEF, &TORCH_LIBRARY_init_##ns, C10_STRINGIZE(ns), std::nullopt, __FILE__, __LINE__); \
  void TORCH_LIBRARY_init_##ns(torch::Library& m)

/// Adds operators to a namespace from any number of places.
#define TORCH_LIBRARY_FRAGMENT(ns, m) _TORCH_LIBRARY_FRAGMENT(ns, m, C10_UID)
#define _TORCH_LIBRARY_FRAGMENT(ns, m, uid)                                                                      \
  static void C10_CONCATENATE(TORCH_LIBRARY_FRAGMENT_init_##ns##_, uid)(torch::Library&);                        \
  static const torch::detail::TorchLibraryInit C10_CONCATENATE(TORCH_LIBRARY_FRAGMENT_static_init_##ns##_, uid)( \
      torch::Library::FRAGMENT, &C10_CONCATENATE(TORCH_LIBRARY_FRAGMENT_init_##ns##_, uid), C10_STRINGIZE(ns),   \
      std::nullopt, __FILE__, __LINE__);                                                                         \
  void C10_CONCATENATE(TORCH_LIBRARY_FRAGMENT_init_##ns##_, uid)(torch::Library & m)

/// Kernels for one dispatch key. The namespace `_` is for fallbacks, which serve operators of all namespaces.
#define TORCH_LIBRARY_IMPL(ns, k, m) _TORCH_LIBRARY_IMPL(ns, k, m, C10_UID)
#define _TORCH_LIBRARY_IMPL(ns, k, m, uid)                                                                         \
  static void C10_CONCATENATE(TORCH_LIBRARY_IMPL_init_##ns##_##k##_, uid)(torch::Library&);                        \
  static const torch::detail::TorchLibraryInit C10_CONCATENATE(TORCH_LIBRARY_IMPL_static_init_##ns##_##k##_, uid)( \
      torch::Library::IMPL, &C10_CONCATENATE(TORCH_LIBRARY_IMPL_init_##ns##_##k##_, uid), C10_STRINGIZE(ns),       \
      std::make_optional(c10::DispatchKey::k), __FILE__, __LINE__);                                                \
  void C10_CONCATENATE(TORCH_LIBRARY_IMPL_init_##ns##_##k##_, uid)(torch::Library & m)

/// Library objects with a lifetime of their own.
#define MAKE_TORCH_LIBRARY(ns) torch::Library(torch::Library::DEF, C10_STRINGIZE(ns), std::nullopt, __FILE__, __LINE__)
#define MAKE_TORCH_LIBRARY_IMPL(ns, k) \
  torch::Library(torch::Library::IMPL, C10_STRINGIZE(ns), std::make_optional(c10::DispatchKey::k), __FILE__, __LINE__)
