// ParameterList and ParameterDict.
#include <csrc/nn/modules/container/parameterdict.h>
#include <csrc/nn/modules/container/parameterlist.h>

#include <c10/util/Exception.h>

#include <ostream>

namespace torch::nn {

namespace {

void print_parameters(std::ostream& stream, const char* name, const OrderedDict<std::string, Tensor>& parameters) {
  stream << name << "(\n";
  for (const auto& item : parameters) {
    stream << '(' << item.key() << "): Parameter containing: [" << item.value().scalar_type() << " of size "
           << item.value().sizes() << "]\n";
  }
  stream << ')';
}

Tensor copy_parameter(const Tensor& source, const std::optional<Device>& device) {
  c10::NoGradGuard no_grad;
  Tensor copy = device && source.device() != *device ? source.to(*device) : source.clone();
  return copy.set_requires_grad(source.requires_grad());
}

} // namespace

ParameterListImpl::ParameterListImpl() = default;
ParameterListImpl::~ParameterListImpl() = default;

// As reset() registers nothing, the copy is made here.
std::shared_ptr<Module> ParameterListImpl::clone(const std::optional<Device>& device) const {
  auto copy = std::make_shared<ParameterListImpl>();
  for (const auto& item : parameters_) {
    copy->append(copy_parameter(item.value(), device));
  }
  return copy;
}

void ParameterListImpl::reset() {}

void ParameterListImpl::pretty_print(std::ostream& stream) const {
  print_parameters(stream, "torch::nn::ParameterList", parameters_);
}

void ParameterListImpl::append(torch::Tensor&& parameter) {
  append(std::as_const(parameter));
}

void ParameterListImpl::append(const torch::Tensor& parameter) {
  TORCH_CHECK(parameter.defined(), "ParameterList::append: the parameter is undefined");
  register_parameter(std::to_string(parameters_.size()), parameter, parameter.requires_grad());
}

void ParameterListImpl::append(const Item& item) {
  append(item.value());
}

Tensor& ParameterListImpl::at(size_t index) {
  TORCH_CHECK(index < size(), "Index out of range: ", index, " in a ParameterList of ", size(), " parameters");
  return parameters_[index].value();
}

const Tensor& ParameterListImpl::at(size_t index) const {
  TORCH_CHECK(index < size(), "Index out of range: ", index, " in a ParameterList of ", size(), " parameters");
  return parameters_[index].value();
}

ParameterDictImpl::ParameterDictImpl() = default;
ParameterDictImpl::~ParameterDictImpl() = default;

void ParameterDictImpl::clear() {
  parameters_.clear();
}
std::vector<std::string> ParameterDictImpl::keys() const {
  return parameters_.keys();
}
std::vector<torch::Tensor> ParameterDictImpl::values() const {
  return parameters_.values();
}

ParameterDictImpl::ParameterDictImpl(const torch::OrderedDict<std::string, torch::Tensor>& parameters) {
  for (const auto& item : parameters) {
    insert(item.key(), item.value());
  }
}

std::shared_ptr<Module> ParameterDictImpl::clone(const std::optional<Device>& device) const {
  auto copy = std::make_shared<ParameterDictImpl>();
  for (const auto& item : parameters_) {
    copy->insert(item.key(), copy_parameter(item.value(), device));
  }
  return copy;
}

void ParameterDictImpl::reset() {}

void ParameterDictImpl::pretty_print(std::ostream& stream) const {
  print_parameters(stream, "torch::nn::ParameterDict", parameters_);
}

Tensor& ParameterDictImpl::insert(const std::string& key, const Tensor& parameter) {
  TORCH_CHECK(parameter.defined(), "ParameterDict::insert: parameter '", key, "' is undefined");
  return register_parameter(key, parameter, parameter.requires_grad());
}

Tensor ParameterDictImpl::pop(const std::string& key) {
  Tensor parameter = parameters_[key];
  parameters_.erase(key);
  return parameter;
}

void ParameterDictImpl::set(const std::string& key, const Tensor& parameter) {
  Tensor& kept = parameters_[key];
  TORCH_CHECK(parameter.defined(), "ParameterDict::update: parameter '", key, "' is undefined");
  kept = parameter;
}

} // namespace torch::nn
