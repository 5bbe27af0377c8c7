#include <csrc/func/functionalize.h>

#include <aten/Functions.h>
#include <aten/functorch/BatchedTensorImpl.h>
#include <autograd/functions/utils.h>
#include <autograd/variable.h>
#include <c10/core/GradMode.h>
#include <csrc/aot/call_inputs.h>
#include <csrc/aot/inference_call.h>
#include <csrc/capture/keep_random_state.h>
#include <csrc/capture/recorder.h>
#include <csrc/func/levels.h>
#include <csrc/functionalize/functionalize.h>
#include <csrc/functionalize/meta_call.h>
#include <csrc/functionalize/views.h>
#include <csrc/fx/graph_module.h>

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace torch::func::detail {

namespace {

using aot::CallInputs;
using c10::IValue;
using functionalize::Functional;
using functionalize::ViewStep;
using Tensors = std::vector<at::Tensor>;

/// The history of stand-ins: it says that there is one.
struct StandInHistory final : autograd::Node {
  using Node::Node;
  autograd::variable_list apply(autograd::variable_list&&) override {
    return {};
  }
};

/// A tensor in the memory of `tensor`, of a batch in that of the first sample, with a version of its own.
at::Tensor stand_in(const at::Tensor& tensor) {
  if (!tensor.defined()) {
    return tensor;
  }
  at::Tensor value = tensor;
  while (const auto* const batched = at::functorch::maybeGetBatchedImpl(value)) {
    at::functorch::check_not_escaped(*batched, "functionalize");
    const at::Tensor all = batched->value();
    if (all.size(batched->bdim()) == 0) {
      value = at::zeros(tensor.sizes(), tensor.options());
      break;
    }
    value = all.select(batched->bdim(), 0);
  }
  at::Tensor made = value.detach().variable_data();
  if (tensor.requires_grad()) {
    autograd::impl::set_gradient_edge(made, {std::make_shared<StandInHistory>(), 0});
  }
  return made;
}

/// Of an operator that gives a view the one that gives a copy, where there is one.
c10::OperatorHandle copying(const c10::OperatorHandle& op) {
  const c10::OperatorName& name = op.operator_name();
  const auto found = c10::Dispatcher::singleton().findSchema({name.name + "_copy", name.overload_name});
  return found && found->schema().arguments().size() == op.schema().arguments().size() ? *found : op;
}

/// Says in the functional graph where gradients are recorded, as the graph that it was made of does.
void add_grad_modes(Functional& functional, const fx::Graph& source, bool grad_mode) {
  std::unordered_map<const fx::Node*, bool> modes;
  bool mode = grad_mode;
  for (const fx::Node* const node : source.nodes()) {
    mode = node->is_function("set_grad_enabled") ? node->arg(size_t(0)).constant().toBool() : mode;
    modes[node] = mode;
  }
  mode = grad_mode;
  for (fx::Node* const node : functional.graph->nodes()) {
    const bool is_end = node->kind() == fx::NodeKind::Output;
    const fx::Node* const origin = node->id() < functional.origins.size() ? functional.origins[node->id()] : nullptr;
    const bool wanted = is_end ? grad_mode : origin == nullptr ? mode : modes.at(origin);
    if (wanted != mode) {
      const auto here = functional.graph->inserting_before(node);
      functional.graph->call_function("set_grad_enabled", {wanted}, 0);
      mode = wanted;
    }
  }
}

void remove_views(Functional& functional) {
  for (fx::Node* const node : functional.graph->nodes()) {
    if (!functionalize::is_view_node(*node) || !node->is_operator()) {
      continue;
    }
    const c10::OperatorHandle copy = copying(node->operator_handle());
    if (copy.operator_name() == node->operator_handle().operator_name()) {
      continue;
    }
    const auto here = functional.graph->inserting_before(node);
    node->replace_all_uses_with(functional.graph->call_operator(copy, node->args()));
    functional.graph->erase_node(node);
  }
  for (functionalize::ResultSpec& result : functional.results) {
    for (ViewStep& step : result.steps) {
      step.op = copying(step.op);
    }
  }
}

/// What a function does, as a graph that writes to nothing.
class FunctionalCall {
 public:
  FunctionalCall(const Tensors& given, const std::function<Tensors(const Tensors&)>& function) {
    const capture::DispatchMode::Scope unrecorded(nullptr); // who records around this sees what run() does
    Tensors stand_ins;
    std::vector<std::string> names;
    for (const at::Tensor& tensor : given) {
      stand_ins.push_back(stand_in(tensor));
      names.push_back("arg" + std::to_string(names.size()));
    }
    const capture::Recording recording = record(stand_ins, names, function);
    TORCH_CHECK(recording.module, "functionalize: the function cannot be seen through: ", recording.refused);
    const CallInputs inputs(*recording.module, stand_ins, recording.references);
    functional_ = functionalize::functionalize(
        *inputs.graph(), functionalize::meta_like(inputs.recorded()), inputs.device(), c10::GradMode::is_enabled());
    add_grad_modes(functional_, *inputs.graph(), c10::GradMode::is_enabled());
    inputs_ = inputs.of_call(given);
  }

  Functional& functional() {
    return functional_;
  }

  Tensors run() const {
    const c10::AutoGradMode unchanged(c10::GradMode::is_enabled()); // also after an exception
    const fx::GraphModule module(functional_.graph);
    const std::vector<IValue> values = module.forward(std::vector<IValue>(inputs_.begin(), inputs_.end()));
    Tensors roots;
    for (size_t i = 0; i < functional_.num_roots; ++i) {
      roots.push_back(values[i].toTensor());
    }
    for (size_t i = 0; i < functional_.written.size(); ++i) {
      inputs_[functional_.written[i]].copy_(values[functional_.num_roots + i].toTensor());
    }
    Tensors results;
    for (const functionalize::ResultSpec& spec : functional_.results) {
      results.push_back(aot::make_result(spec, inputs_, roots));
    }
    return results;
  }

 private:
  static capture::Recording record(
      const Tensors& stand_ins,
      const std::vector<std::string>& names,
      const std::function<Tensors(const Tensors&)>& function) {
    const Levels levels = active_levels();
    std::optional<at::functorch::LevelsBelowGuard> outside;
    if (!levels.empty()) {
      outside.emplace(*levels.front());
    }
    const capture::KeepRandomState keep_random_state;
    const capture::KnownTensors none;
    capture::Recorder recorder(stand_ins, names, none);
    recorder.undo_writes();
    recorder.record_backward();
    return recorder.record([&] {
      Tensors results = function(stand_ins);
      for (const at::Tensor& result : results) {
        TORCH_CHECK(
            !at::functorch::isBatchedTensor(result),
            "functionalize: the function uses a tensor of a vmap around it that is none of its arguments. Hand it in");
      }
      return results;
    });
  }

  Functional functional_;
  Tensors inputs_;
};

} // namespace

bool removes_views(std::string_view remove) {
  TORCH_CHECK_VALUE(
      remove == "mutations" || remove == "mutations_and_views",
      "functionalize: remove must be 'mutations' or 'mutations_and_views', got '", remove, "'");
  return remove == "mutations_and_views";
}

Leaves functionalized_call(
    const Leaves& arguments, const std::function<Leaves(const Leaves&)>& function, bool removes_views) {
  if (capture::DispatchMode::current() != nullptr && active_levels().empty()) {
    return function(arguments); // who records makes graphs functional; but vmap must not see writes
  }
  const TensorLeaves given(arguments);
  std::optional<Leaves> results;
  FunctionalCall call(given.tensors, [&](const Tensors& stand_ins) {
    Leaves changed = arguments;
    given.put(stand_ins, changed);
    results.emplace(function(changed));
    return TensorLeaves(*results).tensors;
  });
  if (removes_views) {
    remove_views(call.functional());
  }
  TensorLeaves(*results).put(call.run(), *results);
  return *std::move(results);
}

} // namespace torch::func::detail
