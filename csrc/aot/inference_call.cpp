// Compiled calls of which nobody wants gradients.
#include <csrc/aot/inference_call.h>

#include <csrc/compile/runner.h>
#include <aten/core/LegacyTypeDispatch.h>
#include <autograd/variable.h>

#include <algorithm>

namespace torch::aot {

std::vector<at::Tensor> run_below_autograd(const capture::CompiledGraph& graph, std::vector<at::Tensor> inputs) {
  const at::AutoDispatchBelowADInplaceOrView below;
  return graph(inputs);
}

at::Tensor make_result(
    const functionalize::ResultSpec& spec,
    const std::vector<at::Tensor>& inputs,
    const std::vector<at::Tensor>& roots) {
  if (spec.of == functionalize::ResultSpec::Of::Nothing) {
    return at::Tensor();
  }
  at::Tensor result = spec.of == functionalize::ResultSpec::Of::Input ? inputs.at(spec.index) : roots.at(spec.index);
  for (const functionalize::ViewStep& step : spec.steps) {
    result = step.run(result);
  }
  return result;
}

std::shared_ptr<const CompiledCall> InferenceCall::make(CallInputs inputs, bool grad_mode, const Options& options) {
  auto made = std::shared_ptr<InferenceCall>(new InferenceCall(std::move(inputs)));
  const std::vector<at::Tensor>& recorded = made->inputs_.recorded();
  made->functional_ = functionalize::functionalize(
      *made->inputs_.graph(), functionalize::meta_like(recorded), made->inputs_.device(), grad_mode);
  made->written_ = functionalize::write_inputs_in_graph(made->functional_, std::vector<bool>(recorded.size(), true));
  made->functional_.graph->eliminate_dead_code();
  capture::BackendInput backend{made->functional_.graph, capture::GraphKind::Inference, {}, {}, {}};
  for (size_t i = 0; i < recorded.size(); ++i) {
    backend.is_constant.push_back(false);
    backend.is_state.push_back(i >= made->inputs_.num_arguments());
    const auto& written = made->functional_.written;
    const bool is_written = std::find(written.begin(), written.end(), i) != written.end();
    backend.is_frozen.push_back(options.freeze && backend.is_state.back() && !is_written);
    backend.is_alone.push_back(made->inputs_.is_alone(i));
  }
  made->compiled_ = options.backend(backend);
  return made;
}

bool InferenceCall::run(const std::vector<at::Tensor>& arguments, std::vector<at::Tensor>& results) const {
  const std::vector<at::Tensor> all = inputs_.of_call(arguments);
  if (!written_.empty() && !inputs_.share_memory_alike(all)) {
    return false;
  }
  const std::vector<at::Tensor> roots = run_below_autograd(compiled_, all);
  for (const size_t input : written_) {
    autograd::impl::bump_version(all[input]);
  }
  for (const functionalize::ResultSpec& spec : functional_.results) {
    results.push_back(make_result(spec, all, roots));
  }
  return true;
}

std::string InferenceCall::describe() const {
  return fused::describe(compiled_, *functional_.graph);
}

} // namespace torch::aot
