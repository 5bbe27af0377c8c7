// Hooks of modules: functions that see, and may replace, what goes into and comes out of a module, and their gradients.
//
// Hooks run when a module is called through its holder, as in `linear(x)`, or by a container. A direct call of
// `linear->forward(x)` does not run them, as in Python.
#pragma once

#include <c10/util/Indirect.h>
#include <c10/util/SharedOf.h>
#include <aten/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

extern template class TORCH_API c10::Indirect<std::vector<at::Tensor*>>;

namespace torch::nn {

class Module;

/// May replace the tensors among a module's arguments, in their order, before forward sees them.
using ForwardPreHook = std::function<void(Module&, std::vector<at::Tensor>& inputs)>;
/// Sees the tensors that went in and may replace those that come out.
using ForwardHook =
    std::function<void(Module&, const std::vector<at::Tensor>& inputs, std::vector<at::Tensor>& outputs)>;
/// Sees the gradients of a module's outputs and may replace those of its inputs. Undefined where there is none.
using BackwardHook =
    std::function<void(Module&, std::vector<at::Tensor>& grad_inputs, const std::vector<at::Tensor>& grad_outputs)>;

namespace detail {
struct HookLists;
} // namespace detail

/// Takes a hook away again. It may outlive the module.
class TORCH_API RemovableHandle {
 public:
  RemovableHandle() = default;
  RemovableHandle(const std::shared_ptr<detail::HookLists>& lists, int64_t id);
  void remove();

 private:
  std::weak_ptr<void> lists_;
  int64_t id_ = 0;
};

namespace detail {

/// A module's hooks and computed tensors; null for nearly all modules. A copy of a module has hooks of its own.
class TORCH_API ModuleHooks {
 public:
  ModuleHooks() = default;
  ModuleHooks(const ModuleHooks& other);
  ModuleHooks& operator=(const ModuleHooks& other);
  ModuleHooks(ModuleHooks&&) noexcept = default;
  ModuleHooks& operator=(ModuleHooks&&) noexcept = default;
  ~ModuleHooks() = default;

  bool empty() const noexcept;
  const c10::SharedOf<HookLists>& lists();

 private:
  c10::SharedOf<HookLists> lists_;
};

TORCH_API bool has_hooks(const Module& module);

/// The tensors of a call's arguments or result.
class TORCH_API TensorPointers {
 public:
  void add(at::Tensor& tensor);
  const std::vector<at::Tensor*>& get() const noexcept;

 private:
  c10::Indirect<std::vector<at::Tensor*>> pointers_;
};

/// One call of a module with hooks: the constructor deals with the inputs, finish with the outputs.
class TORCH_API HookedCall {
 public:
  HookedCall(Module& module, const TensorPointers& inputs);
  void finish(const TensorPointers& outputs);

 private:
  struct BackwardState;
  Module& module_;
  c10::SharedOf<HookLists> lists_;
  std::vector<at::Tensor> inputs_;
  c10::SharedOf<BackwardState> backward_;
};

/// Appends pointers to the tensors in `value`.
template <typename T>
void collect_tensors(T& value, TensorPointers& out);
template <typename... T>
void collect_from_tuple(std::tuple<T...>& values, TensorPointers& out) {
  std::apply([&](T&... value) { (collect_tensors(value, out), ...); }, values);
}
template <typename T>
struct is_optional : std::false_type {};
template <typename T>
struct is_optional<std::optional<T>> : std::true_type {};
template <typename T>
struct is_tuple : std::false_type {};
template <typename... T>
struct is_tuple<std::tuple<T...>> : std::true_type {};

template <typename T>
void collect_tensors(T& value, TensorPointers& out) {
  if constexpr (std::is_same_v<T, at::Tensor>) {
    out.add(value);
  } else if constexpr (std::is_same_v<T, std::vector<at::Tensor>>) {
    for (at::Tensor& tensor : value) {
      out.add(tensor);
    }
  } else if constexpr (is_optional<T>::value) {
    if (value) {
      collect_tensors(*value, out);
    }
  } else if constexpr (is_tuple<T>::value) {
    collect_from_tuple(value, out);
  }
}

template <typename C, typename... Args>
auto hooked_forward(C& module, std::decay_t<Args>... args) {
  TensorPointers inputs;
  (collect_tensors(args, inputs), ...);
  HookedCall call(module, inputs);
  auto result = module.forward(
      static_cast<std::conditional_t<std::is_lvalue_reference_v<Args>, std::decay_t<Args>&, std::decay_t<Args>&&>>(
          args)...);
  TensorPointers outputs;
  collect_tensors(result, outputs);
  call.finish(outputs);
  return result;
}

/// `module.forward(args...)` between the module's hooks.
template <typename C, typename... Args>
decltype(auto) call_forward(C& module, Args&&... args) {
  using Result = decltype(module.forward(std::forward<Args>(args)...));
  if constexpr (std::is_base_of_v<Module, C> && !std::is_void_v<Result> && !std::is_reference_v<Result>) {
    if (has_hooks(module)) {
      return hooked_forward<C, Args...>(module, std::forward<Args>(args)...);
    }
  }
  return module.forward(std::forward<Args>(args)...);
}

} // namespace detail
} // namespace torch::nn
