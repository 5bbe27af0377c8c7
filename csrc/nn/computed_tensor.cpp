#include <csrc/nn/computed_tensor.h>

#include <aten/Functions.h>
#include <autograd/rebound_variable.h>
#include <c10/core/GradMode.h>
#include <c10/core/InferenceMode.h>
#include <c10/util/Exception.h>
#include <csrc/nn/module_access.h>

#include <algorithm>

namespace torch::nn::detail {

namespace {

namespace autograd = torch::autograd::impl;

bool any_requires_grad(const std::vector<at::Tensor>& tensors) {
  return std::any_of(tensors.begin(), tensors.end(), [](const at::Tensor& t) { return t.requires_grad(); });
}

} // namespace

ComputedTensor::ComputedTensor(Module& module, std::string name)
    : name_(std::move(name)), target_(find_tensor(module, name_)) {
  is_buffer_ = !ModuleAccess::parameters(module).contains(name_);
  (is_buffer_ ? ModuleAccess::buffers(module) : ModuleAccess::parameters(module)).erase(name_);
}

void ComputedTensor::renew(Module& module) {
  const std::vector<at::Tensor> from = sources(module);
  std::vector<State> state;
  for (const at::Tensor& source : from) {
    if (source.is_inference()) { // has no version
      state.clear();
      break;
    }
    state.push_back({source.const_data_ptr(), autograd::version_counter(source).current_version()});
  }
  const bool recorded = c10::GradMode::is_enabled() && (target_.requires_grad() || any_requires_grad(from));
  if (!state.empty() && state == seen_ && !recorded) {
    return;
  }
  at::Tensor value = compute(module);
  TORCH_CHECK(value.defined(), module.name(), ": what '", name_, "' is computed from gave an undefined tensor");
  if (value.is_inference() && !target_.is_inference()) {
    const c10::InferenceMode ordinary(false);
    value = value.clone();
  }
  set_value(value);
  seen_ = std::move(state);
}

void ComputedTensor::set_value(const at::Tensor& value) {
  autograd::renew(target_, value);
  seen_.clear();
}

at::Tensor ComputedTensor::copy_of(const at::Tensor& source, const std::optional<c10::Device>& device) {
  const c10::NoGradGuard no_grad;
  return device && source.device() != *device ? source.detach().to(*device) : source.detach().clone();
}

void ComputedTensor::take_value_of(const ComputedTensor& other, const std::optional<c10::Device>& device) {
  set_value(copy_of(other.target_, device));
}

at::Tensor find_tensor(Module& module, const std::string& name) {
  for (auto* tensors : {&ModuleAccess::parameters(module), &ModuleAccess::buffers(module)}) {
    if (const at::Tensor* found = tensors->find(name)) {
      return *found;
    }
  }
  return at::Tensor();
}

at::Tensor checked_parameter(
    const char* what, Module& module, const std::string& name, std::initializer_list<const char*> suffixes) {
  const at::Tensor* parameter = ModuleAccess::parameters(module).find(name);
  std::string names;
  for (const auto& item : module.named_parameters(/*recurse=*/false)) {
    names += (names.empty() ? "" : ", ") + item.key();
  }
  TORCH_CHECK_VALUE(
      parameter != nullptr && parameter->defined(), what, ": ", module.name(), " has no parameter '", name,
      "'; it has ", names.empty() ? "none" : names);
  TORCH_CHECK_VALUE(
      parameter->layout() == at::kStrided, what, ": parameter '", name, "' of ", module.name(),
      " must be dense, it has layout ", parameter->layout());
  for (const char* suffix : suffixes) {
    TORCH_CHECK(
        !find_tensor(module, name + suffix).defined(), what, ": ", module.name(), " has a tensor '", name, suffix,
        "' already");
  }
  return *parameter;
}

std::shared_ptr<ComputedTensor> find_computed(Module& module, const std::string& name) {
  if (has_hooks(module)) {
    for (const auto& computed : ModuleAccess::hooks(module).computed) {
      if (computed->name() == name) {
        return computed;
      }
    }
  }
  return nullptr;
}

void install(Module& module, std::shared_ptr<ComputedTensor> computed) {
  ModuleAccess::hooks(module).computed.push_back(std::move(computed));
}

void uninstall(
    Module& module, const std::shared_ptr<ComputedTensor>& computed, const at::Tensor& value, bool requires_grad) {
  autograd::renew_as_leaf(computed->target(), value, requires_grad && !computed->is_buffer());
  auto& list = ModuleAccess::hooks(module).computed;
  list.erase(std::remove(list.begin(), list.end(), computed), list.end());
  auto& tensors = computed->is_buffer() ? ModuleAccess::buffers(module) : ModuleAccess::parameters(module);
  tensors.insert(computed->name(), computed->target());
}

void copy_computed_tensors(Module& copy, const Module& source, const std::optional<c10::Device>& device) {
  if (!has_hooks(copy)) {
    return;
  }
  // The lists came with the copy constructor, and so do their members, which are still the source's.
  for (auto& computed : ModuleAccess::hooks(copy).computed) {
    computed = computed->copy_to(copy, source, device);
  }
}

} // namespace torch::nn::detail
