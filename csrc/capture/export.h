// torch::export_: a module as a program.
#pragma once

#include <csrc/capture/flatten.h>
#include <csrc/nn/Module.h>
#include <csrc/nn/pimpl.h>
#include <csrc/program/exported_program.h>
#include <c10/util/Exception.h>

#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace torch {

/// Options of export_().
struct ExportOptions {
  /// Names of the arguments, "arg0", "arg1", ... where there are none.
  std::vector<std::string> arg_names = {};
  /// Modules that the function uses: their parameters and buffers become the program's.
  std::vector<std::shared_ptr<nn::Module>> modules = {};
};

namespace capture {

/// Runs the function on the inputs and makes a program of what it did. Throws what it cannot capture.
TORCH_API ExportedProgram export_function(
    const std::function<void(const std::vector<at::Tensor>&, Outputs&)>& run,
    const std::vector<at::Tensor>& inputs,
    const ExportOptions& options);

template <size_t>
using TensorOf = const at::Tensor&;

template <class F, size_t... I, class Use>
void call_if_it_can(F& function, const std::vector<at::Tensor>& inputs, std::index_sequence<I...>, const Use& use) {
  if constexpr (std::is_invocable_v<F&, TensorOf<I>...>) {
    use(function(inputs[I]...));
  } else {
    TORCH_CHECK(false, "export_: the function does not take ", sizeof...(I), " tensors");
  }
}

/// Calls a function of up to eight tensors with those in the vector.
template <size_t N = 0, class F, class Use>
void call_with(F& function, const std::vector<at::Tensor>& inputs, const Use& use) {
  if constexpr (N > 8) {
    TORCH_CHECK(false, "export_: functions of more than 8 tensors are not supported, got ", inputs.size());
  } else if (inputs.size() == N) {
    call_if_it_can(function, inputs, std::make_index_sequence<N>(), use);
  } else {
    call_with<N + 1>(function, inputs, use);
  }
}

/// A module's forward() as a function.
template <class M>
struct Forward {
  std::shared_ptr<M> module;
  template <class... T>
  auto operator()(const T&... tensors) const -> decltype(std::declval<M&>().forward(tensors...)) {
    return module->forward(tensors...);
  }
};

} // namespace capture

/// Makes a program of a function of tensors (up to eight): its graph, and the tensors that it refers to. The program is
/// for inputs of the same sizes. The results are tensors, or vectors and tuples of them, which become one tuple.
///
///     auto program = torch::export_([&](const torch::Tensor& x) { return net->forward(x); }, {x}, {{"x"},
///     {net.ptr()}});
///
/// Throws c10::Error for what compile() cannot capture.
template <class F, class = std::enable_if_t<!torch::detail::is_module_holder<std::decay_t<F>>::value>>
ExportedProgram export_(F&& function, const std::vector<at::Tensor>& inputs, const ExportOptions& options = {}) {
  std::decay_t<F> callable(std::forward<F>(function));
  const auto run = [&](const std::vector<at::Tensor>& tensors, capture::Outputs& outputs) {
    capture::call_with(callable, tensors, [&](auto&& result) {
      using Result = std::decay_t<decltype(result)>;
      outputs.is_single = std::is_same_v<Result, at::Tensor>;
      capture::Flatten<Result>::add(result, outputs);
    });
  };
  return capture::export_function(run, inputs, options);
}

/// The same of a module: a holder such as torch::nn::Linear. Its parameters and buffers are the program's.
template <class M>
ExportedProgram export_(
    const nn::ModuleHolder<M>& module, const std::vector<at::Tensor>& inputs, ExportOptions options = {}) {
  options.modules.insert(options.modules.begin(), module.ptr());
  return export_(capture::Forward<M>{module.ptr()}, inputs, options);
}

} // namespace torch
