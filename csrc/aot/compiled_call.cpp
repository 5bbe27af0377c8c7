#include <csrc/aot/compiled_call.h>

#include <csrc/aot/inference_call.h>
#include <csrc/aot/joint.h>
#include <csrc/aot/training_call.h>
#include <c10/core/GradMode.h>

#include <algorithm>

namespace torch::aot {

std::shared_ptr<const CompiledCall> CompiledCall::make(
    const fx::GraphModule& module,
    const std::vector<at::Tensor>& inputs,
    const std::vector<functionalize::History>& histories,
    const std::vector<std::pair<std::string, at::Tensor>>& references,
    const std::vector<uint32_t>& checkpoints,
    const Options& options) {
  CallInputs all(module, inputs, references);
  const bool grad_mode = c10::GradMode::is_enabled();
  std::vector<functionalize::History> all_histories = histories;
  for (size_t i = inputs.size(); i < all.recorded().size(); ++i) {
    all_histories.push_back(functionalize::histories_of({all.recorded()[i]})[0]);
  }
  const bool any = std::any_of(all_histories.begin(), all_histories.end(), [](functionalize::History history) {
    return history != functionalize::History::None;
  });
  if (grad_mode && any && options.has_gradients) {
    Joint joint = trace_joint(all, all_histories, checkpoints);
    if (joint.has_backward()) {
      return TrainingCall::make(std::move(all), std::move(joint), options);
    }
  }
  return InferenceCall::make(std::move(all), grad_mode, options);
}

} // namespace torch::aot
