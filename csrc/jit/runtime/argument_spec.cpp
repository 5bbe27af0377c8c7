#include <csrc/jit/runtime/argument_spec.h>

#include <aten/core/tensor_type.h>

#include <c10/util/Exception.h>

#include <algorithm>
#include <ostream>
#include <utility>

namespace torch::jit {

namespace {

size_t combined(size_t hash, size_t value) {
  return hash * 1000003 ^ value;
}

size_t combined(size_t hash, at::IntArrayRef values) {
  for (const int64_t value : values) {
    hash = combined(hash, static_cast<size_t>(value));
  }
  return combined(hash, values.size());
}

} // namespace

// ---- tensors without sizes ------------------------------------------------------------------------------------------

TypePtr ArgumentInfo::toType() const {
  if (!defined_) {
    return TensorType::get();
  }
  return TensorType::create(type_, device_, static_cast<size_t>(dim_), requires_grad_);
}

size_t ArgumentInfo::hashCode() const {
  size_t hash = combined(defined_ ? 1 : 0, requires_grad_ ? 1 : 0);
  hash = combined(hash, static_cast<size_t>(dim_));
  hash = combined(hash, std::hash<at::Device>()(device_));
  return combined(hash, static_cast<size_t>(type_));
}

bool ArgumentInfo::operator==(const ArgumentInfo& other) const {
  return defined_ == other.defined_ && requires_grad_ == other.requires_grad_ && dim_ == other.dim_ &&
      device_ == other.device_ && type_ == other.type_;
}

ArgumentSpec::ArgumentSpec(size_t num_flat_tensor_inputs, size_t num_flat_optional_inputs)
    : hash_(combined(num_flat_tensor_inputs, num_flat_optional_inputs)) {
  tensors_.reserve(num_flat_tensor_inputs);
  optionals_.reserve(num_flat_optional_inputs);
}

void ArgumentSpec::addOptional(const IValue& input) {
  optionals_.push_back(!input.isNone());
  hash_ = combined(hash_, optionals_.back() ? 1 : 0);
}

void ArgumentSpec::addTensor(const IValue& input, bool with_grad) {
  TORCH_CHECK(input.isTensor(), "ArgumentSpec::addTensor: expected a tensor but got ", input.tagKind());
  const at::Tensor& tensor = input.toTensor();
  ArgumentInfo info;
  info.defined_ = tensor.defined();
  if (info.defined_) {
    info.requires_grad_ = with_grad && tensor.requires_grad();
    info.dim_ = static_cast<int>(tensor.dim());
    info.device_ = tensor.device();
    info.type_ = tensor.scalar_type();
  }
  hash_ = combined(hash_, info.hashCode());
  tensors_.push_back(info);
}

// ---- inputs of graphs -----------------------------------------------------------------------------------------------

namespace {

bool is_tensor(const TypePtr& type) {
  return type->kind() == TypeKind::TensorType;
}

void count_inputs(const TypePtr& type, size_t& tensors, size_t& optionals) {
  if (is_tensor(type)) {
    ++tensors;
  } else if (type->kind() == TypeKind::OptionalType) {
    ++optionals;
    tensors += is_tensor(type->containedTypes()[0]) ? 1 : 0;
  } else if (type->kind() == TypeKind::TupleType) {
    for (const TypePtr& element : type->containedTypes()) {
      count_inputs(element, tensors, optionals);
    }
  }
}

void add_input(ArgumentSpec& spec, const TypePtr& type, const IValue& value, bool with_grad) {
  if (is_tensor(type)) {
    spec.addTensor(value, with_grad);
  } else if (type->kind() == TypeKind::OptionalType) {
    spec.addOptional(value);
    if (!value.isNone() && is_tensor(type->containedTypes()[0])) {
      spec.addTensor(value, with_grad);
    }
  } else if (type->kind() == TypeKind::TupleType) {
    const auto tuple = value.toTuple();
    for (size_t i = 0; i < type->containedTypes().size(); ++i) {
      add_input(spec, type->containedTypes()[i], tuple->elements()[i], with_grad);
    }
  }
}

/// The type that a spec, read in the order in which add_input() fills it, gives.
class Specializer {
 public:
  explicit Specializer(const ArgumentSpec& spec) : spec_(spec) {}

  TypePtr specialize(const TypePtr& type) {
    if (is_tensor(type)) {
      return spec_.tensorAt(tensor_++).toType();
    }
    if (type->kind() == TypeKind::OptionalType) {
      const TypePtr element = type->containedTypes()[0];
      if (!spec_.isPresent(optional_++)) {
        return NoneType::get();
      }
      return is_tensor(element) ? spec_.tensorAt(tensor_++).toType() : element;
    }
    if (type->kind() == TypeKind::TupleType) {
      std::vector<TypePtr> elements;
      for (const TypePtr& element : type->containedTypes()) {
        elements.push_back(specialize(element));
      }
      return type->withContained(std::move(elements));
    }
    return type;
  }

