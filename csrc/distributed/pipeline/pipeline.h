// A model that is cut into stages, which ranks run on parts of a batch at the same time.
#pragma once

#include <csrc/distributed/pipeline/messages.h>
#include <csrc/distributed/pipeline/schedule.h>
#include <csrc/nn/pimpl.h>

#include <functional>
#include <map>
#include <memory>
#include <vector>

namespace torch::distributed::pipelining {

/// A part of a model: takes what the stage before it has returned. The first one takes parts of the batch, of the last
/// one the loss takes the first result. Results are tensors whose dimension 0 is that of the batch, or have none.
class TORCH_API PipelineStage {
 public:
  using Function = std::function<std::vector<at::Tensor>(const std::vector<at::Tensor>& inputs)>;

  PipelineStage(Function forward, int index) : forward_(std::move(forward)), index_(index) {}
  /// A module that takes one tensor and returns one.
  template <class Contained>
  PipelineStage(const nn::ModuleHolder<Contained>& module, int index)
      : PipelineStage(
            [module = module.ptr()](const std::vector<at::Tensor>& inputs) -> std::vector<at::Tensor> {
              TORCH_CHECK_VALUE(
                  inputs.size() == 1, "PipelineStage: the module takes one tensor, but got ", inputs.size(),
                  "; make the stage of a function");
              return {module->forward(inputs[0])};
            },
            index) {}

  int index() const {
    return index_;
  }
  std::vector<at::Tensor> forward(const std::vector<at::Tensor>& inputs) const {
    return forward_(inputs);
  }

 private:
  Function forward_;
  int index_;
};

/// What a rank that has the last stage gets; empty elsewhere.
struct StepResult {
  std::vector<at::Tensor> outputs; // of the whole batch, without gradients
  std::vector<at::Tensor> losses; // of each microbatch, without gradients
};

/// Runs a schedule. Gradients add up in the parameters' grad(), and are those of the mean of the loss over the whole
/// batch: the loss must be a mean over its microbatch's rows, which need not be as many in each.
///
/// All ranks of the group call step() and eval() alike. What goes wrong in a step on one rank, in a stage for instance,
/// ends the group (ProcessGroup::abort), so that the others do not wait for messages that will not come.
class TORCH_API Pipeline {
 public:
  using Loss = std::function<at::Tensor(const at::Tensor& output, const at::Tensor& target)>;

  /// `stages` are those of this rank, `schedule` that of all. Without a group it is of all processes. Throws ValueError
  /// if the schedule does not end (see simulate()), if a stage of this rank is missing, or if ranks have different
  /// schedules.
  Pipeline(
      std::vector<PipelineStage> stages,
      Schedule schedule,
      Loss loss = nullptr,
      GroupPtr group = {},
      at::Device device = at::kCPU);

  /// Forward and backward of a batch. `inputs` count on the rank of the first stage, `target` on that of the last; they
  /// are cut along dimension 0 into parts that differ by one row at most. Without `keep_outputs` the result has losses
  /// alone.
  StepResult step(const std::vector<at::Tensor>& inputs = {}, const at::Tensor& target = {}, bool keep_outputs = true);
  /// Forward alone, without gradients. Losses are there if there is a target.
  StepResult eval(const std::vector<at::Tensor>& inputs = {}, const at::Tensor& target = {});

  bool has_first() const;
  bool has_last() const;
  /// The most microbatches that were kept at once in the last step, over this rank's stages.
  int peak_activations() const {
    return peak_;
  }

 private:
  // What the backward of a microbatch needs of its forward.
  struct Kept {
    std::vector<at::Tensor> inputs;
    std::vector<at::Tensor> outputs;
    at::Tensor loss;
  };
  struct Batch;

  void check_alike();
  StepResult run(const std::vector<at::Tensor>& inputs, const at::Tensor& target, bool keep_outputs, bool training);
  void run_actions(Batch& batch);
  void forward(Batch& batch, const Action& action);
  void backward(Batch& batch, const Action& action);
  std::vector<at::Tensor> inputs_of(Batch& batch, const Action& action);
  void finish_last(Batch& batch, const Action& action, Kept& kept);
  std::vector<at::Tensor> take(const Action& action, int from_stage);
  void give(const Action& action, int to_stage, std::vector<at::Tensor> tensors);
  int tag(const Action& action, int from_stage) const;
  int rank_of(int stage) const {
    return stage % schedule_.ranks;
  }
  const PipelineStage& stage(int index) const;

  std::vector<PipelineStage> stages_;
  Schedule schedule_;
  Loss loss_;
  GroupPtr group_;
  at::Device device_;
  StageMessages messages_;
  std::map<std::pair<int, int>, std::vector<at::Tensor>> here_; // between stages of one rank: by tag and microbatch
  int peak_ = 0;
};

} // namespace torch::distributed::pipelining
