// ZeroRedundancyOptimizer: each rank keeps the optimizer's state of its part of the parameters (ZeRO, stage 1).
#pragma once

#include <csrc/distributed/ddp/join.h>
#include <csrc/optim/optimizer.h>

#include <aten/core/ivalue.h>

#include <functional>
#include <memory>
#include <vector>

namespace torch::distributed {

/// What does not depend on the optimizer's class.
class TORCH_API ZeroRedundancyOptimizerBase : public optim::Optimizer, public Joinable {
 public:
  /// A step on this rank's parameters; then all ranks send theirs to all. The closure runs once, on each rank.
  at::Tensor step(LossClosure closure = nullptr) override;

  /// Brings the state of all ranks to rank `to`, or with -1 to all. All ranks call it.
  void consolidate_state_dict(int to = 0);
  /// As Optimizer::state_dict of one optimizer for all parameters. Throws unless consolidate_state_dict has brought it
  /// here since the last step.
  c10::IValue state_dict() const;
  /// Each rank takes its part of the whole state, one of an optimizer in one process too.
  void load_state_dict(const c10::IValue& state_dict);
  /// Throw: the state is that of all ranks together, which state_dict has.
  void save(serialize::OutputArchive& archive) const override;
  void load(serialize::InputArchive& archive) override;

  /// The rank that steps each parameter, in the order of the groups.
  const std::vector<int>& owners() const {
    return owners_;
  }
  /// The optimizer of this rank's part.
  const optim::Optimizer& local_optimizer() const {
    return *local_;
  }

  GroupPtr join_group() const override {
    return group_;
  }
  void follow(const JoinStep& step) override;
  void after_join(const JoinStep&) override {}

 protected:
  using MakeLocal = std::function<std::unique_ptr<optim::Optimizer>(std::vector<optim::OptimizerParamGroup>)>;
  ZeroRedundancyOptimizerBase(
      std::vector<optim::OptimizerParamGroup> groups,
      std::unique_ptr<optim::OptimizerOptions> defaults,
      GroupPtr group);
  void make_local(const MakeLocal& make);

 private:
  void step_local();
  void share_parameters();
  void send_options();
  c10::IValue whole_state(const std::vector<c10::IValue>& parts) const;

  GroupPtr group_;
  std::vector<int> owners_;
  std::unique_ptr<optim::Optimizer> local_;
  c10::IValue consolidated_;
};

/// An optimizer whose state is spread over ranks: each steps some of the parameters. Gradients must be the same on all
/// ranks, as DistributedDataParallel makes them; the result is that of one OptimizerType for all.
///
///   ZeroRedundancyOptimizer<optim::Adam> optimizer(ddp.parameters(), optim::AdamOptions(1e-3));
template <class OptimizerType>
class ZeroRedundancyOptimizer : public ZeroRedundancyOptimizerBase {
 public:
  /// `options` are those of OptimizerType. Without a group it is that of all processes.
  template <class OwnOptions>
  ZeroRedundancyOptimizer(
      std::vector<optim::OptimizerParamGroup> groups, const OwnOptions& options, GroupPtr group = {})
      : ZeroRedundancyOptimizerBase(std::move(groups), std::make_unique<OwnOptions>(options), std::move(group)) {
    make_local([&](std::vector<optim::OptimizerParamGroup> mine) {
      return std::make_unique<OptimizerType>(std::move(mine), options);
    });
  }
  template <class OwnOptions>
  ZeroRedundancyOptimizer(std::vector<at::Tensor> parameters, const OwnOptions& options, GroupPtr group = {})
      : ZeroRedundancyOptimizer(
            std::vector<optim::OptimizerParamGroup>{optim::OptimizerParamGroup(std::move(parameters))},
            options,
            std::move(group)) {}
};

} // namespace torch::distributed
