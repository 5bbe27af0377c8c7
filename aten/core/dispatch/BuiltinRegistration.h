#pragma once

#include <aten/core/boxing/KernelFunction.h>
#include <aten/core/dispatch/Dispatcher.h>
#include <aten/core/dispatch/operator_name_hash.h>
#include <aten/core/operator_name.h>

#include <cstddef>
#include <cstdint>
#include <new>
#include <string_view>
#include <typeinfo>
#include <utility>

// Registration of the library's own operators from constant tables. Generated sources hold the tables; registering them
// makes no strings, parses no schemas and builds no kernel objects before an operator is first used.

namespace c10::impl {

/// Throws c10::OutOfMemoryError in place of the std::bad_alloc that a call of the operator has met.
[[noreturn]] TORCH_API void report_out_of_memory(const OperatorEntry& entry);

/// Where generated code finds its operator: filled when the definition is registered, and never changed after.
///
/// Note [Memory that ends in a call]
/// Allocators of tensors throw c10::OutOfMemoryError, containers inside of kernels std::bad_alloc. Callers are to see
/// the first alone, so calls translate the second, here and in Dispatcher::callBoxed: while nothing is thrown a handler
/// costs nothing, and kernels need none of their own.
struct BuiltinSlot {
  OperatorEntry* entry = nullptr;

  template <class Signature, class... Args>
  C10_ALWAYS_INLINE decltype(auto) call(Args&&... args) const {
    try {
      return TypedOperatorHandle<Signature>(entry).call(std::forward<Args>(args)...);
    } catch (const std::bad_alloc&) {
      report_out_of_memory(*entry);
    }
  }
  template <class Signature, class... Args>
  C10_ALWAYS_INLINE decltype(auto) callFastPath(Args&&... args) const {
    try {
      return TypedOperatorHandle<Signature>(entry).callFastPath(std::forward<Args>(args)...);
    } catch (const std::bad_alloc&) {
      report_out_of_memory(*entry);
    }
  }
  template <class Signature, class... Args>
  C10_ALWAYS_INLINE decltype(auto) callFactory(
      std::optional<ScalarType> dtype,
      std::optional<Layout> layout,
      std::optional<Device> device,
      Args&&... args) const {
    try {
      return TypedOperatorHandle<Signature>(entry).callFactory(dtype, layout, device, std::forward<Args>(args)...);
    } catch (const std::bad_alloc&) {
      report_out_of_memory(*entry);
    }
  }
  template <class Signature, class... Args>
  C10_ALWAYS_INLINE decltype(auto) redispatch(DispatchKeySet keys, Args&&... args) const {
    return TypedOperatorHandle<Signature>(entry).redispatch(keys, std::forward<Args>(args)...);
  }
  /// Whether a call without tensors is known to come on this thread to `kernel`, one of the library's own, and nobody
  /// has asked to hear of it on the way. Known once a call has gone the usual way.
  template <auto* kernel>
  C10_ALWAYS_INLINE bool leadsTo() const;
  OperatorHandle handle() const {
    return OperatorHandle(entry);
  }
};

/// An operator's name of literals, with what finding it takes.
struct BuiltinName {
  constexpr BuiltinName() = default;
  constexpr BuiltinName(const char* name, const char* overload_name)
      : name(name),
        overload_name(overload_name),
        hash(OperatorNameHash::of(name, overload_name)),
        name_length(static_cast<uint8_t>(std::string_view(name).size())),
        overload_length(static_cast<uint8_t>(std::string_view(overload_name).size())) {}
  constexpr OperatorNameView view() const {
    return {{name, name_length}, {overload_name, overload_length}};
  }

  const char* name = nullptr;
  const char* overload_name = nullptr;
  uint32_t hash = 0;
  uint8_t name_length = 0;
  uint8_t overload_length = 0;
};

/// One operator.
struct BuiltinDefinition : BuiltinName {
  constexpr BuiltinDefinition() = default;
  /// `debug` says where it is defined, for messages.
  constexpr BuiltinDefinition(
      const char* name,
      const char* overload_name,
      const char* schema,
      const char* debug,
      BuiltinSlot* slot,
      const at::Tag* tags = nullptr,
      uint16_t tag_count = 0)
      : BuiltinName(name, overload_name), tag_count(tag_count), schema(schema), debug(debug), slot(slot), tags(tags) {}

  uint16_t tag_count = 0;
  const char* schema = nullptr;
  const char* debug = nullptr;
  BuiltinSlot* slot = nullptr;
  const at::Tag* tags = nullptr;
};

/// The two forms of a kernel function.
struct BuiltinKernel {
  void* unboxed;
  BoxedKernel::InternalBoxedKernelFunction* boxed;
  const std::type_info* signature;
  bool has_symint;
};

/// A kernel and the operator and key it is for. Rows for one operator should stand together.
struct BuiltinKernelRow : BuiltinName {
  constexpr BuiltinKernelRow() = default;
  constexpr BuiltinKernelRow(
      const char* name, const char* overload_name, DispatchKey key, const BuiltinKernel* kernel, const char* debug)
      : BuiltinName(name, overload_name), key(key), kernel(kernel), debug(debug) {}

