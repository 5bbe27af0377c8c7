// Runs programs.
#pragma once

#include <csrc/capture/backend.h>
#include <csrc/compile/ir.h>
#include <csrc/compile/tiles.h>

#include <aten/core/Tensor.h>
#include <c10/util/SmallVector.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace torch::fused {

/// A program with its loops. May be called by several threads at once.
class TORCH_API Runner {
 public:
  explicit Runner(Program program);
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  /// Takes its inputs out of the vector; gives the results.
  std::vector<at::Tensor> run(std::vector<at::Tensor>& inputs) const;

  const Program& program() const {
    return program_;
  }
  /// The loop of a step; nullptr where it is none.
  const TileLoop* loop(size_t step) const {
    return loops_[step] ? &*loops_[step] : nullptr;
  }

 private:
  struct State;

  void run_group(size_t step, State& state) const;
  void run_call(const Call& call, State& state) const;
  void run_unpack(const Unpack& unpack, State& state) const;
  void take_buffer(uint32_t buffer, State& state) const;
  at::Tensor make_own(const Buffer& buffer) const;
  at::Tensor take_over(const Buffer& operand, State& state) const;
  at::Tensor tensor_of(const View& view, const State& state) const;
  c10::IValue load(const CallArg& arg, const State& state) const;

  const Program program_;
  std::vector<std::optional<TileLoop>> loops_; // by step
};

/// What the backend "fused" gives for a graph: a CompiledGraph that can be asked what it does.
class TORCH_API FusedGraph {
 public:
  explicit FusedGraph(const std::shared_ptr<const fx::Graph>& graph)
      : FusedGraph(capture::BackendInput{graph, capture::GraphKind::Forward}) {}
  /// See Note [Graphs of inference].
  explicit FusedGraph(const capture::BackendInput& input);

  std::vector<at::Tensor> operator()(std::vector<at::Tensor>& inputs) const;
  const Program& program() const {
    return runner_->program();
  }
  /// The program as a text, behind that of what is computed ahead.
  std::string to_string() const;

 private:
  struct Ahead;

  std::shared_ptr<const Runner> runner_;
  std::shared_ptr<Ahead> ahead_; // null where nothing is
};

/// What runs: the program, where `compiled` is one of these, else the graph that it was made of.
std::string describe(const capture::CompiledGraph& compiled, const fx::Graph& graph);

} // namespace torch::fused
