// torch::export_: a module as a program.
#pragma once

#include <csrc/capture/structure.h>
#include <csrc/nn/Module.h>
#include <csrc/nn/pimpl.h>
#include <csrc/program/exported_program.h>
#include <c10/util/Exception.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace torch {

/// A size of an argument that may be another in each call of a program.
struct DynamicDim {
  /// `arg` is the argument's name, or "0", "1", ... for its place; tensors in structures are "xs[1]" and "d['key']".
  DynamicDim(std::string arg, int64_t dim, std::optional<int64_t> min = {}, std::optional<int64_t> max = {})
      : arg(std::move(arg)), dim(dim), min(min), max(max) {}

  std::string arg;
  int64_t dim;
  /// The least and the greatest size. Without them those of 2 and more are taken, and 1 where the code does the same
  /// for it.
  std::optional<int64_t> min, max;
};

/// Options of export_().
struct ExportOptions {
  /// Names of the arguments, "arg0", "arg1", ... where there are none.
  std::vector<std::string> arg_names = {};
  /// Modules that the function uses: their parameters and buffers become the program's.
  std::vector<std::shared_ptr<nn::Module>> modules = {};
  /// Sizes that may differ from call to call: `{{"x", 0}, {"mask", 0}}`.
  std::vector<DynamicDim> dynamic = {};
};

namespace capture {

/// The function as one of leaves: of its arguments, and of its results.
using ExportRun = std::function<Shape(const std::vector<c10::IValue>& inputs, Leaves& results)>;

/// Runs the function on the inputs, and on others where sizes are dynamic, and makes a program of what it did. Throws
/// what it cannot capture. `args` has an element for each argument.
TORCH_API ExportedProgram export_function(
    const ExportRun& run, const Leaves& inputs, const std::vector<Shape>& args, const ExportOptions& options);

/// The names of arguments.
TORCH_API std::vector<std::string> argument_names(size_t count, const std::vector<std::string>& given);

/// A program of a function that takes the elements of a tuple.
template <class F, class... Args>
ExportedProgram export_call(F& function, const std::tuple<Args...>& args, const ExportOptions& options) {
  static_assert(std::is_invocable_v<F&, const Args&...>, "export_: the function does not take these arguments");
  const std::vector<std::string> names = argument_names(sizeof...(Args), options.arg_names);
  Leaves inputs;
  std::vector<Shape> shapes;
  std::apply(
      [&](const Args&... arg) { (shapes.push_back(Structure<Args>::add(arg, names[shapes.size()], inputs)), ...); },
      args);
  const auto run = [&](const std::vector<c10::IValue>& values, Leaves& results) {
    Leaves taken{values, {}, 0};
    const auto call = Structure<std::tuple<Args...>>::take(args, taken);
    const auto result = std::apply(function, call);
    return Structure<std::decay_t<decltype(result)>>::add(result, "result", results);
  };
  return export_function(run, inputs, shapes, options);
}

template <size_t>
using TensorOf = at::Tensor;

template <size_t... I>
std::tuple<TensorOf<I>...> tuple_of(const std::vector<at::Tensor>& tensors, std::index_sequence<I...>) {
  return {tensors[I]...};
}

template <class F, size_t... I>
constexpr bool takes_tensors(std::index_sequence<I...>) {
  return std::is_invocable_v<F&, const TensorOf<I>&...>;
}

/// A program of a function of up to eight tensors.
template <size_t N = 0, class F>
ExportedProgram export_tensors(F& function, const std::vector<at::Tensor>& inputs, const ExportOptions& options) {
  if constexpr (N > 8) {
    TORCH_CHECK(
        false, "export_: functions of more than 8 tensors take a tuple of arguments, got a vector of ", inputs.size());
  } else if (inputs.size() != N) {
    return export_tensors<N + 1>(function, inputs, options);
  } else if constexpr (takes_tensors<F>(std::make_index_sequence<N>())) {
    return export_call(function, tuple_of(inputs, std::make_index_sequence<N>()), options);
  } else {
    TORCH_CHECK(false, "export_: the function does not take ", N, " tensors");
  }
}

/// A module's forward() as a function.
template <class M>
struct Forward {
  std::shared_ptr<M> module;
  template <class... T>
  auto operator()(const T&... args) const -> decltype(std::declval<M&>().forward(args...)) {
    return module->forward(args...);
  }
};

template <class F>
using IfFunction = std::enable_if_t<!torch::detail::is_module_holder<std::decay_t<F>>::value>;

} // namespace capture

/// Makes a program of a function of tensors (up to eight): its graph, and the tensors that it refers to. The program is
/// for inputs of the same sizes, but for those that `options.dynamic` names. The results may be tensors, numbers, and
/// vectors, tuples and maps by name of them, and are such in the program.
///
///     auto program = torch::export_([&](const torch::Tensor& x) { return net->forward(x); }, {x}, {{"x"},
///     {net.ptr()}, {{"x", 0}}});
///     program.save("net.pt2");
///
/// Throws c10::Error for what compile() cannot capture, and for sizes that the code fixes, naming the operator that
/// does. Sizes that must be equal (or twice another) are found. What the code writes to buffers and arguments is
/// undone.
template <class F, class = capture::IfFunction<F>>
ExportedProgram export_(F&& function, const std::vector<at::Tensor>& inputs, const ExportOptions& options = {}) {
  std::decay_t<F> callable(std::forward<F>(function));
  return capture::export_tensors(callable, inputs, options);
}

/// The same of a function of other arguments, which a tuple holds: numbers and strings are constants of the program.
///
///     auto program = torch::export_(f, std::make_tuple(std::vector<torch::Tensor>{a, b}, 0.5), {{"xs", "scale"}});
template <class F, class First, class... Rest, class = capture::IfFunction<F>>
ExportedProgram export_(F&& function, const std::tuple<First, Rest...>& args, const ExportOptions& options = {}) {
  std::decay_t<F> callable(std::forward<F>(function));
  return capture::export_call(callable, args, options);
}

/// The same of a module: a holder such as torch::nn::Linear. Its parameters and buffers are the program's.
template <class M>
ExportedProgram export_(
    const nn::ModuleHolder<M>& module, const std::vector<at::Tensor>& inputs, ExportOptions options = {}) {
  options.modules.insert(options.modules.begin(), module.ptr());
  return export_(capture::Forward<M>{module.ptr()}, inputs, options);
}
template <class M, class First, class... Rest>
ExportedProgram export_(
    const nn::ModuleHolder<M>& module, const std::tuple<First, Rest...>& args, ExportOptions options = {}) {
  options.modules.insert(options.modules.begin(), module.ptr());
  return export_(capture::Forward<M>{module.ptr()}, args, options);
}

} // namespace torch
