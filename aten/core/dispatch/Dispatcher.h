#pragma once

#include <aten/core/boxing/KernelFunction.h>
#include <aten/core/dispatch/CppSignature.h>
#include <aten/core/dispatch/OperatorEntry.h>
#include <aten/core/dispatch/RegistrationHandleRAII.h>
#include <aten/core/function_schema.h>
#include <c10/core/DispatchKeySet.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace c10 {

template <class FuncType>
class TypedOperatorHandle;
class OperatorHandle;
namespace impl {
struct BuiltinName;
struct BuiltinRegistrar;
struct BuiltinSlot;
// Keeps the parameters of call() from taking part in deduction: the handle alone says what they are.
template <class T>
struct as_is {
  using type = T;
};
template <class T>
using as_is_t = typename as_is<T>::type;
} // namespace impl

/// Told when operators get or lose their schema. Called with the registration lock held.
class TORCH_API OpRegistrationListener {
 public:
  virtual ~OpRegistrationListener();
  virtual void onOperatorRegistered(const OperatorHandle& op) = 0;
  virtual void onOperatorDeregistered(const OperatorHandle& op) = 0;
};

/// Knows all operators and kernels, and brings each call to its kernel.
class TORCH_API Dispatcher final {
 public:
  static Dispatcher& singleton();
  static Dispatcher& realSingleton() {
    return singleton();
  }
  ~Dispatcher();

  // --- finding operators

  /// The operator with this schema name, if its schema is registered.
  std::optional<OperatorHandle> findSchema(const OperatorName& operator_name);
  /// Throws if there is none; the message names the nearest operators.
  OperatorHandle findSchemaOrThrow(const char* name, const char* overload_name);
  /// Also finds operators that have kernels but no schema yet.
  std::optional<OperatorHandle> findOp(const OperatorName& operator_name);
  OperatorHandle findOrRegisterName_(const OperatorName& op_name);
  /// Names of all operators with a schema.
  std::vector<OperatorName> getAllOpNames();
  std::vector<OperatorName> getAllOpNamesForDispatchKey(DispatchKey k);
  /// Names of the operators that have a kernel for this very key (or for any, without one).
  std::vector<OperatorName> getRegistrationsForDispatchKey(std::optional<DispatchKey> k) const;
  /// Operators with kernels but without schema: usually a misspelt name.
  std::vector<OperatorHandle> findDanglingImpls() const;

  // --- calling

  template <class Return, class... Args>
  C10_ALWAYS_INLINE Return call(const TypedOperatorHandle<Return(Args...)>& op, impl::as_is_t<Args>... args) const;
  template <class Return, class... Args>
  C10_ALWAYS_INLINE Return
  redispatch(const TypedOperatorHandle<Return(Args...)>& op, DispatchKeySet keys, impl::as_is_t<Args>... args) const;
  /// Throws c10::TypeError if the stack does not end with arguments for the operator.
  void callBoxed(const OperatorHandle& op, Stack* stack) const;
  void callBoxedForDispatchKey(const OperatorHandle& op, DispatchKey key, Stack* stack) const;
  void redispatchBoxed(const OperatorHandle& op, DispatchKeySet keys, Stack* stack) const;

  // --- registering; each is undone when its handle dies

  RegistrationHandleRAII registerDef(FunctionSchema schema, std::string debug);
  RegistrationHandleRAII registerDef(FunctionSchema schema, std::string debug, std::vector<at::Tag> tags);
  /// Without key the kernel serves every backend (CompositeImplicitAutograd).
  RegistrationHandleRAII registerImpl(
      OperatorName op_name,
      std::optional<DispatchKey> dispatch_key,
      KernelFunction kernel,
      std::optional<impl::CppSignature> cpp_signature,
      std::unique_ptr<FunctionSchema> inferred_function_schema,
      std::string debug);
  RegistrationHandleRAII registerName(OperatorName op_name);
  RegistrationHandleRAII registerFallback(DispatchKey dispatch_key, KernelFunction kernel, std::string debug);
  /// At most one TORCH_LIBRARY block for a namespace.
  RegistrationHandleRAII registerLibrary(std::string ns, std::string debug);
  /// The listener also hears of all operators that are there already.
  RegistrationHandleRAII addRegistrationListener(std::unique_ptr<OpRegistrationListener> listener);
  bool hasBackendFallbackForDispatchKey(DispatchKey key) const;

  void checkInvariants() const;

 private:
  Dispatcher();
  struct State;
  friend class impl::OperatorEntry;
  friend class OperatorHandle;

  impl::OperatorEntry& entry(OperatorNameView name);
  /// The caller holds the lock.
  impl::OperatorEntry& entry(const impl::BuiltinName& name);
  impl::OperatorEntry* find(OperatorNameView name) const;
  void notify(const impl::OperatorEntry& entry, bool registered) const;
  const impl::AnnotatedKernel* fallback(DispatchKey runtime_key) const;
  [[noreturn]] void reportUnknownOperator(const OperatorName& name) const;
  friend struct impl::BuiltinRegistrar;

