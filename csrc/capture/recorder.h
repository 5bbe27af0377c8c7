// Records what a piece of C++ does with tensors as a graph.
#pragma once

#include <csrc/capture/dispatch_mode.h>
#include <csrc/capture/same_gradients.h>
#include <csrc/fx/graph_module.h>

#include <aten/core/Tensor.h>
#include <aten/core/stack.h>
#include <autograd/saved_variable_hooks.h>

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace torch::capture {

// Note [Recording]
// The code runs as it always does, and each operator that it comes to becomes a node on its way: below Autograd and
// autocast, above the backends, so that composite operators have been taken apart and casts are operators. So the first
// call costs no more than itself, has the results of any call, and what it computes with is what it is.
//
// A tensor is known by its TensorImpl, and where that is a new one for the same memory (a view that autograd wrapped,
// what a saved variable gave back) by storage, offset, sizes and strides. What is known by neither comes from outside:
// it becomes an attribute of the graph, held by reference, so that a parameter which an optimizer changed is seen.
//
// The recorder refuses what a graph would do otherwise: reading a value (item()), sizes that depend on values,
// backward(), tensors that get other memory. In the end the graph is run on meta tensors, and what autograd recorded is
// compared node by node with what it recorded for the code: functions with a derivative of their own, hooks, data() and
// requires_grad_() are found so.
//
// What it cannot see: C++ values that the code computes from sizes or keeps between calls are constants of the graph;
// memory that is read or written by a pointer is not in it. Recording again and comparing the graphs finds the first.

/// What a function that calls backward() does to gradients, and the optimizers' steps in it.
struct TrainingStep {
  /// A gradient that becomes `.grad` of a leaf: an argument of the node at which the graph stops.
  struct Grad {
    at::Tensor leaf;
    size_t arg;
  };
  /// Where the graph stops: at an "optimizer_step", or at its output.
  struct Stop {
    std::vector<Grad> grads = {};
    /// Leaves that have no gradient from here on.
    std::vector<at::Tensor> resets = {};
    /// Whose step() follows, by its number in CompileOptions::optimizers.
    std::optional<size_t> optimizer = std::nullopt;
  };
  bool has_backward = false;
  /// One for each "optimizer_step" of the graph, then that of the output.
  std::vector<Stop> stops;
  /// Leaves with the gradient that the graph takes, which must be the same tensor.
  std::vector<std::pair<at::Tensor, at::Tensor>> taken;
};

/// What was recorded.
struct Recording {
  /// Empty when it was refused.
  std::shared_ptr<fx::GraphModule> module;
  /// Attributes of the module, with the tensors that they refer to.
  std::vector<std::pair<std::string, at::Tensor>> references;
  /// Why it was refused: the operator and the reason.
  std::string refused;
  /// By id of a node: the checkpoint that it runs in, counted from 1; 0 outside of one.
  std::vector<uint32_t> checkpoints;
  /// What is done where the graph stops. The gradients of its end are results behind those of the function.
  TrainingStep training;
};

/// Names of tensors that become attributes, by TensorImpl: those of modules.
using KnownTensors = std::unordered_map<const c10::TensorImpl*, std::string>;

class Recorder final : public DispatchMode {
 public:
  /// The inputs become placeholders of these names.
  Recorder(const std::vector<at::Tensor>& inputs, const std::vector<std::string>& names, const KnownTensors& known);
  ~Recorder() override;
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  /// What the code writes to memory from outside is undone when the recorder dies.
  void undo_writes() {
    undoes_writes_ = true;
  }
  /// What backward passes in the code do is recorded too, and gradients are not compared: for joint graphs.
  void record_backward() {
    records_backward_ = true;
  }
  /// The code may call backward() and steps of optimizers: see TrainingStep. What becomes of the gradients of `leaves`
  /// is noted from the start, also where the code comes to them later.
  void record_training(const std::vector<at::Tensor>& leaves);
  /// The step is run as it is, and becomes a node "optimizer_step" that takes the gradients.
  void begin_step(size_t number) override;
  void end_step() override;
  /// Above the ids of the nodes that were made so far.
  uint32_t num_ids() const {
    return graph_->num_ids();
  }
  /// Where the code threw: the operator, and, with undo_writes(), the sizes of the tensors that it took.
  const std::string& failed_operator() const {
    return failed_operator_;
  }
  const std::vector<int64_t>& failed_sizes() const {
    return failed_sizes_;
  }

  /// Records what `run` does on this thread; it gives the results. Lets its exceptions through.
  template <class Run>
  Recording record(const Run& run) {
    std::vector<at::Tensor> results;
    {
      const Scope scope(this);
      results = run();
    }
    return finish(results);
  }

  /// The recorder that takes the operators of this thread; null if none does.
  static Recorder* active();
  /// While it lives, backward passes of this thread belong to a transform (torch::func): they ask for gradients at
  /// nodes of its own, and so are part of what the code computes.
  class InnerBackward {
   public:
    InnerBackward();
    InnerBackward(const InnerBackward&) = delete;
    InnerBackward& operator=(const InnerBackward&) = delete;
    ~InnerBackward();
  };
  /// `alias` is `tensor` with another history, in which gradients flow on to that of the tensor.
  void add_alias(const at::Tensor& alias, const at::Tensor& tensor);
  void call(const c10::OperatorHandle& op, c10::DispatchKeySet keys, torch::jit::Stack* stack) override;

 private:
  struct Known {
    c10::weak_intrusive_ptr<c10::TensorImpl> impl; // keeps the address from being used again
    fx::Value value;
  };
  struct Memory {
    c10::weak_intrusive_ptr<c10::StorageImpl> storage;
    int64_t offset;
    c10::ScalarType dtype;
    std::vector<int64_t> sizes, strides;
    fx::Value value;
    bool is_conj, is_neg;
  };

  Recording finish(const std::vector<at::Tensor>& results);
  void refuse(const std::string& why);
  bool refuses(const c10::OperatorHandle& op, const torch::jit::Stack& stack, size_t first);
  void follow_grad_mode();
  void watch(const at::Tensor& leaf);
  void add_leaf(const at::Tensor& tensor, const HistoryBefore& before);
  TrainingStep::Stop stop_here(std::vector<fx::Arg>& args);
  void set_grad_mode_of_start();
  void finish_training(std::vector<fx::Arg>& results);
  void check_training();
  void follow_checkpoints(const fx::Node& node);
  fx::Arg arg_of(const c10::IValue& value);
  fx::Arg value_of(const at::Tensor& tensor);
  const Memory* find_memory(const at::Tensor& tensor) const;
  void remember(const at::Tensor& tensor, fx::Value value);
  void remember_results(const c10::IValue& result, fx::Node* node, uint32_t index);
  fx::Value add_reference(const at::Tensor& tensor);
  void follow_unwritten(const c10::FunctionSchema& schema, const torch::jit::Stack& stack, size_t first);
  void keep_literals();
  void check_written();
  void keep_written(const fx::Node& node, const torch::jit::Stack& stack, size_t first);

  std::shared_ptr<fx::Graph> graph_;
  std::vector<at::Tensor> inputs_;
  const KnownTensors& known_names_;
  std::unordered_map<const c10::TensorImpl*, Known> known_;
  std::unordered_map<const c10::StorageImpl*, std::vector<Memory>> memory_;
  std::vector<std::pair<std::string, at::Tensor>> references_;
  std::string refused_;
  std::vector<HistoryBefore> inputs_before_;
  std::unordered_map<std::string, HistoryBefore> references_before_;
  std::set<const c10::StorageImpl*> unwritten_; // made without values, which no operator has given them since
  bool undoes_writes_ = false;
  struct Leaf {
    at::Tensor tensor;
    at::Tensor grad_before; // when it was first met or watched
    at::Tensor grad; // where the graph stopped last
    uint32_t version_before;
    uint32_t version_at_step = 0;
    uint32_t written_by_steps = 0; // versions that are theirs
    bool is_taken = false;
  };
  std::vector<Leaf> leaves_;
  TrainingStep training_;
  bool is_in_step_ = false;
  bool records_training_ = false;
  bool records_backward_ = false;
  const autograd::SavedVariableHooksFactory* const hooks_at_start_;
  const autograd::SavedVariableHooksFactory* hooks_; // of the operator before
  uint32_t num_checkpoints_ = 0;
  std::vector<uint32_t> checkpoints_;
  std::unordered_map<const c10::StorageImpl*, std::pair<at::Tensor, at::Tensor>> written_; // as bytes: now and before
  std::string failed_operator_;
  std::vector<int64_t> failed_sizes_;
  bool grad_mode_;
  bool grad_mode_at_start_;
};

} // namespace torch::capture
