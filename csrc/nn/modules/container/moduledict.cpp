#include <csrc/nn/modules/container/moduledict.h>

#include <ostream>

namespace torch::nn {

ModuleDictImpl::ModuleDictImpl() : modules_("Module") {}
ModuleDictImpl::~ModuleDictImpl() = default;

ModuleDictImpl::ModuleDictImpl(const std::vector<std::pair<std::string, std::shared_ptr<Module>>>& modules)
    : ModuleDictImpl() {
  update(modules);
}

ModuleDictImpl::ModuleDictImpl(const Dict& modules) : ModuleDictImpl() {
  update(modules);
}

std::shared_ptr<Module> ModuleDictImpl::clone(const std::optional<Device>& device) const {
  auto copy = std::make_shared<ModuleDictImpl>();
  for (const auto& item : modules_) {
    copy->insert(item.key(), item.value()->clone(device));
  }
  return copy;
}

void ModuleDictImpl::reset() {}

void ModuleDictImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::ModuleDict";
}

std::vector<std::pair<std::string, std::shared_ptr<Module>>> ModuleDictImpl::items() const {
  return modules_.pairs();
}
std::vector<std::string> ModuleDictImpl::keys() const {
  return modules_.keys();
}
std::vector<std::shared_ptr<Module>> ModuleDictImpl::values() const {
  return modules_.values();
}
bool ModuleDictImpl::contains(const std::string& key) const noexcept {
  return modules_.contains(key);
}
std::shared_ptr<Module> ModuleDictImpl::operator[](const std::string& key) const {
  return modules_[key];
}

void ModuleDictImpl::clear() {
  for (const auto& item : modules_) {
    unregister_module(item.key());
  }
  modules_.clear();
}

std::shared_ptr<Module> ModuleDictImpl::pop(const std::string& key) {
  std::shared_ptr<Module> module = modules_[key];
  modules_.erase(key);
  unregister_module(key);
  return module;
}

void ModuleDictImpl::update(const std::vector<std::pair<std::string, std::shared_ptr<Module>>>& modules) {
  for (const auto& item : modules) {
    insert(item.first, item.second);
  }
}

void ModuleDictImpl::insert(const std::string& key, std::shared_ptr<Module> module) {
  if (contains(key)) {
    replace_module(key, module);
    modules_[key] = std::move(module);
  } else {
    register_module(key, module);
    modules_.insert(key, std::move(module));
  }
}

} // namespace torch::nn
