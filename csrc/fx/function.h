// What graphs call beside operators: arithmetic on sizes and other numbers, parts of lists, and functions that run
// graphs, such as cond.
#pragma once

#include <aten/core/ivalue.h>
#include <c10/macros/Export.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace torch::fx {

class Graph;

/// A value as a function takes it: an IValue, or a graph to be run.
struct Operand {
  c10::IValue value;
  const Graph* graph = nullptr;
};

/// What a function may ask of the interpreter that calls it.
class TORCH_API GraphRunner {
 public:
  virtual ~GraphRunner();
  /// Runs a graph that was an argument; gives its results.
  virtual std::vector<c10::IValue> run_graph(const Graph& graph, std::vector<c10::IValue> inputs) = 0;
};

/// One function. Lives as long as the process.
struct Function {
  std::string name;
  /// Takes the operands, gives as many results as its nodes have.
  std::function<std::vector<c10::IValue>(GraphRunner&, std::vector<Operand>&)> run;
  /// Whether calls may be left out when nothing uses their results, and merged when they are equal. Those that run
  /// graphs are, when the graphs are.
  bool is_pure = true;
  /// Whether its results share memory with its arguments.
  bool is_alias = false;
};

/// The function of this name; nullptr if there is none.
TORCH_API const Function* find_function(const std::string& name);
/// Adds one. Throws when the name is taken.
TORCH_API const Function& register_function(Function function);

} // namespace torch::fx
