#include <csrc/aot/training_call.h>

#include <csrc/aot/shape_arguments.h>
#include <csrc/aot/compiled_backward.h>
#include <csrc/aot/inference_call.h>
#include <csrc/compile/inference.h>
#include <csrc/compile/runner.h>
#include <autograd/functions/utils.h>
#include <c10/util/Exception.h>

#include <fmt/format.h>

namespace torch::aot {

namespace {

/// Puts convolutions of a joint graph on channels-last images.
void change_layouts(Joint& joint) {
  std::vector<uint32_t> origins;
  auto graph = fused::prepare_joint(*joint.functional.graph, origins);
  if (!graph) {
    return;
  }
  std::vector<bool> is_backward;
  std::vector<uint32_t> checkpoints;
  for (const uint32_t origin : origins) {
    is_backward.push_back(origin < joint.is_backward.size() && joint.is_backward[origin]);
    checkpoints.push_back(origin < joint.checkpoints.size() ? joint.checkpoints[origin] : 0);
  }
  joint.functional.graph = std::move(graph);
  joint.functional.origins.clear();
  joint.is_backward = std::move(is_backward);
  joint.checkpoints = std::move(checkpoints);
}

/// Parameters and the like come behind the arguments.
std::vector<bool> state_flags(const CallInputs& inputs) {
  std::vector<bool> flags;
  for (size_t i = 0; i < inputs.recorded().size(); ++i) {
    flags.push_back(i >= inputs.num_arguments());
  }
  return flags;
}

} // namespace

std::shared_ptr<const CompiledCall> TrainingCall::make(CallInputs inputs, Joint joint, const Options& options) {
  auto plan = std::make_shared<TrainingPlan>(std::move(inputs));
  plan->joint = std::move(joint);
  if (options.changes_layouts) {
    change_layouts(plan->joint);
  }
  for (const functionalize::ResultSpec& spec : plan->joint.grads) {
    TORCH_CHECK(
        spec.of != functionalize::ResultSpec::Of::Input || spec.index >= plan->joint.num_inputs,
        "a gradient is a tensor that the function takes");
  }
  const std::vector<bool> is_state = state_flags(plan->inputs);
  take_shapes_from_sources(*plan->joint.functional.graph);
  plan->parts = partition(plan->joint, is_state, options.memory_budget);
  const size_t num_inputs = is_state.size();
  const bool saves_memory = options.memory_budget < 1;
  plan->forward = options.backend(
      {plan->parts.forward,
       capture::GraphKind::Forward,
       std::vector<bool>(num_inputs),
       is_state,
       {},
       {},
       saves_memory});
  const size_t num_saved = plan->parts.backward->placeholders().size();
  std::vector<bool> is_kept_state(num_saved);
  for (size_t i = 0; i < plan->parts.kept.size(); ++i) {
    is_kept_state[i] = plan->parts.kept[i].is_input && is_state[plan->parts.kept[i].index];
  }
  plan->backward = options.backend(
      {plan->parts.backward,
       capture::GraphKind::Backward,
       std::vector<bool>(num_saved),
       std::move(is_kept_state),
       {},
       {},
       saves_memory});
  return std::shared_ptr<const CompiledCall>(new TrainingCall(std::move(plan)));
}

bool TrainingCall::run(const std::vector<at::Tensor>& arguments, std::vector<at::Tensor>& results) const {
  const TrainingPlan& plan = *plan_;
  const Joint& joint = plan.joint;
  const std::vector<at::Tensor> all = plan.inputs.of_call(arguments);
  if (!joint.functional.written.empty() && !plan.inputs.share_memory_alike(all)) {
    return false;
  }
  const std::vector<at::Tensor> made = run_below_autograd(plan.forward, all);
  for (const size_t input : plan.parts.written) {
    autograd::impl::bump_version(all[input]);
  }
  const auto node = autograd::make_node<CompiledBackward>(plan_);
  for (const size_t input : joint.grad_inputs) {
    node->add_next_edge(autograd::impl::gradient_edge(all[input]));
  }
  const size_t num_roots = joint.roots.size();
  for (size_t i = 0; i < num_roots; ++i) {
    if (joint.root_requires_grad[i]) {
      autograd::set_history(made[i], node);
    }
  }
  for (size_t i = 0; i < joint.tracked_writes.size(); ++i) {
    autograd::set_history(made[num_roots + i], node);
  }
  node->save(all, made);
  for (size_t i = 0; i < joint.tracked_writes.size(); ++i) {
    at::Tensor input = all[joint.functional.written[joint.tracked_writes[i]]];
    input.copy_(made[num_roots + i]);
  }
  for (const functionalize::ResultSpec& spec : joint.results) {
    results.push_back(make_result(spec, all, made));
  }
  return true;
}

std::string TrainingCall::describe() const {
  const Partition& parts = plan_->parts;
  return fmt::format(
      "forward:\n{}\nbackward:\n{}\n{} bytes are kept between them", fused::describe(plan_->forward, *parts.forward),
      fused::describe(plan_->backward, *parts.backward), parts.bytes_kept);
}

} // namespace torch::aot
