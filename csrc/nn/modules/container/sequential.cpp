#include <csrc/nn/modules/container/sequential.h>

#include <c10/util/Exception.h>
#include <c10/util/Type.h>

#include <ostream>

namespace torch::nn {

SequentialImpl::SequentialImpl() = default;
SequentialImpl::~SequentialImpl() = default;

SequentialImpl::SequentialImpl(torch::OrderedDict<std::string, AnyModule>&& modules) {
  modules_.reserve(modules.size());
  for (auto& item : modules) {
    push_back(item.key(), std::move(item.value()));
  }
}

SequentialImpl::SequentialImpl(std::initializer_list<NamedAnyModule> modules) {
  modules_.reserve(modules.size());
  for (const NamedAnyModule& module : modules) {
    push_back(module.name(), module.module());
  }
}

std::shared_ptr<Module> SequentialImpl::clone(const std::optional<Device>& device) const {
  auto copy = std::make_shared<SequentialImpl>();
  const std::vector<std::string> names = named_children().keys();
  for (size_t i = 0; i < modules_.size(); ++i) {
    copy->push_back(names[i], modules_[i].clone(device));
  }
  return copy;
}

void SequentialImpl::reset() {}

void SequentialImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::Sequential";
}

void SequentialImpl::push_back(AnyModule any_module) {
  push_back(std::to_string(modules_.size()), std::move(any_module));
}

void SequentialImpl::push_back(std::string name, AnyModule any_module) {
  register_module(std::move(name), any_module.ptr());
  modules_.push_back(std::move(any_module));
}

std::shared_ptr<Module> SequentialImpl::ptr(size_t index) const {
  check_index(index);
  return modules_[index].ptr();
}

AnyValue SequentialImpl::run(AnyValue value) {
  for (size_t i = 1; i < modules_.size(); ++i) {
    value = modules_[i].any_forward(std::move(value));
  }
  return value;
}

void SequentialImpl::check_not_empty() const {
  TORCH_CHECK(!is_empty(), "Cannot call forward() on an empty Sequential");
}

void SequentialImpl::check_index(size_t index) const {
  TORCH_CHECK(index < size(), "Index out of range: ", index, " in a Sequential of ", size(), " modules");
}

void SequentialImpl::throw_bad_result(const std::type_info& actual, const std::type_info& wanted) {
  TORCH_CHECK(
      false, "The type of the return value is ", c10::demangle(actual.name()), ", but you asked for type ",
      c10::demangle(wanted.name()));
}

Sequential::Sequential(std::initializer_list<NamedAnyModule> modules)
    : torch::nn::ModuleHolder<SequentialImpl>(std::make_shared<SequentialImpl>(modules)) {}

} // namespace torch::nn