  DispatchKey key = DispatchKey::Undefined;
  const BuiltinKernel* kernel = nullptr;
  const char* debug = nullptr;
};
// The dynamic linker shifts the addresses in each of thousands of rows.
static_assert(sizeof(BuiltinKernelRow) == 5 * sizeof(void*));

// One boxed form serves all kernels of a signature: the kernel's address comes as the functor.
struct UnboxedAddress final : OperatorKernel {
  explicit UnboxedAddress(void* function) : function(function) {}
  void* const function;
};

template <class Return, class ParamList>
struct boxed_by_signature;
template <class Return, class... Params>
struct boxed_by_signature<Return, guts::typelist::typelist<Params...>> {
  C10_NOINLINE static void call(OperatorKernel* functor, const OperatorHandle&, DispatchKeySet keys, Stack* stack) {
    call_impl(static_cast<UnboxedAddress*>(functor)->function, keys, stack, std::index_sequence_for<Params...>());
  }

 private:
  template <size_t... I>
  static void call_impl(void* function, DispatchKeySet keys, Stack* stack, std::index_sequence<I...>) {
    call_on_stack<Return>(sizeof...(Params), stack, [&](IValue* args) -> Return {
      (void)args; // unused without parameters
      return call_unboxed<Return, Params...>(function, nullptr, keys, FromStack<Params>::get(args[I])...);
    });
  }
};

template <auto* func, class Return, class ParamList>
struct builtin_unboxed;
template <auto* func, class Return, class... Params>
struct builtin_unboxed<func, Return, guts::typelist::typelist<Params...>> {
  static Return call(OperatorKernel*, DispatchKeySet, Params... args) {
    return func(std::forward<Params>(args)...);
  }
};
template <auto* func, class Return, class... Params>
struct builtin_unboxed<func, Return, guts::typelist::typelist<DispatchKeySet, Params...>> {
  static Return call(OperatorKernel*, DispatchKeySet keys, Params... args) {
    return func(keys, std::forward<Params>(args)...);
  }
};

// Rows point to these objects, because addresses are constants and casts of function pointers are not: so tables need
// no code at start-up.
template <auto* func>
struct BuiltinKernelOf {
  using traits = guts::infer_function_traits_t<decltype(func)>;
  using Return = typename traits::return_type;
  using Params = typename strip_key_set<typename traits::parameter_types>::type;
  static const BuiltinKernel value;
};
template <auto* func>
const BuiltinKernel BuiltinKernelOf<func>::value = {
    reinterpret_cast<void*>(&builtin_unboxed<func, Return, typename traits::parameter_types>::call),
    &boxed_by_signature<Return, Params>::call,
    &typeid(typename guts::make_function_traits_t<Return, Params>::func_type), params_have_symint<Params>::value};

template <class Params>
struct plain_code;
template <class... Params>
struct plain_code<guts::typelist::typelist<Params...>> {
  static void* of(const KernelFunction& kernel) {
    return kernel.unboxedFor<Params...>();
  }
};

template <auto* kernel>
C10_ALWAYS_INLINE bool BuiltinSlot::leadsTo() const {
  using Forms = BuiltinKernelOf<kernel>;
  if (C10_UNLIKELY(!is_default(raw_local_dispatch_key_set))) {
    return false;
  }
  const KernelFunction* const plain = entry->knownPlainKernel();
  return plain != nullptr && plain_code<typename Forms::Params>::of(*plain) == Forms::value.unboxed;
}

/// Table form of a kernel `Return f(args...)` or `Return f(DispatchKeySet, args...)`.
template <auto* func>
constexpr const BuiltinKernel* builtin_kernel() {
  return &BuiltinKernelOf<func>::value;
}

/// Registers tables, for good.
struct TORCH_API BuiltinRegistrar {
  static void define(const BuiltinDefinition* definitions, size_t count);
  static void implement(const BuiltinKernelRow* rows, size_t count);
};
struct BuiltinDefinitions {
  template <size_t N>
  explicit BuiltinDefinitions(const BuiltinDefinition (&definitions)[N]) {
    BuiltinRegistrar::define(definitions, N);
  }
};
struct BuiltinKernels {
  template <size_t N>
  explicit BuiltinKernels(const BuiltinKernelRow (&rows)[N]) {
    BuiltinRegistrar::implement(rows, N);
  }
};

} // namespace c10::impl
