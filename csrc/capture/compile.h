// torch::compile: a piece of C++ is recorded once, and then run as a graph.
#pragma once

#include <csrc/capture/compiled_function.h>
#include <csrc/capture/flatten.h>

#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

namespace torch {

/// A callable that compile() made; called with the arguments of what it was made from. Copies share what was recorded.
template <class F>
class Compiled {
 public:
  Compiled(F function, CompileOptions options)
      : function_(std::make_shared<F>(std::move(function))),
        core_(std::make_shared<capture::CompiledFunction>(std::move(options))) {}

  /// Runs the graph that was recorded for such arguments, or the function itself, which is recorded then.
  template <class... Args>
  auto operator()(Args&&... args) const {
    using Result = std::decay_t<std::invoke_result_t<F&, Args&&...>>;
    capture::Inputs inputs;
    (capture::Flatten<std::decay_t<Args>>::add(args, inputs), ...);
    capture::Outputs outputs;
    core_->call(inputs, outputs, [&](capture::Outputs& out) {
      if constexpr (std::is_void_v<Result>) {
        (*function_)(std::forward<Args>(args)...);
      } else {
        capture::Flatten<Result>::add((*function_)(std::forward<Args>(args)...), out);
      }
    });
    if constexpr (!std::is_void_v<Result>) {
      return capture::Flatten<Result>::take(outputs);
    }
  }

  /// What was recorded: entries with their guards and graphs, and why the function was recorded again.
  std::string explain() const {
    return core_->explain();
  }
  /// Forgets what was recorded.
  void reset() const {
    core_->reset();
  }
  const capture::CompiledFunction& core() const {
    return *core_;
  }

 private:
  std::shared_ptr<F> function_;
  std::shared_ptr<capture::CompiledFunction> core_;
};

/// Makes a callable that records `function` when it is first called with arguments of some kind, and then runs the
/// graph.
///
///     auto step = torch::compile([&](const torch::Tensor& x) { return net->forward(x).relu(); });
///     auto y = step(x);            // recorded
///     y = step(x);                 // run as a graph
///
/// Arguments and results may be tensors, numbers, strings, and vectors, tuples and optionals of them; results hold
/// tensors alone. What is recorded holds for tensors of the same dtype, device, sizes and strides, for the same
/// numbers, and for the same modes (gradients, autocast, default dtype); for others the function is recorded again.
/// Tensors that the function takes from elsewhere, such as parameters, are held by reference.
///
/// What cannot be captured is run as it is, and said so in one warning; see CompileOptions and Note [Recording].
template <class F>
Compiled<std::decay_t<F>> compile(F&& function, CompileOptions options = {}) {
  return {std::forward<F>(function), std::move(options)};
}

/// The report of Compiled::explain().
template <class F>
std::string explain(const Compiled<F>& function) {
  return function.explain();
}

} // namespace torch
