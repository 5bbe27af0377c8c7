// Traces of functions and of nn::Modules as TorchScript modules.
//
//   torch::jit::Module traced = torch::jit::trace(net, x);                       // an nn::Module, or its holder
//   torch::jit::Module traced = torch::jit::trace(f, std::make_tuple(x, y));     // any function of tensors
//   traced.save("net.pt");
#pragma once

#include <c10/util/Metaprogramming.h>
#include <csrc/jit/api/module.h>
#include <csrc/jit/tracing/tracer.h>
#include <csrc/nn/Module.h>
#include <csrc/nn/pimpl.h>

#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace torch::jit {

struct TraceOptions {
  /// Traces and runs a second time: throws if the graphs differ, warns if the results do. Random numbers are drawn from
  /// the same state, and parameters and buffers are as after one run.
  bool check_trace = true;
  /// By how much results may differ, relatively and absolutely.
  double check_tolerance = 1e-5;
  /// See tracer::TracingState.
  bool strict = true;
  bool force_outplace = false;
  /// Names of the inputs in the graph; none, or one for each.
  std::vector<std::string> argument_names;
  /// Of the module's class.
  std::string name = "Traced";
};

/// As below, from functions on stacks: the general form. `module` is null for functions.
TORCH_API Module trace(
    const std::function<Stack(Stack)>& function,
    nn::Module* module,
    Stack example_inputs,
    const TraceOptions& options = {});

namespace detail {

template <class T>
nn::Module* traced_module_of(T& callable) {
  if constexpr (std::is_base_of_v<nn::Module, T>) {
    return &callable;
  } else if constexpr (torch::detail::is_module_holder<T>::value) {
    return callable.get();
  } else {
    return nullptr;
  }
}
template <class T>
nn::Module* traced_module_of(std::shared_ptr<T>& module) {
  return module.get();
}

template <class T, class... Args>
decltype(auto) call_traced(T& callable, Args&&... args) {
  if constexpr (std::is_base_of_v<nn::Module, T>) {
    return nn::detail::call_forward(callable, std::forward<Args>(args)...);
  } else {
    return callable(std::forward<Args>(args)...);
  }
}
template <class T, class... Args>
decltype(auto) call_traced(std::shared_ptr<T>& module, Args&&... args) {
  return nn::detail::call_forward(*module, std::forward<Args>(args)...);
}

template <class Callable, class... Inputs, size_t... I>
Stack call_with_stack(Callable& callable, Stack& stack, std::index_sequence<I...>) {
  using Result = std::decay_t<decltype(call_traced(callable, stack[I].to<Inputs>()...))>;
  static_assert(!std::is_void_v<Result>, "a traced function returns a tensor, or a list or tuple of tensors");
  return {c10::IValue(Result(call_traced(callable, stack[I].to<Inputs>()...)))};
}

} // namespace detail

/// Runs `callable` on example inputs and returns a module whose `forward` does what it did. It may be
/// - an nn::Module, a holder or a shared pointer of one: parameters, buffers and submodules keep their names and share
///   their tensors with it, `training` is as it is, and nodes know in which submodule they were made;
/// - any other function of tensors, or of what IValues hold: tensors that it refers to become constants, and must not
///   require gradients.
///
/// Control flow and numbers that come from tensors (`x.size(0)`, `x.item()`) are as they were in this run. Throws what
/// the callable throws; see TraceOptions for checks and warnings, and tracer::trace for what may go in and out.
template <class Callable, class... Inputs>
Module trace(Callable&& callable, const std::tuple<Inputs...>& example_inputs, const TraceOptions& options = {}) {
  auto run = [&callable](Stack stack) {
    return detail::call_with_stack<std::remove_reference_t<Callable>, std::decay_t<Inputs>...>(
        callable, stack, std::index_sequence_for<Inputs...>());
  };
  Stack inputs = std::apply([](const auto&... input) { return Stack{c10::IValue(input)...}; }, example_inputs);
  return trace(std::function<Stack(Stack)>(run), detail::traced_module_of(callable), std::move(inputs), options);
}
template <class Callable>
Module trace(Callable&& callable, const at::Tensor& example_input, const TraceOptions& options = {}) {
  return trace(std::forward<Callable>(callable), std::make_tuple(example_input), options);
}

} // namespace torch::jit
