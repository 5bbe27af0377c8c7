// Runs graphs, operator by operator.
#pragma once

#include <csrc/fx/graph.h>

#include <aten/core/stack.h>

#include <memory>
#include <string>
#include <vector>

namespace torch::fx {

class GraphModule;
struct Plan;

/// Runs a graph with boxed calls, and lets go of each value after its last use. Subclasses see each step: override one
/// of the virtual functions, as one does in Python.
///
///     struct Timed : torch::fx::Interpreter {
///       using Interpreter::Interpreter;
///       void call_operator(const torch::fx::Node& node, torch::jit::Stack& stack) override { ... }
///     };
///     auto out = Timed(module).run({x});
class TORCH_API Interpreter : public GraphRunner {
 public:
  /// The module must outlive the interpreter.
  explicit Interpreter(const GraphModule& module);
  ~Interpreter() override;

  /// Runs it; gives the arguments of the output. Throws if the number of inputs is another than that of placeholders.
  std::vector<c10::IValue> run(std::vector<c10::IValue> inputs);
  /// Runs a graph of the module's graph, with the same attributes.
  std::vector<c10::IValue> run_graph(const Graph& graph, std::vector<c10::IValue> inputs) override;

 protected:
  /// The value of an input.
  virtual c10::IValue placeholder(const Node& node, c10::IValue input);
  /// The value of an attribute of the module.
  virtual c10::IValue get_attr(const Node& node);
  /// Calls the operator: takes its arguments from the stack, leaves its results.
  virtual void call_operator(const Node& node, torch::jit::Stack& stack);
  /// Calls the function.
  virtual std::vector<c10::IValue> call_function(const Node& node, std::vector<Operand>& operands);

  const GraphModule& module() const {
    return module_;
  }

 private:
  friend class Run;
  const GraphModule& module_;
  std::shared_ptr<const Plan> plan_;
};

} // namespace torch::fx
