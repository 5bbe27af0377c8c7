// Graphs as instructions.
#pragma once

#include <aten/core/dispatch/Dispatcher.h>
#include <csrc/jit/ir/ir.h>
#include <csrc/jit/runtime/instruction.h>

#include <memory>
#include <string>
#include <vector>

namespace torch::jit {

/// What the interpreter needs of a graph. It does not change once it is made, so that all threads may run it.
struct TORCH_API CompiledCode {
  /// Throws if something in the graph cannot be run.
  CompiledCode(std::shared_ptr<Graph> graph, std::string function_name);
  CompiledCode(const CompiledCode&) = delete;
  CompiledCode& operator=(const CompiledCode&) = delete;

  /// A subgraph that runs as a task, and the type of the future (or what is awaited) that stands for its result.
  struct Subgraph {
    std::shared_ptr<CompiledCode> code;
    TypePtr result;
  };

  std::shared_ptr<Graph> graph;
  std::string function_name;
  size_t num_inputs;
  size_t num_outputs;
  size_t num_registers = 0;

  std::vector<Instruction> instructions;
  // The node of each instruction: errors tell its place.
  std::vector<const Node*> nodes;
  // What operands of instructions stand for.
  std::vector<IValue> constants;
  std::vector<Operation> operations;
  std::vector<void (*)(Stack&)> plain_operations;
  std::vector<c10::OperatorHandle> operators;
  std::vector<Function*> functions;
  std::vector<TypePtr> types;
  std::vector<Subgraph> subgraphs;
};

} // namespace torch::jit
