#pragma once

#include <aten/core/boxing/BoxedKernel.h>
#include <aten/core/boxing/impl/WrapFunctionIntoFunctor.h>
#include <aten/core/boxing/impl/boxing.h>
#include <aten/core/boxing/impl/make_boxed_from_unboxed_functor.h>
#include <c10/core/GradMode.h>
#include <c10/core/SymInt.h>
#include <c10/core/SymIntArrayRef.h>

#include <memory>
#include <string>
#include <type_traits>

namespace c10 {

template <class FuncType>
class TypedOperatorHandle;

// --- symbolic and plain integers
// -------------------------------------------------------------------------------------------

template <class T>
struct has_symint : std::false_type {};
template <>
struct has_symint<c10::SymInt> : std::true_type {};
template <>
struct has_symint<c10::SymIntArrayRef> : std::true_type {};
template <>
struct has_symint<c10::OptionalArrayRef<c10::SymInt>> : std::true_type {};
template <>
struct has_symint<std::optional<c10::SymInt>> : std::true_type {};
template <class T>
inline constexpr bool has_symint_v = has_symint<std::decay_t<T>>::value;

/// The same parameter with plain integers, and the checked conversion (which throws for symbolic values).
template <class T>
struct remove_symint {
  using type = T;
  static T&& unpack(std::remove_reference_t<T>& value) {
    return static_cast<T&&>(value);
  }
};
template <>
struct remove_symint<c10::SymInt> {
  using type = int64_t;
  static int64_t unpack(const c10::SymInt& value) {
    return value.guard_int(__FILE__, __LINE__);
  }
};
template <>
struct remove_symint<std::optional<c10::SymInt>> {
  using type = std::optional<int64_t>;
  static std::optional<int64_t> unpack(const std::optional<c10::SymInt>& value) {
    return value ? std::optional<int64_t>(value->guard_int(__FILE__, __LINE__)) : std::nullopt;
  }
};
template <>
struct remove_symint<c10::SymIntArrayRef> {
  using type = c10::IntArrayRef;
  static c10::IntArrayRef unpack(c10::SymIntArrayRef value) {
    return C10_AS_INTARRAYREF_SLOW(value);
  }
};
template <>
struct remove_symint<c10::OptionalArrayRef<c10::SymInt>> {
  using type = c10::OptionalArrayRef<int64_t>;
  static type unpack(const c10::OptionalArrayRef<c10::SymInt>& value) {
    return value.has_value() ? type(C10_AS_INTARRAYREF_SLOW(*value)) : type();
  }
};
// A reference to a symbolic integer becomes a plain value.
template <>
struct remove_symint<const c10::SymInt&> : remove_symint<c10::SymInt> {};
template <>
struct remove_symint<const std::optional<c10::SymInt>&> : remove_symint<std::optional<c10::SymInt>> {};

template <class FuncType>
struct fn_has_symint;
template <class Return, class... Args>
struct fn_has_symint<Return(Args...)> : std::bool_constant<(has_symint_v<Args> || ...)> {};
template <class FuncType>
struct fn_remove_symint;
template <class Return, class... Args>
struct fn_remove_symint<Return(Args...)> {
  using type = Return(typename remove_symint<Args>::type...);
};

namespace impl {
template <class Traits>
struct params_have_symint;
template <class... Params>
struct params_have_symint<guts::typelist::typelist<Params...>> : std::bool_constant<(has_symint_v<Params> || ...)> {};

// Only tensors with autograd state can require grad, so for most this is one load and a test.
inline bool requires_grad_one(const at::TensorBase& tensor) {
  return tensor.requires_grad();
}
template <class T>
bool requires_grad_any(const T& arg) {
  using Arg = std::decay_t<T>;
  if constexpr (std::is_base_of_v<at::TensorBase, Arg>) {
    return requires_grad_one(arg);
  } else if constexpr (std::is_same_v<Arg, std::optional<at::Tensor>> || std::is_same_v<Arg, at::OptionalTensorRef>) {
    return arg.has_value() && requires_grad_one(*arg);
  } else if constexpr (
      std::is_same_v<Arg, at::TensorList> || std::is_same_v<Arg, std::vector<at::Tensor>> ||
      std::is_same_v<Arg, at::ITensorListRef> || std::is_same_v<Arg, ArrayRef<std::optional<at::Tensor>>>) {
    for (const auto& element : arg) {
      if (requires_grad_any(element)) {
        return true;
      }
    }
    return false;
  } else if constexpr (std::is_same_v<Arg, List<at::Tensor>> || std::is_same_v<Arg, List<std::optional<at::Tensor>>>) {
    for (size_t i = 0; i < arg.size(); ++i) {
      if (requires_grad_any(arg.get(i))) {
        return true;
      }
    }
    return false;
  } else {
    return false;
  }
}
} // namespace impl

/// A kernel that can be called both ways. A kernel made from a C++ function has both forms; one made from a boxed
/// function has only that, and unboxed calls box their arguments.
class TORCH_API KernelFunction final {
 public:
  using InternalBoxedKernelFunction = BoxedKernel::InternalBoxedKernelFunction;
  using BoxedKernelFunction = BoxedKernel::BoxedKernelFunction;
  using BoxedKernelFunction_withDispatchKeys = BoxedKernel::BoxedKernelFunction_withDispatchKeys;

