// Operators that have not run yet, and what was made of them when they came before.
#pragma once

#include <csrc/aot/compiled_call.h>
#include <csrc/fx/graph_module.h>

#include <aten/core/Tensor.h>
#include <aten/core/dispatch/Dispatcher.h>
#include <aten/core/stack.h>

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace torch::capture {

/// A tensor among the arguments of an operator.
struct LazyArg {
  uint32_t place; ///< among the arguments
  int32_t item; ///< in a list; -1: the argument itself
  int64_t value; ///< -1: none, in a list that may hold some
};

/// What a result will be like.
struct LazySpec {
  bool is_defined = true;
  c10::ScalarType dtype = c10::ScalarType::Float;
  std::vector<int64_t> sizes = {}, strides = {};
};

/// How the dispatch mode goes about an operator.
enum class LazyKind : uint8_t {
  Now, ///< it runs at once, after all that has been recorded
  View, ///< it runs at once, since it touches no memory, and is recorded
  Writes, ///< its results are arguments that it writes to
  Gives ///< its results are tensors of their own
};

struct LazyNode {
  c10::OperatorHandle op;
  torch::jit::Stack stack; ///< constants; what stands where tensors go counts for nothing
  std::vector<LazyArg> tensors;
  uint32_t first_value = 0; ///< results are values, and lists as many as they have elements
  std::vector<int32_t> lengths = {}; ///< by result: of a list, or -1
};

/// Words that tell a graph from others: operators, constants, what inputs are like.
using LazyKey = std::vector<int64_t>;

struct LazyEntry;

/// Operators with what they take. Values are inputs and results.
struct LazyGraph {
  std::vector<LazyNode> nodes;
  std::vector<int64_t> node_of; ///< by value; -1: an input
  std::vector<at::Tensor> inputs;
  std::vector<int64_t> input_of; ///< by value; -1: a result
  std::vector<uint32_t> outputs; ///< values that are needed

  /// Runs the operators, one by one; gives the outputs.
  std::vector<at::Tensor> run() const;
  /// The same as a graph of csrc/fx.
  std::shared_ptr<fx::GraphModule> to_module(const LazyEntry& seen) const;
};

/// A node's arguments as those of a graph, with `value_of(value)` for values.
std::vector<fx::Arg> graph_args(const LazyNode& node, const std::function<fx::Value(uint32_t)>& value_of);

/// A graph that was seen. What was recorded does not change.
struct LazyEntry {
  LazyKey key;
  // By node.
  std::vector<size_t> ends; ///< of its words in the key
  std::vector<LazyKind> kinds;
  std::vector<std::vector<LazySpec>> results; ///< of those that give some
  std::vector<std::vector<int32_t>> lengths;
  // Under the mutex of the graphs.
  uint64_t runs = 0;
  bool was_tried = false;
  std::shared_ptr<const aot::CompiledCall> compiled;
  std::string not_compiled, text;
};

/// The graphs of one function, found by their keys. A graph that comes again is compiled. May be used by several
/// threads.
class LazyGraphs {
 public:
  LazyGraphs(std::string backend, double memory_budget, size_t capacity)
      : backend_(std::move(backend)), memory_budget_(memory_budget), capacity_(capacity) {}

  /// Runs a graph, compiled or operator by operator; gives its outputs. `seen` is what is known of it, and becomes what
  /// was known where it came before.
  std::vector<at::Tensor> run(const LazyGraph& graph, std::shared_ptr<LazyEntry>& seen);
  void note_break(const std::string& why);

  /// The graphs of the last call, in their order: what the next one is likely to do.
  std::vector<std::shared_ptr<LazyEntry>> last_call() const;
  void set_last_call(std::vector<std::shared_ptr<LazyEntry>> entries);

  std::string explain() const;
  void clear();
  size_t size() const;
  /// Runs of compiled graphs.
  uint64_t num_compiled_runs() const;

 private:
  std::shared_ptr<LazyEntry> find_or_add(const std::shared_ptr<LazyEntry>& seen);
  void compile(const LazyGraph& graph, LazyEntry& entry);

  const std::string backend_;
  const double memory_budget_;
  const size_t capacity_;
  mutable std::mutex mutex_;
  std::list<std::shared_ptr<LazyEntry>> entries_; // used last first
  std::map<std::string, uint64_t> breaks_;
  std::vector<std::shared_ptr<LazyEntry>> last_call_;
  uint64_t compiled_runs_ = 0, runs_ = 0;
};

} // namespace torch::capture