  OwnedPtr<State> state_;
};

/// Names one operator; cheap to copy and valid for ever (an operator that was deregistered has no schema).
class TORCH_API OperatorHandle {
 public:
  OperatorHandle(const OperatorHandle&) noexcept = default;
  OperatorHandle& operator=(const OperatorHandle&) noexcept = default;

  const OperatorName& operator_name() const {
    return entry_->operator_name();
  }
  bool hasSchema() const {
    return entry_->hasSchema();
  }
  const FunctionSchema& schema() const {
    return entry_->schema();
  }
  std::string debug() const {
    return entry_->debug();
  }
  std::string dumpState() const {
    return entry_->dumpState();
  }
  std::string dumpComputedTable() const {
    return entry_->dumpComputedTable();
  }
  void checkInvariants() const {
    entry_->checkInvariants();
  }
  bool hasKernelForDispatchKey(DispatchKey k) const {
    return entry_->hasKernelForDispatchKey(k);
  }
  bool hasKernelForAnyDispatchKey(DispatchKeySet ks) const {
    return entry_->hasKernelForAnyDispatchKey(ks);
  }
  bool isKernelForDispatchKeyFallthroughKernel(DispatchKey k) const {
    return entry_->isKernelForDispatchKeyFallthroughKernel(k);
  }
  bool hasComputedKernelForDispatchKey(DispatchKey k) const {
    return entry_->hasComputedKernelForDispatchKey(k);
  }
  const KernelFunction& getComputedKernelForDispatchKey(DispatchKey k) const {
    return entry_->getComputedKernelForDispatchKey(k);
  }
  const std::vector<at::Tag>& getTags() const {
    return entry_->getTags();
  }
  bool hasTag(const at::Tag& tag) const {
    return entry_->hasTag(tag);
  }

  /// A handle for unboxed calls. FuncType must be the kernels' own C++ type, e.g. Tensor(const Tensor&, int64_t);
  /// throws if a kernel of another type is registered.
  template <class FuncType>
  TypedOperatorHandle<FuncType> typed() const {
    entry_->assertSignatureIsCorrect<FuncType>();
    return TypedOperatorHandle<FuncType>(entry_);
  }
  void callBoxed(Stack* stack) const {
    Dispatcher::singleton().callBoxed(*this, stack);
  }
  void callBoxed(Stack& stack) const {
    callBoxed(&stack);
  }
  void callBoxedForDispatchKey(DispatchKey key, Stack& stack) const {
    Dispatcher::singleton().callBoxedForDispatchKey(*this, key, &stack);
  }
  void redispatchBoxed(DispatchKeySet keys, Stack* stack) const {
    Dispatcher::singleton().redispatchBoxed(*this, keys, stack);
  }

  bool operator==(const OperatorHandle& other) const {
    return entry_ == other.entry_;
  }
  bool operator!=(const OperatorHandle& other) const {
    return entry_ != other.entry_;
  }
  impl::OperatorEntry* entry() const {
    return entry_;
  }

 protected:
  constexpr explicit OperatorHandle(impl::OperatorEntry* entry) : entry_(entry) {}
  friend class Dispatcher;
  friend class impl::OperatorEntry;
  friend struct impl::BuiltinSlot;
  template <class FuncType>
  friend class TypedOperatorHandle;

  impl::OperatorEntry* entry_;
};

template <class FuncType>
class TypedOperatorHandle final {
  static_assert(guts::false_t<FuncType>(), "FuncType in OperatorHandle::typed<FuncType> was not a valid function type");
};
template <class Return, class... Args>
class TypedOperatorHandle<Return(Args...)> final : public OperatorHandle {
 public:
  TypedOperatorHandle(const TypedOperatorHandle&) noexcept = default;
  TypedOperatorHandle& operator=(const TypedOperatorHandle&) noexcept = default;

