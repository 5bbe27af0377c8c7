#include <csrc/aot/compiled_backward.h>

#include <csrc/aot/inference_call.h>
#include <aten/Functions.h>
#include <aten/core/LegacyTypeDispatch.h>
#include <autograd/functions/basic_ops.h>
#include <autograd/functions/utils.h>
#include <autograd/graph_task.h>
#include <autograd/next_edges.h>
#include <c10/util/Exception.h>

#include <mutex>

namespace torch::aot {

void CompiledBackward::save(const std::vector<at::Tensor>& inputs, const std::vector<at::Tensor>& results) {
  saved_.reserve(plan_->parts.kept.size());
  for (const Kept& kept : plan_->parts.kept) {
    const at::Tensor& tensor = kept.is_input ? inputs.at(kept.index) : results.at(kept.index);
    const bool is_output = !kept.is_input && tensor.defined() && autograd::impl::grad_fn_unsafe(tensor) == this;
    saved_.emplace_back(tensor, is_output);
  }
}

void CompiledBackward::release_variables() {
  const std::lock_guard<std::mutex> lock(mutex_);
  saved_.clear();
  is_released_ = true;
}

/// What was saved; let go of at once when nobody asks for it again, so that the graph frees it step by step.
std::vector<at::Tensor> CompiledBackward::take_saved() {
  const std::lock_guard<std::mutex> lock(mutex_);
  TORCH_CHECK(!is_released_, autograd::ERR_BACKWARD_TWICE);
  std::vector<at::Tensor> inputs = autograd::unpack_list(saved_, shared_from_this());
  if (!autograd::get_current_graph_task_keep_graph()) {
    saved_.clear();
    is_released_ = true;
  }
  return inputs;
}

/// A gradient as the graph expects it: there, and with the strides of what it is the gradient of.
at::Tensor CompiledBackward::tangent(size_t index, const at::Tensor& grad) const {
  const fx::Graph& graph = *plan_->joint.functional.graph;
  const fx::TensorInfo& info = *graph.placeholders().at(plan_->joint.tangents.at(index))->info();
  std::vector<int64_t> sizes, strides;
  for (size_t i = 0; i < info.sizes.size(); ++i) {
    sizes.push_back(info.sizes[i].value());
    strides.push_back(info.strides.at(i).value());
  }
  if (grad.defined() && grad.strides().equals(strides) && grad.sizes().equals(sizes)) {
    return grad;
  }
  const auto options = at::TensorOptions(info.device).dtype(info.dtype);
  at::Tensor dense = at::empty_strided(sizes, strides, options);
  return grad.defined() ? dense.copy_(grad) : dense.zero_();
}

autograd::variable_list CompiledBackward::apply(autograd::variable_list&& grads) {
  std::vector<at::Tensor> inputs = take_saved();
  std::vector<at::Tensor> tangents(plan_->joint.functional.graph->placeholders().size());
  const bool create_graph = c10::GradMode::is_enabled();
  const autograd::variable_list given = create_graph ? grads : autograd::variable_list();
  {
    const at::AutoDispatchBelowADInplaceOrView below;
    for (size_t i = 0; i < grads.size(); ++i) {
      inputs.push_back(tangent(i, grads[i]));
      tangents[plan_->joint.tangents[i]] = inputs.back();
      grads[i].reset();
    }
  }
  bool uses_tangents = false;
  for (const functionalize::ResultSpec& spec : plan_->parts.grads) {
    uses_tangents = uses_tangents || spec.of == functionalize::ResultSpec::Of::Input;
  }
  if (!uses_tangents) {
    tangents.clear();
  }
  const std::vector<at::Tensor> roots = run_below_autograd(plan_->backward, std::move(inputs));
  autograd::variable_list results;
  for (const functionalize::ResultSpec& spec : plan_->parts.grads) {
    const c10::AutoGradMode no_grad(false);
    TORCH_CHECK(
        spec.of != functionalize::ResultSpec::Of::Input || spec.index >= plan_->joint.num_inputs,
        "compile: a gradient is an argument of the function");
    results.push_back(make_result(spec, tangents, roots));
  }
  if (create_graph) {
    autograd::edge_list edges = next_edges(); // what is asked for may be an argument of the function, or a tangent
    for (const at::Tensor& grad : given) {
      edges.push_back(grad.defined() ? autograd::impl::gradient_edge(grad) : autograd::Edge());
    }
    const auto error = std::make_shared<autograd::Error>(
        "torch.compile with aot_autograd does not currently support double backward: the derivative of the compiled "
        "function's derivative is not known; call the function itself, or use the backend \"eager\"",
        std::move(edges));
    for (at::Tensor& result : results) {
      if (result.defined()) {
        result = result.alias();
        autograd::set_history(result, error);
      }
    }
  }
  return results;
}

} // namespace torch::aot