 private:
  const ArgumentSpec& spec_;
  size_t tensor_ = 0;
  size_t optional_ = 0;
};

} // namespace

ArgumentSpecCreator::ArgumentSpecCreator(Graph& graph) {
  for (const Value* input : graph.inputs()) {
    types_.push_back(input->type());
  }
}

ArgumentSpec ArgumentSpecCreator::create(bool with_grad, const Stack& stack) const {
  TORCH_CHECK(
      stack.size() >= types_.size(), "ArgumentSpecCreator::create: the graph has ", types_.size(),
      " inputs, and the stack has ", stack.size(), " values");
  size_t tensors = 0;
  size_t optionals = 0;
  for (const TypePtr& type : types_) {
    count_inputs(type, tensors, optionals);
  }
  ArgumentSpec spec(tensors, optionals);
  const size_t below = stack.size() - types_.size();
  for (size_t i = 0; i < types_.size(); ++i) {
    add_input(spec, types_[i], stack[below + i], with_grad);
  }
  return spec;
}

void ArgumentSpecCreator::specializeTypes(Graph& g, const ArgumentSpec& spec) const {
  TORCH_CHECK(
      g.inputs().size() == types_.size(), "ArgumentSpecCreator::specializeTypes: made for a graph of ", types_.size(),
      " inputs, and got one of ", g.inputs().size());
  Specializer specializer(spec);
  for (size_t i = 0; i < types_.size(); ++i) {
    g.inputs()[i]->setType(specializer.specialize(types_[i]));
  }
}

// ---- tensors with sizes ---------------------------------------------------------------------------------------------

CompleteArgumentSpec::CompleteArgumentSpec(bool with_grad, at::ArrayRef<IValue> inputs)
    : hash_(combined(0, inputs.size())) {
  for (const IValue& value : inputs) {
    Input input;
    input.is_tensor = value.isTensor();
    if (input.is_tensor) {
      ArgumentSpec spec(1, 0);
      spec.addTensor(value, with_grad);
      input.info = spec.tensorAt(0);
      if (input.info.defined()) {
        input.sizes = value.toTensor().sizes().vec();
        input.strides = value.toTensor().strides().vec();
      }
    }
    hash_ = combined(hash_, input.is_tensor ? input.info.hashCode() : 0);
    hash_ = combined(combined(hash_, input.sizes), input.strides);
    inputs_.push_back(std::move(input));
  }
}

bool CompleteArgumentSpec::Input::operator==(const Input& other) const {
  return is_tensor == other.is_tensor && info == other.info && sizes == other.sizes && strides == other.strides;
}

bool CompleteArgumentSpec::operator==(const CompleteArgumentSpec& other) const {
  return inputs_ == other.inputs_;
}

CompleteArgumentInfo::operator TypePtr() const {
  if (!defined()) {
    return TensorType::get();
  }
  return TensorType::create(
      type(), device(), c10::VaryingShape<int64_t>(sizes()), c10::VaryingShape<int64_t>(strides()), requires_grad());
}

// ---- text -----------------------------------------------------------------------------------------------------------

std::ostream& operator<<(std::ostream& out, const ArgumentInfo& info) {
  if (!info.defined()) {
    return out << "<undefined>";
  }
  return out << "Tensor(device=" << info.device() << ", type=" << toString(info.type())
             << ", requires_grad=" << info.requires_grad() << ", dims=" << info.dim() << ")";
}

std::ostream& operator<<(std::ostream& out, const ArgumentSpec& spec) {
  out << "{";
  for (size_t i = 0; i < spec.numTensors(); ++i) {
    out << (i > 0 ? ", " : "") << spec.tensorAt(i);
  }
  out << "; ";
  for (size_t i = 0; i < spec.numOptionals(); ++i) {
    out << (i > 0 ? ", " : "") << spec.isPresent(i);
  }
  return out << "}";
}

std::ostream& operator<<(std::ostream& out, const CompleteArgumentInfo& info) {
  if (!info.defined()) {
    return out << "<undefined>";
  }
  return out << "Tensor(device=" << info.device() << ", type=" << toString(info.type())
             << ", requires_grad=" << info.requires_grad() << ", sizes=" << info.sizes()
             << ", strides=" << info.strides() << ")";
}

std::ostream& operator<<(std::ostream& out, const CompleteArgumentSpec& spec) {
  out << "{";
  for (size_t i = 0; i < spec.size(); ++i) {
    out << (i > 0 ? ", " : "") << spec.at(i);
  }
  return out << "}";
}

} // namespace torch::jit
