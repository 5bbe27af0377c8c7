// What compile() keeps of a function: recordings, their guards, and what became of calls.
#pragma once

#include <csrc/capture/flatten.h>

#include <c10/macros/Export.h>
#include <csrc/nn/Module.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace torch {

namespace optim {
class Optimizer;
}

/// How compiled functions treat what they recorded.
enum class CompileMode {
  /// Recorded graphs run instead of the function. The first `check_calls` calls after a recording are recorded again
  /// and compared.
  replay,
  /// The function runs in each call, and its operators when their values are asked for, as graphs that are found again
  /// by what is in them. Right for functions that read values (item(), printing, branches on them), that keep something
  /// between calls, or that cannot be captured otherwise; a call costs some hundred nanoseconds for each operator.
  lazy,
  /// The function runs in each call, is recorded again and compared: for tests.
  checked
};

/// Options of compile().
struct CompileOptions {
  CompileMode mode = CompileMode::replay;
  /// How many calls after a recording are recorded again, to find functions that do something else each time.
  int64_t check_calls = 1;
  /// The most recordings that are kept; the one that was used longest ago goes.
  size_t cache_size = 64;
  /// Recordings that differ in sizes alone become one graph with sizes as symbols. It runs for sizes that were recorded
  /// and gave it; a new size costs a call that is recorded, and no graph. Sizes that come again are compiled, as far as
  /// `cache_size` reaches. In mode replay.
  bool dynamic = true;
  /// Throws where the function cannot be captured or does something else each time, instead of running it as it is. In
  /// mode lazy it throws where values are asked for before the end.
  bool fullgraph = false;
  /// What runs the graphs: "eager", the operators as they were recorded, or a backend of functional graphs, see
  /// capture::register_backend(): "fused" makes loops of them, "aot_eager" runs them operator by operator.
  std::string backend = "fused";
  /// Of backends of functional graphs: how much of what the backward pass needs is kept rather than computed again,
  /// from 1 (all but what costs next to nothing) to 0 (as little as there can be).
  double memory_budget = 1;
  /// Whether parameters and buffers stay as they are between calls without gradients: then what depends on them alone
  /// is computed once, and weights are packed for products, which takes their memory once more. What operators write to
  /// them is seen, also that of an optimizer; what is written by `data()` or a pointer is not.
  bool freeze = false;
  /// Modules that the function uses: their parameters go by name, and it is recorded again after train() and eval().
  std::vector<std::shared_ptr<nn::Module>> modules = {};
  /// Optimizers whose step() the function calls, without a closure: the step itself is not recorded but taken each
  /// time, with the options that the optimizer has then. They must outlive the compiled function.
  std::vector<optim::Optimizer*> optimizers = {};
};

namespace capture {

/// The part of a compiled function that does not know its type. May be called by several threads.
class TORCH_API CompiledFunction {
 public:
  /// Runs the function and gives its results.
  using Run = std::function<void(Outputs&)>;

  explicit CompiledFunction(CompileOptions options);
  ~CompiledFunction();

  void call(const Inputs& inputs, Outputs& outputs, const Run& run);
  std::string explain() const;
  void reset();

  /// Recordings that are kept, in mode lazy graphs.
  size_t num_entries() const;
  /// Calls that were run as a graph; in mode lazy runs of compiled graphs.
  uint64_t num_replays() const;
  /// The graph of the recording that was used last, as a text; empty if there is none, and in mode lazy.
  std::string last_graph() const;
  /// Why the recording that was used last runs as it was recorded, where the backend was asked to compile it; empty if
  /// it did.
  std::string last_not_compiled() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

} // namespace capture

} // namespace torch
