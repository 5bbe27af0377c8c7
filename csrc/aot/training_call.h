// Compiled calls that autograd records as one node.
#pragma once

#include <csrc/aot/call_inputs.h>
#include <csrc/aot/compiled_call.h>
#include <csrc/aot/joint.h>
#include <csrc/aot/partition.h>

#include <memory>
#include <string>
#include <vector>

namespace torch::aot {

/// The two graphs of a function, compiled, and what its calls need to know of them.
struct TrainingPlan {
  explicit TrainingPlan(CallInputs call_inputs) : inputs(std::move(call_inputs)) {}

  CallInputs inputs;
  Joint joint;
  Partition parts;
  capture::CompiledGraph forward;
  capture::CompiledGraph backward;
};

class TrainingCall : public CompiledCall {
 public:
  /// From a joint graph that has a backward pass.
  static std::shared_ptr<const CompiledCall> make(CallInputs inputs, Joint joint, const Options& options);
  bool run(const std::vector<at::Tensor>& arguments, std::vector<at::Tensor>& results) const override;
  std::string describe() const override;

 private:
  explicit TrainingCall(std::shared_ptr<const TrainingPlan> plan) : plan_(std::move(plan)) {}

  std::shared_ptr<const TrainingPlan> plan_;
};

} // namespace torch::aot
