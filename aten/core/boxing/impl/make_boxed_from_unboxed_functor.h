#pragma once

#include <aten/core/Dimname.h>
#include <aten/core/IListRef.h>
#include <aten/core/boxing/OperatorKernel.h>
#include <aten/core/stack.h>
#include <c10/core/DispatchKeySet.h>
#include <c10/util/Metaprogramming.h>
#include <c10/util/TypeList.h>

#include <tuple>
#include <type_traits>
#include <utility>

// A kernel is written with plain C++ parameters. Here it gets its two stored forms: the unboxed one, always
// `Return(OperatorKernel*, DispatchKeySet, Params...)`, and the boxed one, which unpacks a stack.

namespace c10 {
class OperatorHandle;
}

namespace c10::impl {

template <class T>
inline constexpr bool always_false_v = false;

// --- from a value on the stack to a parameter
// ---------------------------------------------------------------------------

/// Owns what an optional ArrayRef parameter looks at.
template <class Values, class T>
struct OwnedOptionalArray {
  std::optional<Values> values;
  operator std::optional<ArrayRef<T>>() const {
    return values ? std::optional<ArrayRef<T>>(ArrayRef<T>(*values)) : std::nullopt;
  }
  operator OptionalArrayRef<T>() const {
    return values ? OptionalArrayRef<T>(ArrayRef<T>(*values)) : OptionalArrayRef<T>();
  }
};

// Sizes are the most frequent lists: keep the usual ones off the heap.
template <class T>
using OwnedArray = std::conditional_t<std::is_same_v<T, int64_t>, DimVector, std::vector<T>>;

/// `get(value)` gives something that converts to Param and lives until the end of the call expression.
template <class Param>
struct FromStack {
  using T = std::decay_t<Param>;
  static_assert(
      !std::is_integral_v<T> || std::is_same_v<T, int64_t> || std::is_same_v<T, bool>,
      "INVALID TYPE: Only int64_t and bool are supported as an integral argument type");
  static_assert(
      !std::is_same_v<T, float>, "INVALID TYPE: float is not supported as an argument type, use double instead");
  static_assert(
      !std::is_same_v<T, const char*>,
      "INVALID TYPE: const char* is not supported as an argument type, use std::string or std::string_view");
  static T get(IValue& value) {
    return std::move(value).to<T>();
  }
};
template <>
struct FromStack<const at::Tensor&> {
  static const at::Tensor& get(IValue& value) {
    return value.toTensor();
  }
};
template <>
struct FromStack<at::Tensor&> {
  static at::Tensor& get(IValue& value) {
    return value.toTensor();
  }
};
template <>
struct FromStack<const std::string&> {
  static const std::string& get(IValue& value) {
    return value.toStringRef();
  }
};
template <>
struct FromStack<std::string_view> {
  static std::string_view get(IValue& value) {
    return value.toStringView();
  }
};
template <>
struct TORCH_API FromStack<std::optional<std::string_view>> {
  static std::optional<std::string_view> get(IValue& value);
};
template <>
struct FromStack<const std::optional<std::string_view>&> : FromStack<std::optional<std::string_view>> {};
/// What impl::boxed_names() gave; "dimname::N" too.
TORCH_API at::Dimname unboxed_name(const IValue& value);
TORCH_API std::vector<at::Dimname> unboxed_names(const IValue& value);
template <>
struct FromStack<at::Dimname> {
  static at::Dimname get(IValue& value) {
    return unboxed_name(value);
  }
};
template <>
struct TORCH_API FromStack<at::DimnameList> {
  static std::vector<at::Dimname> get(IValue& value);
};
template <class T>
struct FromStack<ArrayRef<T>> {
  static OwnedArray<T> get(IValue& value) {
    return static_cast<const IValue&>(value).to<OwnedArray<T>>();
  }
};
template <class T>
struct FromStack<const ArrayRef<T>&> : FromStack<ArrayRef<T>> {};
template <>
struct TORCH_API FromStack<std::optional<at::DimnameList>> {
  static OwnedOptionalArray<std::vector<at::Dimname>, at::Dimname> get(IValue& value);
};
template <class T>
struct FromStack<OptionalArrayRef<T>> {
  static OwnedOptionalArray<OwnedArray<T>, T> get(IValue& value) {
    if (value.isNone()) {
      return {};
    }
    return {FromStack<ArrayRef<T>>::get(value)};
  }
};
template <class T>
struct FromStack<const OptionalArrayRef<T>&> : FromStack<OptionalArrayRef<T>> {};
template <class T>
struct FromStack<std::optional<ArrayRef<T>>> : FromStack<OptionalArrayRef<T>> {};
template <class T>
struct FromStack<const std::optional<ArrayRef<T>>&> : FromStack<OptionalArrayRef<T>> {};
template <>
struct FromStack<at::ITensorListRef> {
  static List<at::Tensor> get(IValue& value) {
    return value.toTensorList();
  }
};
template <>
struct FromStack<const at::ITensorListRef&> : FromStack<at::ITensorListRef> {};
template <>
struct FromStack<at::IOptTensorListRef> {
  static List<std::optional<at::Tensor>> get(IValue& value) {
    return value.toOptionalTensorList();
  }
};
template <>
struct FromStack<const at::IOptTensorListRef&> : FromStack<at::IOptTensorListRef> {};
template <>
struct FromStack<at::OptionalTensorRef> {
  static at::OptionalTensorRef get(IValue& value) {
    return value.isNone() ? at::OptionalTensorRef() : at::OptionalTensorRef(value.toTensor());
  }
};
template <>
struct FromStack<const at::OptionalTensorRef&> : FromStack<at::OptionalTensorRef> {};

// --- from a result to the stack
// -------------------------------------------------------------------------------------------

template <class T>
struct check_output {
  static_assert(
      !std::is_integral_v<T> || std::is_same_v<T, int64_t> || std::is_same_v<T, bool>,
      "INVALID TYPE: Only int64_t and bool are supported as an integral return type");
  static_assert(!std::is_same_v<T, float>, "INVALID TYPE: float is not supported as a return type, use double instead");
  static constexpr bool value = true;
};

template <class Output>
struct PushOutputs {
  static_assert(check_output<Output>::value);
  static void call(Output&& output, Stack* stack) {
    stack->emplace_back(std::move(output));
  }
};
template <class... Outputs>
struct PushOutputs<std::tuple<Outputs...>> {
  static void call(std::tuple<Outputs...>&& outputs, Stack* stack) {
    std::apply([stack](auto&&... each) { (stack->emplace_back(std::move(each)), ...); }, std::move(outputs));
  }
};

// References among the results (out= and in-place kernels) point into the stack, so they are copied before it changes.
template <class T>
struct owned_result {
  using type = std::decay_t<T>;
};
template <class... Ts>
struct owned_result<std::tuple<Ts...>> {
  using type = std::tuple<std::decay_t<Ts>...>;
};

// --- the two forms
// ----------------------------------------------------------------------------------------------------------

template <class List>
struct strip_key_set {
  using type = List;
  static constexpr bool had_key_set = false;
};
template <class... Params>
struct strip_key_set<guts::typelist::typelist<DispatchKeySet, Params...>> {
  using type = guts::typelist::typelist<Params...>;
  static constexpr bool had_key_set = true;
};

/// Takes `count` arguments off the stack, calls `invoke(first argument)`, pushes the results.
template <class Return, class Invoke>
void call_on_stack(size_t count, Stack* stack, Invoke&& invoke) {
  IValue* const args = stack->data() + (stack->size() - count);
  if constexpr (std::is_void_v<Return>) {
    invoke(args);
    torch::jit::drop(*stack, count);
  } else {
    typename owned_result<Return>::type result(invoke(args));
    torch::jit::drop(*stack, count);
    PushOutputs<typename owned_result<Return>::type>::call(std::move(result), stack);
  }
}

template <class KernelFunctor, class Return, class ParamList, bool takes_keys>
struct kernel_forms;
template <class KernelFunctor, class Return, class... Params, bool takes_keys>
struct kernel_forms<KernelFunctor, Return, guts::typelist::typelist<Params...>, takes_keys> {
  static Return unboxed(OperatorKernel* functor, DispatchKeySet keys, Params... args) {
    auto& kernel = *static_cast<KernelFunctor*>(functor);
    if constexpr (takes_keys) {
      return kernel(keys, std::forward<Params>(args)...);
    } else {
      (void)keys;
      return kernel(std::forward<Params>(args)...);
    }
  }
  static void boxed(OperatorKernel* functor, const OperatorHandle&, DispatchKeySet keys, Stack* stack) {
    boxed_impl(functor, keys, stack, std::index_sequence_for<Params...>());
  }

 private:
  template <size_t... I>
  static void boxed_impl(OperatorKernel* functor, DispatchKeySet keys, Stack* stack, std::index_sequence<I...>) {
    call_on_stack<Return>(sizeof...(Params), stack, [&](IValue* args) -> Return {
      (void)args; // unused without parameters
      return unboxed(functor, keys, FromStack<Params>::get(args[I])...);
    });
  }
};

template <class KernelFunctor>
struct kernel_forms_of {
  using traits = guts::infer_function_traits_t<KernelFunctor>;
  using stripped = strip_key_set<typename traits::parameter_types>;
  using type =
      kernel_forms<KernelFunctor, typename traits::return_type, typename stripped::type, stripped::had_key_set>;
};

/// libtorch's names for the two forms.
template <class KernelFunctor>
struct wrap_kernel_functor_unboxed final {
  static constexpr auto* call = &kernel_forms_of<KernelFunctor>::type::unboxed;
};
template <class KernelFunctor, bool AllowDeprecatedTypes = false>
struct make_boxed_from_unboxed_functor final {
  static constexpr auto* call = &kernel_forms_of<KernelFunctor>::type::boxed;
};

} // namespace c10::impl