  C10_ALWAYS_INLINE Return call(Args... args) const {
    const bool usual =
        detail::multi_dispatch_key_set(args...) == plain_cpu_keys && impl::is_default(impl::raw_local_dispatch_key_set);
    if (C10_LIKELY(usual)) {
      DispatchKeySet keys;
      const KernelFunction* const kernel = entry_->usualKernel(keys);
      if (void* const function = kernel ? kernel->template unboxedFor<Args...>() : nullptr;
          C10_LIKELY(function != nullptr)) {
        return impl::call_unboxed<Return, Args...>(function, kernel->functor(), keys, std::forward<Args>(args)...);
      }
    }
    return callAny(entry_, std::forward<Args>(args)...);
  }
  /// The same for generated stubs of operators with an Autograd kernel, that are neither views nor in-place: see
  /// Note [Fast path of calls].
  C10_ALWAYS_INLINE Return callFastPath(Args... args) const {
    const bool usual =
        detail::multi_dispatch_key_set(args...) == plain_cpu_keys && impl::is_default(impl::raw_local_dispatch_key_set);
    if (C10_LIKELY(usual)) {
      if (GradMode::is_enabled() && (impl::requires_grad_any(args) || ...)) {
        DispatchKeySet keys;
        const KernelFunction* const kernel = entry_->usualKernel(keys);
        if (void* const function = kernel ? kernel->template unboxedFor<Args...>() : nullptr;
            C10_LIKELY(function != nullptr)) {
          return impl::call_unboxed<Return, Args...>(function, kernel->functor(), keys, std::forward<Args>(args)...);
        }
        return callAny(entry_, std::forward<Args>(args)...);
      }
      const KernelFunction& kernel = entry_->fastPathKernel();
      if (void* const function = kernel.template unboxedFor<Args...>(); C10_LIKELY(function != nullptr)) {
        const impl::ExcludeFromDefaultGuard below(autograd_dispatch_keyset_with_ADInplaceOrView);
        return impl::call_unboxed<Return, Args...>(
            function, kernel.functor(), DispatchKeySet(DispatchKey::CPU), std::forward<Args>(args)...);
      }
    }
    return callAny(entry_, std::forward<Args>(args)...);
  }
  /// The same for factories that have a BackendSelect kernel and no tensors.
  C10_ALWAYS_INLINE Return callFactory(
      std::optional<ScalarType> dtype, std::optional<Layout> layout, std::optional<Device> device, Args... args) const {
    const bool dense_cpu = (!device.has_value() || device->is_cpu()) && (!layout.has_value() || *layout == kStrided) &&
        !(dtype.has_value() && isQIntType(*dtype));
    if (C10_LIKELY(dense_cpu && impl::is_default(impl::raw_local_dispatch_key_set))) {
      const KernelFunction& kernel = entry_->fastPathKernel();
      if (void* const function = kernel.template unboxedFor<Args...>(); C10_LIKELY(function != nullptr)) {
        return impl::call_unboxed<Return, Args...>(
            function, kernel.functor(), DispatchKeySet(DispatchKey::CPU), std::forward<Args>(args)...);
      }
    }
    return callAny(entry_, std::forward<Args>(args)...);
  }
  /// Goes to the kernel for the given keys, without looking at arguments and thread state.
  C10_ALWAYS_INLINE Return redispatch(DispatchKeySet keys, Args... args) const {
    if (C10_LIKELY(keys == DispatchKeySet(DispatchKey::CPU))) {
      const KernelFunction* const plain = entry_->knownPlainKernel();
      if (void* const function = plain ? plain->template unboxedFor<Args...>() : nullptr;
          C10_LIKELY(function != nullptr)) {
        return impl::call_unboxed<Return, Args...>(function, plain->functor(), keys, std::forward<Args>(args)...);
      }
    }
    return redispatchAny(entry_, keys, std::forward<Args>(args)...);
  }

 private:
  // The ways that are always open. One copy a signature: stubs hold only the short ways, which most calls take.
  C10_NOINLINE static Return callAny(impl::OperatorEntry* entry, Args... args) {
    const DispatchKeySet tensors = detail::multi_dispatch_key_set(args...);
    const bool usual = tensors == plain_cpu_keys && impl::is_default(impl::raw_local_dispatch_key_set);
    DispatchKeySet keys;
    const KernelFunction* kernel = C10_LIKELY(usual) ? entry->usualKernel(keys) : nullptr;
    if (C10_UNLIKELY(kernel == nullptr)) {
      keys = entry->dispatchKeyExtractor().threadKeys(tensors);
      kernel = &entry->lookup(keys);
    }
    return kernel->template callWith<Return, Args...>(OperatorHandle(entry), keys, args...);
  }
  C10_NOINLINE static Return redispatchAny(impl::OperatorEntry* entry, DispatchKeySet keys, Args... args) {
    if (keys == DispatchKeySet(DispatchKey::CPU)) {
      entry->fastPathKernel(); // from now on it is known
    }
    const KernelFunction& kernel = entry->lookup(keys);
    return kernel.template callWith<Return, Args...>(OperatorHandle(entry), keys, args...);
  }
  constexpr explicit TypedOperatorHandle(impl::OperatorEntry* entry) : OperatorHandle(entry) {}
  friend class OperatorHandle;
  friend struct impl::BuiltinSlot;
};

template <class Return, class... Args>
C10_ALWAYS_INLINE Return
Dispatcher::call(const TypedOperatorHandle<Return(Args...)>& op, impl::as_is_t<Args>... args) const {
  return op.call(std::forward<Args>(args)...);
}
template <class Return, class... Args>
C10_ALWAYS_INLINE Return Dispatcher::redispatch(
    const TypedOperatorHandle<Return(Args...)>& op, DispatchKeySet keys, impl::as_is_t<Args>... args) const {
  return op.redispatch(keys, std::forward<Args>(args)...);
}

} // namespace c10

template <>
struct std::hash<c10::OperatorHandle> {
  size_t operator()(const c10::OperatorHandle& op) const noexcept {
    return std::hash<const void*>()(op.entry());
  }
};
