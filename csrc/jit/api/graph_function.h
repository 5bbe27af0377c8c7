// Functions that are graphs.
#pragma once

#include <aten/core/function.h>
#include <csrc/jit/ir/ir.h>
#include <csrc/jit/runtime/interpreter.h>

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace torch::jit {

struct CompiledCode;
struct GraphExecutor;
struct GraphExecutorState;

/// A compiled function or method. Its graph may be made when it is first needed, by any thread: graph, schema and code
/// are made under the lock of all compilation units (CompilationUnit::lock()). Once they are made, calls take no lock.
struct TORCH_API GraphFunction final : Function {
  using Creator = std::function<void(GraphFunction&)>;

  /// `creator` fills the graph and sets the schema; null if the graph is complete.
  GraphFunction(c10::QualifiedName name, std::shared_ptr<Graph> graph, Creator creator);
  ~GraphFunction() override;

  bool isGraphFunction() const override {
    return true;
  }
  const c10::QualifiedName& qualname() const override {
    return name_;
  }
  /// Runs on the interpreter.
  void run(Stack& stack) override;
  /// As run(), with the result, or the error, in a future. What it forks is given to `launcher`; null: to the inter-op
  /// threads.
  c10::intrusive_ptr<c10::ivalue::Future> runAsync(Stack& stack, TaskLauncher launcher = nullptr);
  /// As written: calls are not inlined. Makes it if need be.
  std::shared_ptr<Graph> graph() const;
  /// With calls inlined and simplified; the graph itself where setGraphExecutorOptimize(false) was called.
  std::shared_ptr<Graph> optimized_graph() const;
  /// Another graph in place of this one; what was made from that is forgotten. No thread may be calling the function.
  void set_graph(std::shared_ptr<Graph> graph);
  /// The graph was changed: what was made from it is forgotten. No thread may be calling the function.
  void clear_optimized_graphs();

  /// Makes the graph if that has not happened yet. Throws if the function calls itself.
  void ensure_defined() override;
  bool is_defined() const {
    return defined_.load(std::memory_order_acquire);
  }
  const c10::FunctionSchema& getSchema() const override;
  size_t num_inputs() const override;
  Function& setSchema(c10::FunctionSchema schema) override;
  /// Throws if the graph has more than one result.
  void check_single_output();

  /// What the interpreter runs: the optimized graph or, where setGraphExecutorOptimize(false) was called, the graph as
  /// it was written. Valid until the graph is replaced or declared changed.
  const CompiledCode& code();
  /// An executor of its own for the optimized graph: calls of the function do not use it. Valid until the graph is
  /// replaced or declared changed.
  GraphExecutor& get_executor();
  GraphExecutorState getDebugState();

 private:
  c10::QualifiedName name_;
  std::shared_ptr<Graph> graph_;
  Creator creator_;
  bool being_defined_ = false;
  std::atomic<bool> defined_;
  mutable std::optional<c10::FunctionSchema> schema_;
  // The schema once it is final.
  mutable std::atomic<const c10::FunctionSchema*> ready_schema_ = nullptr;
  mutable std::shared_ptr<Graph> optimized_graph_;
  // Of the graph as it was written, and of the optimized one.
  std::shared_ptr<const CompiledCode> code_[2];
  std::atomic<const CompiledCode*> ready_code_[2]{nullptr, nullptr};
  std::unique_ptr<GraphExecutor> executor_;
};

/// The schema that a graph's inputs and outputs make.
TORCH_API c10::FunctionSchema defaultSchemaFor(const GraphFunction& function);
/// Null if it is not a GraphFunction.
TORCH_API GraphFunction* tryToGraphFunction(Function& function);
/// Throws if it is not a GraphFunction.
TORCH_API GraphFunction& toGraphFunction(Function& function);
TORCH_API const GraphFunction& toGraphFunction(const Function& function);

} // namespace torch::jit
