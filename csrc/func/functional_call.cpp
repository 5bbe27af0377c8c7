#include <csrc/func/functional_call.h>

#include <aten/Functions.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <typeinfo>

namespace torch::func {

namespace detail {

void add_pair(const nn::Module& module, const std::string& name, const at::Tensor& tensor, Pairs& pairs) {
  const nn::Module* owner = &module;
  std::string rest = name;
  torch::OrderedDict<std::string, std::shared_ptr<nn::Module>> children;
  for (size_t dot = rest.find('.'); dot != std::string::npos; dot = rest.find('.')) {
    children = owner->named_children();
    const std::shared_ptr<nn::Module>* const child = children.find(rest.substr(0, dot));
    TORCH_CHECK(
        child != nullptr, "functional_call: module ", module.name(), " has no parameter or buffer '", name, "'");
    owner = child->get();
    rest = rest.substr(dot + 1);
  }
  for (const auto& own : {owner->named_parameters(/*recurse=*/false), owner->named_buffers(/*recurse=*/false)}) {
    if (const at::Tensor* const original = own.find(rest)) {
      pairs.emplace_back(*original, tensor);
      return;
    }
  }
  TORCH_CHECK(false, "functional_call: module ", module.name(), " has no parameter or buffer '", name, "'");
}

} // namespace detail

namespace {

/// The tensors of this name, which all modules must have, along a new first dimension.
at::Tensor stacked(const std::vector<NamedTensors>& of_modules, const std::string& name) {
  std::vector<at::Tensor> tensors;
  for (const NamedTensors& of_module : of_modules) {
    const at::Tensor* const tensor = of_module.find(name);
    TORCH_CHECK(
        tensor != nullptr && of_module.size() == of_modules.front().size(),
        "stack_module_state: Expected all models to have the same parameters and buffers, but '", name,
        "' is not in all of them");
    tensors.push_back(tensor->detach());
  }
  return at::stack(tensors);
}

NamedTensors all_stacked(const std::vector<NamedTensors>& of_modules) {
  NamedTensors all;
  for (const auto& entry : of_modules.front()) {
    const at::Tensor tensor = stacked(of_modules, entry.key());
    all.insert(entry.key(), tensor.set_requires_grad(entry.value().requires_grad()));
  }
  return all;
}

} // namespace

std::pair<NamedTensors, NamedTensors> stack_module_state(const std::vector<std::shared_ptr<nn::Module>>& modules) {
  TORCH_CHECK(!modules.empty(), "stack_module_state: Expected at least one model, got 0.");
  std::vector<NamedTensors> parameters, buffers;
  for (const auto& module : modules) {
    const nn::Module &first = *modules.front(), &other = *module;
    TORCH_CHECK(
        first.is_training() == other.is_training(),
        "stack_module_state: Expected all models to have the same training/eval mode.");
    TORCH_CHECK(
        typeid(first) == typeid(other), "stack_module_state: Expected all models to be of the same class, but got ",
        first.name(), " and ", other.name());
    parameters.push_back(module->named_parameters());
    buffers.push_back(module->named_buffers());
  }
  return {all_stacked(parameters), all_stacked(buffers)};
}

} // namespace torch::func
