#include <csrc/capture/export.h>

#include <csrc/capture/recorder.h>
#include <csrc/program/program_state.h>

#include <map>

namespace torch::capture {

namespace {

using program::ProgramState;
using program::TreeSpec;

struct NamedTensor {
  at::Tensor tensor;
  bool is_parameter;
};

/// The state of the modules: of several modules each path begins with the module's number.
std::map<std::string, NamedTensor> state_of(const std::vector<std::shared_ptr<nn::Module>>& modules) {
  std::map<std::string, NamedTensor> state;
  for (size_t i = 0; i < modules.size(); ++i) {
    TORCH_CHECK(modules[i] != nullptr, "export_: a module is null");
    const std::string prefix = modules.size() == 1 ? "" : std::to_string(i) + ".";
    for (const auto& item : modules[i]->named_parameters()) {
      state[prefix + item.key()] = {item.value(), true};
    }
    for (const auto& item : modules[i]->named_buffers()) {
      state[prefix + item.key()] = {item.value(), false};
    }
  }
  return state;
}

std::vector<std::string> argument_names(size_t count, const std::vector<std::string>& given) {
  TORCH_CHECK(
      given.empty() || given.size() == count, "export_: ", given.size(), " names are given for ", count, " inputs");
  std::vector<std::string> names = given;
  for (size_t i = names.size(); i < count; ++i) {
    names.push_back("arg" + std::to_string(i));
  }
  return names;
}

void add_signature(ProgramState& state, const std::map<std::string, NamedTensor>& named) {
  for (const fx::Node* node : state.module->graph().nodes()) {
    if (node->kind() == fx::NodeKind::GetAttr) {
      const auto found = named.find(node->target());
      const InputKind kind = found == named.end() ? InputKind::CONSTANT_TENSOR
          : found->second.is_parameter            ? InputKind::PARAMETER
                                                  : InputKind::BUFFER;
      state.signature.input_specs.push_back({kind, node->name(), node->target()});
    } else if (node->kind() == fx::NodeKind::Placeholder) {
      state.signature.input_specs.push_back({InputKind::USER_INPUT, node->name(), ""});
      state.inputs.push_back({const_cast<fx::Node*>(node), std::nullopt});
    }
  }
  for (const fx::Arg& result : state.module->graph().output_node()->args()) {
    const std::string name = result.is_value() ? result.value().node->name() : "";
    state.signature.output_specs.push_back({OutputKind::USER_OUTPUT, name, ""});
  }
}

} // namespace

ExportedProgram export_function(
    const std::function<void(const std::vector<at::Tensor>&, Outputs&)>& run,
    const std::vector<at::Tensor>& inputs,
    const ExportOptions& options) {
  const std::map<std::string, NamedTensor> named = state_of(options.modules);
  KnownTensors known;
  for (const auto& [path, each] : named) {
    known.emplace(each.tensor.unsafeGetTensorImpl(), path);
  }
  auto state = std::make_shared<ProgramState>();
  state->arg_names = argument_names(inputs.size(), options.arg_names);
  Outputs outputs;
  Recorder recorder(inputs, state->arg_names, known);
  const Recording recording = recorder.record([&] {
    run(inputs, outputs);
    return outputs.tensors;
  });
  TORCH_CHECK(recording.module, "export_: the function cannot be captured: ", recording.refused);
  // With the graph alone: attributes become parameters and buffers where they are.
  state->module = std::make_shared<fx::GraphModule>(
      std::const_pointer_cast<fx::Graph>(recording.module->graph().shared_from_this()), "ExportedProgram");
  for (const auto& [path, each] : named) {
    if (each.is_parameter) {
      state->module->add_parameter(path, each.tensor);
      state->parameters.push_back(path);
    } else {
      state->module->add_buffer(path, each.tensor);
      state->buffers.push_back(path);
    }
  }
  for (const auto& [path, tensor] : recording.references) {
    if (named.count(path) == 0) {
      state->module->set_attr(path, tensor);
    }
  }
  add_signature(*state, named);
  state->num_user_results = outputs.tensors.size();
  const TreeSpec arguments(TreeSpec::Kind::Tuple, std::vector<TreeSpec>(inputs.size()));
  state->in_spec = TreeSpec(TreeSpec::Kind::Tuple, {arguments, TreeSpec::dict({}, {})});
  state->out_spec =
      outputs.is_single ? TreeSpec() : TreeSpec(TreeSpec::Kind::Tuple, std::vector<TreeSpec>(outputs.tensors.size()));
  return ExportedProgram(std::move(state));
}

} // namespace torch::capture
