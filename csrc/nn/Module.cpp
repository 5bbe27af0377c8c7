#include <csrc/nn/Module.h>
#include <csrc/nn/computed_tensor.h>
#include <csrc/nn/module_changes.h>

#include <c10/util/Exception.h>
#include <c10/util/Type.h>

#include <atomic>
#include <ostream>
#include <typeinfo>

namespace torch::nn {

namespace {

std::atomic<uint64_t> changes{0};

std::string join_name(const std::string& prefix, const std::string& name) {
  return prefix.empty() ? name : prefix + "." + name;
}

void check_name(const char* kind, const std::string& name) {
  TORCH_CHECK(!name.empty(), kind, " name must not be empty");
  TORCH_CHECK(name.find('.') == std::string::npos, kind, " name must not contain a dot (got '", name, "')");
}

template <class Value>
void add_defined(OrderedDict<std::string, Tensor>& out, const std::string& prefix, const Value& tensors) {
  for (const auto& item : tensors) {
    if (item.value().defined()) {
      out.insert(join_name(prefix, item.key()), item.value());
    }
  }
}

// A copy of `source` on `device`, or where it is.
Tensor copy_of(const Tensor& source, const std::optional<Device>& device) {
  return device && source.device() != *device ? source.to(*device) : source.clone();
}

void check_same_count(size_t copied, size_t original, const char* what, const char* function) {
  TORCH_CHECK(
      copied == original, "The cloned module does not have the same number of ", what,
      " as the original module after calling reset(): ", copied, " and ", original, ". Are you sure you called ",
      function, "() inside reset() and not the constructor?");
}

} // namespace

namespace detail {

void throw_empty_holder() {
  TORCH_CHECK(false, "Accessing empty ModuleHolder");
}

} // namespace detail

Module::Module() : parameters_("Parameter"), buffers_("Buffer"), children_("Submodule") {}
Module::Module(const Module&) = default;
Module& Module::operator=(const Module&) = default;
Module::Module(Module&&) noexcept = default;
Module& Module::operator=(Module&&) noexcept = default;
Module::~Module() = default;

Module::Module(std::string name) : Module() {
  name_ = std::move(name);
}

const std::string& Module::name() const noexcept {
  // Found when asked for: in a constructor the dynamic type is not yet that of the object.
  if (!name_->has_value()) {
    name_ = c10::demangle(typeid(*this).name());
  }
  return **name_;
}

std::shared_ptr<Module> Module::clone(const std::optional<Device>&) const {
  TORCH_CHECK(
      false, "clone() has not been implemented for ", name(), ". Subclass torch::nn::Cloneable<", name(),
      "> instead of torch::nn::Module to inherit the ability to clone.");
}

void Module::clone_(Module&, const std::optional<Device>&) {}

void Module::drop_state() {
  parameters_.clear();
  buffers_.clear();
  children_.clear();
}

void Module::copy_state_from(const Module& source, const std::optional<Device>& device) {
  detail::copy_computed_tensors(*this, source, device);
  check_same_count(parameters_.size(), source.parameters_.size(), "parameters", "register_parameter");
  for (const auto& item : source.named_parameters(/*recurse=*/false)) {
    Tensor& parameter = parameters_[item.key()];
    parameter.set_data(copy_of(item.value(), device));
    parameter.set_requires_grad(item.value().requires_grad());
  }
  check_same_count(buffers_.size(), source.buffers_.size(), "buffers", "register_buffer");
  for (const auto& item : source.named_buffers(/*recurse=*/false)) {
    buffers_[item.key()].set_data(copy_of(item.value(), device));
  }
  check_same_count(children_.size(), source.children_.size(), "child modules", "register_module");
  for (const auto& child : source.children_) {
    children_[child.key()]->clone_(*child.value(), device);
  }
}

void Module::apply(const ModuleApplyFunction& function) {
  function(*this);
  apply_to_submodules([&](const std::string&, const std::shared_ptr<Module>& module) { function(*module); }, "");
}

void Module::apply(const ConstModuleApplyFunction& function) const {
  function(*this);
  apply_to_submodules([&](const std::string&, const std::shared_ptr<Module>& module) { function(*module); }, "");
}

void Module::apply(const NamedModuleApplyFunction& function, const std::string& name_prefix) {
  function(name_prefix, *this);
  apply_to_submodules(
      [&](const std::string& name, const std::shared_ptr<Module>& module) { function(name, *module); }, name_prefix);
}

void Module::apply(const ConstNamedModuleApplyFunction& function, const std::string& name_prefix) const {
  function(name_prefix, *this);
  apply_to_submodules(
      [&](const std::string& name, const std::shared_ptr<Module>& module) { function(name, *module); }, name_prefix);
}

void Module::apply(const ModulePointerApplyFunction& function) const {
  function(shared_from_this_checked());
  apply_to_submodules([&](const std::string&, const std::shared_ptr<Module>& module) { function(module); }, "");
}

void Module::apply(const NamedModulePointerApplyFunction& function, const std::string& name_prefix) const {
  function(name_prefix, shared_from_this_checked());
  apply_to_submodules(function, name_prefix);
}

void Module::apply_to_submodules(
    const NamedModulePointerApplyFunction& function, const std::string& name_prefix) const {
  for (const auto& child : children_) {
    const std::string name = join_name(name_prefix, child.key());
    function(name, child.value());
    child.value()->apply_to_submodules(function, name);
  }
}

std::vector<Tensor> Module::parameters(bool recurse) const {
  return named_parameters(recurse).values();
}

OrderedDict<std::string, Tensor> Module::named_parameters(bool recurse) const {
  OrderedDict<std::string, Tensor> result;
  add_defined(result, "", parameters_);
  if (recurse) {
    apply_to_submodules(
        [&](const std::string& name, const std::shared_ptr<Module>& module) {
          add_defined(result, name, module->parameters_);
        },
        "");
  }
  return result;
}

std::vector<Tensor> Module::buffers(bool recurse) const {
  return named_buffers(recurse).values();
}

OrderedDict<std::string, Tensor> Module::named_buffers(bool recurse) const {
  OrderedDict<std::string, Tensor> result;
  add_defined(result, "", buffers_);
  if (recurse) {
    apply_to_submodules(
        [&](const std::string& name, const std::shared_ptr<Module>& module) {
          add_defined(result, name, module->buffers_);
        },
        "");
  }
  return result;
}

std::vector<std::shared_ptr<Module>> Module::modules(bool include_self) const {
  return named_modules("", include_self).values();
}

OrderedDict<std::string, std::shared_ptr<Module>> Module::named_modules(
    const std::string& name_prefix, bool include_self) const {
  OrderedDict<std::string, std::shared_ptr<Module>> result;
  if (include_self) {
    result.insert(name_prefix, shared_from_this_checked());
  }
  apply_to_submodules(
      [&](const std::string& name, const std::shared_ptr<Module>& module) { result.insert(name, module); },
      name_prefix);
  return result;
}

std::vector<std::shared_ptr<Module>> Module::children() const {
  return children_.values();
}

OrderedDict<std::string, std::shared_ptr<Module>> Module::named_children() const {
  return children_;
}

void Module::train(bool on) {
  for (auto& child : children_) {
    child.value()->train(on);
  }
  is_training_ = on;
  ++changes;
}

void Module::eval() {
  train(/*on=*/false);
}

bool Module::is_training() const noexcept {
  return is_training_;
}

template <typename... Target>
void Module::convert(Target... target) {
  for (auto& child : children_) {
    child.value()->to(target...);
  }
  for (auto* tensors : {&parameters_, &buffers_}) {
    for (auto& item : *tensors) {
      if (item.value().defined()) {
        item.value().set_data(item.value().to(target...));
      }
    }
  }
}

void Module::to(Device device, Dtype dtype, bool non_blocking) {
  convert(device, dtype, non_blocking);
}

void Module::to(Dtype dtype, bool non_blocking) {
  convert(dtype, non_blocking);
}

void Module::to(Device device, bool non_blocking) {
  convert(device, non_blocking);
}

void Module::zero_grad(bool set_to_none) {
  for (auto& child : children_) {
    child.value()->zero_grad(set_to_none);
  }
  for (auto& item : parameters_) {
    if (!item.value().defined()) {
      continue;
    }
    Tensor& grad = item.value().mutable_grad();
    if (!grad.defined()) {
      continue;
    }
    if (set_to_none) {
      grad.reset();
    } else {
      grad = grad.detach();
      grad.zero_();
    }
  }
}

bool Module::is_serializable() const {
  return true;
}

void Module::pretty_print(std::ostream& stream) const {
  stream << name();
}

void Module::print_tree(std::ostream& stream, const std::string& indentation) const {
  pretty_print(stream);
  if (children_.is_empty()) {
    return;
  }
  const std::string deeper = indentation + "  ";
  stream << "(\n";
  for (const auto& child : children_) {
    stream << deeper << "(" << child.key() << "): ";
    child.value()->print_tree(stream, deeper);
    stream << '\n';
  }
  stream << indentation << ")";
}

std::ostream& operator<<(std::ostream& stream, const Module& module) {
  module.print_tree(stream, "");
  return stream;
}

Tensor& Module::register_parameter(std::string name, Tensor tensor, bool requires_grad) {
  check_name("Parameter", name);
  if (tensor.defined()) {
    tensor.set_requires_grad(requires_grad);
  } else if (requires_grad) {
    TORCH_WARN("An undefined tensor cannot require grad. Ignoring the `requires_grad=true` function parameter.");
  }
  return parameters_.insert(std::move(name), std::move(tensor));
}

Tensor& Module::register_buffer(std::string name, Tensor tensor) {
  check_name("Buffer", name);
  return buffers_.insert(std::move(name), std::move(tensor));
}

void Module::register_child(std::string name, std::shared_ptr<Module> module) {
  check_name("Submodule", name);
  TORCH_CHECK(module != nullptr, "register_module: submodule '", name, "' of ", this->name(), " is null");
  children_.insert(std::move(name), std::move(module));
  ++changes;
}

void Module::replace_child(const std::string& name, std::shared_ptr<Module> module) {
  TORCH_CHECK(module != nullptr, "replace_module: submodule '", name, "' of ", this->name(), " is null");
  children_[name] = std::move(module);
  ++changes;
}

void Module::unregister_module(const std::string& name) {
  TORCH_CHECK(children_.contains(name), "No Module with name `", name, "` is registered");
  children_.erase(name);
  ++changes;
}

uint64_t module_changes() {
  return changes;
}

Module::DefaultArgs Module::_forward_default_args() {
  return {};
}

std::shared_ptr<Module> Module::shared_from_this_checked() const {
  const std::shared_ptr<const Module> self = weak_from_this().lock();
  TORCH_CHECK(
      self != nullptr,
      "It looks like you attempted to retrieve your top-level module as a shared_ptr, but it is not stored in a "
      "shared_ptr. Use std::make_shared<",
      name(),
      "> instead of creating your module on the stack, or alternatively do "
      "not try to access your top-level module at all by passing /*include_self=*/false to modules() or "
      "named_modules()");
  return std::const_pointer_cast<Module>(self);
}

} // namespace torch::nn