  KernelFunction() = default;
  ~KernelFunction();
  KernelFunction(const KernelFunction&) = default;
  KernelFunction(KernelFunction&&) noexcept = default;
  KernelFunction& operator=(const KernelFunction&) = default;
  KernelFunction& operator=(KernelFunction&&) noexcept = default;

  bool isValidUnboxed() const {
    return unboxed_kernel_func_ != nullptr;
  }
  bool isValidSymUnboxed() const {
    return sym_unboxed_kernel_func_ != nullptr;
  }
  bool isValid() const {
    return boxed_kernel_func_.isValid();
  }
  bool isFallthrough() const {
    return boxed_kernel_func_.isFallthrough();
  }
  /// The code for unboxed calls with these parameters, where nothing is to be converted; else null. It is called by
  /// impl::call_unboxed with the functor.
  template <class... Args>
  C10_ALWAYS_INLINE void* unboxedFor() const {
    return (has_symint_v<Args> || ...) ? sym_unboxed_kernel_func_ : unboxed_kernel_func_;
  }
  OperatorKernel* functor() const {
    return boxed_kernel_func_.getFunctor();
  }

  void callBoxed(const OperatorHandle& op, DispatchKeySet keys, Stack* stack) const {
    boxed_kernel_func_.callBoxed(op, keys, stack);
  }
  /// Args must be the operator's own parameter types. `op` is an OperatorHandle or something that makes one.
  template <class Return, class... Args>
  C10_ALWAYS_INLINE Return call(const OperatorHandle& op, DispatchKeySet keys, Args... args) const {
    return callWith<Return, Args...>(op, keys, args...);
  }

  static KernelFunction makeFromBoxedKernel(BoxedKernel boxed_fn) {
    return KernelFunction(std::move(boxed_fn), nullptr, nullptr);
  }
  template <auto* func>
  static KernelFunction makeFromBoxedFunction() {
    return makeFromBoxedKernel(BoxedKernel::makeFromFunction<func>());
  }
  template <class KernelFunctor>
  static KernelFunction makeFromBoxedFunctor(std::unique_ptr<KernelFunctor> functor) {
    return makeFromBoxedKernel(BoxedKernel::makeFromFunctor(std::move(functor)));
  }
  /// A boxed kernel for Autograd keys that unboxed calls skip, going on below autograd, when no argument requires grad
  /// or grad mode is off.
  static KernelFunction makeBoxedAutogradFallback(BoxedKernel boxed_fn) {
    KernelFunction out = makeFromBoxedKernel(std::move(boxed_fn));
    out.skip_without_grad_ = true;
    return out;
  }

  /// From an object derived from OperatorKernel with an operator().
  template <bool AllowLegacyTypes = false, class KernelFunctor, class Held>
  static KernelFunction makeFromUnboxedFunctor(std::unique_ptr<Held> functor) {
    using forms = typename impl::kernel_forms_of<KernelFunctor>;
    void* unboxed = reinterpret_cast<void*>(&forms::type::unboxed);
    constexpr bool is_sym = impl::params_have_symint<typename forms::stripped::type>::value;
    return KernelFunction(
        BoxedKernel(intrusive_ptr<OperatorKernel>(std::move(functor)), &forms::type::boxed), is_sym ? nullptr : unboxed,
        is_sym ? unboxed : nullptr);
  }
  template <class FuncPtr, bool AllowLegacyTypes = false>
  static KernelFunction makeFromUnboxedFunction(FuncPtr) {
    static_assert(is_compile_time_function_pointer<FuncPtr>::value, "makeFromUnboxedFunction takes TORCH_FN(f)");
    using Functor = typename impl::WrapFunctionIntoFunctor<FuncPtr>::type;
    return makeFromUnboxedFunctor<AllowLegacyTypes, Functor>(std::make_unique<Functor>());
  }
  template <bool AllowLegacyTypes = false, class FuncType>
  static KernelFunction makeFromUnboxedRuntimeFunction(FuncType* func) {
    static_assert(std::is_function_v<FuncType>, "makeFromUnboxedRuntimeFunction takes a function pointer");
    TORCH_CHECK(func != nullptr, "Kernel function cannot be nullptr");
    using Functor = impl::WrapFunctionIntoRuntimeFunctor<FuncType*>;
    return makeFromUnboxedFunctor<AllowLegacyTypes, Functor>(std::make_unique<Functor>(func));
  }
  template <bool AllowLegacyTypes = false, class Lambda>
  static std::enable_if_t<guts::is_functor<std::decay_t<Lambda>>::value, KernelFunction> makeFromUnboxedLambda(
      Lambda&& lambda) {
    using Functor = impl::WrapFunctionIntoRuntimeFunctor<std::decay_t<Lambda>>;
    return makeFromUnboxedFunctor<AllowLegacyTypes, Functor>(std::make_unique<Functor>(std::forward<Lambda>(lambda)));
  }
  static KernelFunction makeFallthrough() {
    return makeFromBoxedKernel(BoxedKernel::makeFallthrough());
  }
  static KernelFunction makeAmbiguousAutogradOther() {
    return makeFromBoxedKernel(BoxedKernel::makeAmbiguousAutogradOther());
  }
  static KernelFunction makeNamedNotSupported() {
    return makeFromBoxedKernel(BoxedKernel::makeNamedNotSupported());
  }
  /// For generated tables: all forms are there already.
  KernelFunction(BoxedKernel boxed, void* unboxed, void* sym_unboxed)
      : boxed_kernel_func_(std::move(boxed)), unboxed_kernel_func_(unboxed), sym_unboxed_kernel_func_(sym_unboxed) {}

