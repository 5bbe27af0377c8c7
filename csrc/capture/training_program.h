// Recorded functions that call backward() and steps of optimizers, made ready to run.
#pragma once

#include <csrc/aot/compiled_call.h>
#include <csrc/capture/recorder.h>

#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace torch::optim {
class Optimizer;
}

namespace torch::capture {

// Note [Training programs]
// The step of an optimizer is C++ whose numbers (learning rates, counts of steps) are other ones in each call, and
// which updates all parameters in one pass over memory. So it is not recorded: the graph is cut where steps stand, and
// a program runs graphs and steps in turns. Before a step, the gradients that it is to see become `.grad`. What one
// graph makes and a later one takes goes by number. Parameters are attributes of each graph that takes them, so what
// comes behind a step sees what the step wrote.

/// A graph that stops at steps, in the parts between them. Programs run by several threads at once need locks as the
/// function itself would.
class TrainingProgram {
 public:
  /// Of a recording's graph, what it refers to and where it stops. Without `options` graphs run as they were recorded.
  TrainingProgram(
      const fx::GraphModule& module,
      std::vector<std::pair<std::string, at::Tensor>> references,
      const TrainingStep& training,
      std::optional<aot::Options> options);

  /// Compiles the first graph for the inputs of the recording; the others are when they first run.
  void compile_first(const std::vector<at::Tensor>& inputs, const std::vector<functionalize::History>& histories);
  /// The results of the function. Sets gradients, and calls the steps.
  std::vector<at::Tensor> run(const std::vector<at::Tensor>& inputs, const std::vector<optim::Optimizer*>& optimizers);

  /// The graphs that were compiled, as texts, and the steps.
  std::string describe() const;
  /// Why graphs run as they were recorded; empty where all that have run are compiled.
  std::string not_compiled() const;

 private:
  /// A gradient for a leaf, by the number of its value.
  struct Grad {
    at::Tensor leaf;
    size_t value;
  };
  /// A graph, and what follows it.
  struct Part {
    std::shared_ptr<fx::GraphModule> module; // null where there is nothing between two steps
    std::vector<size_t> inputs, results; // numbers of values
    std::vector<Grad> grads;
    std::vector<at::Tensor> resets;
    std::optional<size_t> optimizer;
    std::vector<size_t> last_uses; // values that no later part takes
    std::once_flag once;
    std::shared_ptr<const aot::CompiledCall> compiled;
    std::string not_compiled;
  };
  class Cutter;

  void compile(Part& part, const std::vector<at::Tensor>& inputs, const std::vector<functionalize::History>& histories);
  void run_graph(Part& part, std::vector<at::Tensor>& values);

  std::optional<aot::Options> options_;
  std::vector<std::pair<std::string, at::Tensor>> references_;
  std::vector<at::Tensor> replaced_; // leaves that lose their gradients before the first step, or get others
  std::deque<Part> parts_;
  size_t num_values_ = 0;
  std::vector<std::optional<size_t>> results_; // numbers of values
};

} // namespace torch::capture
