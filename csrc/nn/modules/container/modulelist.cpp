#include <csrc/nn/modules/container/modulelist.h>

#include <c10/util/Exception.h>
#include <c10/util/Type.h>

#include <ostream>

namespace torch::nn {

namespace detail {

void throw_bad_module_cast(const std::string& position, const std::type_info& wanted) {
  TORCH_CHECK(false, "Unable to cast module[", position, "] to ", c10::demangle(wanted.name()));
}

} // namespace detail

ModuleListImpl::ModuleListImpl() = default;
ModuleListImpl::~ModuleListImpl() = default;

std::shared_ptr<Module> ModuleListImpl::clone(const std::optional<Device>& device) const {
  auto copy = std::make_shared<ModuleListImpl>();
  for (const auto& module : modules_) {
    copy->push_back(module->clone(device));
  }
  return copy;
}

void ModuleListImpl::reset() {}

void ModuleListImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::ModuleList";
}

void ModuleListImpl::push_back(std::shared_ptr<Module> module) {
  register_module(std::to_string(modules_.size()), module);
  modules_.push_back(std::move(module));
}

void ModuleListImpl::insert(size_t index, std::shared_ptr<Module> module) {
  TORCH_CHECK(index <= size(), "Index out of range: ", index, " in a ModuleList of ", size(), " modules");
  TORCH_CHECK(module != nullptr, "ModuleList::insert: the module is null");
  modules_.insert(modules_.begin() + static_cast<std::ptrdiff_t>(index), std::move(module));
  for (size_t i = index; i + 1 < size(); ++i) {
    replace_module(std::to_string(i), modules_[i]);
  }
  register_module(std::to_string(size() - 1), modules_.back());
}

std::shared_ptr<Module> ModuleListImpl::ptr(size_t index) const {
  TORCH_CHECK(index < size(), "Index out of range: ", index, " in a ModuleList of ", size(), " modules");
  return modules_[index];
}

} // namespace torch::nn