  std::string dumpState() const;
  /// Whether two kernels run the same code on the same state.
  bool _equalsBoxedAndUnboxed(const KernelFunction& other) const {
    return boxed_kernel_func_.getFnPtr() == other.boxed_kernel_func_.getFnPtr() &&
        unboxed_kernel_func_ == other.unboxed_kernel_func_ &&
        sym_unboxed_kernel_func_ == other.sym_unboxed_kernel_func_;
  }

 private:
  template <class FuncType>
  friend class TypedOperatorHandle;
  // By reference, because each copy on the way costs code for its end; values among the arguments are moved from at the
  // last.
  template <class Return, class... Args>
  C10_ALWAYS_INLINE Return
  callWith(const OperatorHandle& op, DispatchKeySet keys, std::remove_reference_t<Args>&... args) const;
  // The kernels that take their arguments in another form: plain integers, or boxed. One copy a signature.
  template <class Return, class... Args>
  C10_NOINLINE Return
  callConverted(const OperatorHandle& op, DispatchKeySet keys, std::remove_reference_t<Args>&... args) const;

  BoxedKernel boxed_kernel_func_;
  void* unboxed_kernel_func_ = nullptr;
  void* sym_unboxed_kernel_func_ = nullptr;
  bool skip_without_grad_ = false;
};

namespace impl {
template <class Return, class... Args>
C10_ALWAYS_INLINE Return call_unboxed(void* function, OperatorKernel* functor, DispatchKeySet keys, Args&&... args) {
  using Signature = Return(OperatorKernel*, DispatchKeySet, Args...);
  return (*reinterpret_cast<Signature*>(function))(functor, keys, static_cast<Args&&>(args)...);
}
} // namespace impl

template <class Return, class... Args>
C10_ALWAYS_INLINE Return
KernelFunction::callWith(const OperatorHandle& op, DispatchKeySet keys, std::remove_reference_t<Args>&... args) const {
  if (void* const function = unboxedFor<Args...>(); C10_LIKELY(function != nullptr)) {
    return impl::call_unboxed<Return, Args...>(
        function, boxed_kernel_func_.getFunctor(), keys, static_cast<Args&&>(args)...);
  }
  return callConverted<Return, Args...>(op, keys, args...);
}

template <class Return, class... Args>
Return KernelFunction::callConverted(
    const OperatorHandle& op, DispatchKeySet keys, std::remove_reference_t<Args>&... args) const {
  if constexpr ((has_symint_v<Args> || ...)) {
    if (C10_LIKELY(unboxed_kernel_func_ != nullptr)) {
      return impl::call_unboxed<Return, typename remove_symint<Args>::type...>(
          unboxed_kernel_func_, boxed_kernel_func_.getFunctor(), keys, remove_symint<Args>::unpack(args)...);
    }
  }
  if (skip_without_grad_ && !(GradMode::is_enabled() && (impl::requires_grad_any(args) || ...))) {
    return static_cast<const TypedOperatorHandle<Return(Args...)>&>(op).redispatch(
        keys & after_autograd_keyset, static_cast<Args&&>(args)...);
  }
  return impl::BoxedKernelWrapper<Return(Args...)>::call(boxed_kernel_func_, op, keys, args...);
}

} // namespace c10
