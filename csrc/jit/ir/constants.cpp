#include <csrc/jit/ir/constants.h>

#include <aten/core/interface_type.h>
#include <aten/core/tensor_type.h>

#include <algorithm>

namespace torch::jit {

namespace {

bool insertable_tensor(const at::Tensor& tensor) {
  return !tensor.requires_grad() && !tensor.is_sparse();
}

/// Objects of classes that libraries have bound, such as packed weights: they keep no program alive.
bool insertable_object(const c10::ivalue::Object& object) {
  const c10::ClassTypePtr type = object.type();
  return !type->is_module() && type->compilation_unit() == nullptr;
}

} // namespace

bool insertableIValue(const IValue& value) {
  if (value.isTensor()) {
    return !value.toTensor().defined() || insertable_tensor(value.toTensor());
  }
  if (value.isInt() || value.isDouble() || value.isComplexDouble() || value.isBool() || value.isNone() ||
      value.isString() || value.isDevice() || value.isEnum() || value.isStream() || value.isGenerator()) {
    return true;
  }
  if (value.isList()) {
    const auto elements = value.toListRef();
    return std::all_of(elements.begin(), elements.end(), insertableIValue);
  }
  if (value.isTuple()) {
    const auto& elements = value.toTupleRef().elements();
    return std::all_of(elements.begin(), elements.end(), insertableIValue);
  }
  if (value.isGenericDict()) {
    for (const auto& entry : value.toGenericDict()) {
      if (!insertableIValue(entry.key()) || !insertableIValue(entry.value())) {
        return false;
      }
    }
    return true;
  }
  return value.isObject() && insertable_object(value.toObjectRef());
}

namespace {

void set_constant(Node* node, const IValue& value) {
  Value* output = node->output();
  if (value.isTensor()) {
    const at::Tensor& tensor = value.toTensor();
    if (!tensor.defined()) {
      output->setType(TensorType::get()->withUndefined());
      node->t_(attr::value, tensor);
      return;
    }
    output->setType(TensorType::create(tensor));
    node->t_(attr::value, tensor);
  } else if (value.isInt()) {
    node->i_(attr::value, value.toInt());
    output->setType(IntType::get());
  } else if (value.isDouble()) {
    node->f_(attr::value, value.toDouble());
    output->setType(FloatType::get());
  } else if (value.isComplexDouble()) {
    node->c_(attr::value, value.toComplexDouble());
    output->setType(ComplexType::get());
  } else if (value.isBool()) {
    node->i_(attr::value, value.toBool() ? 1 : 0);
    output->setType(BoolType::get());
  } else if (value.isString()) {
    node->s_(attr::value, value.toStringRef());
    output->setType(StringType::get());
  } else if (value.isDevice()) {
    node->s_(attr::value, value.toDevice().str());
    output->setType(DeviceObjType::get());
  } else if (value.isNone()) {
    output->setType(NoneType::get());
  } else {
    node->ival_(attr::value, value);
    output->setType(value.type());
  }
}

} // namespace

std::optional<Value*> tryInsertConstant(
    Graph& graph, const IValue& value, std::optional<SourceRange> range, std::optional<ScopePtr> scope) {
  if (!insertableIValue(value)) {
    return std::nullopt;
  }
  Node* node = graph.create(prim::Constant);
  set_constant(node, value);
  if (range) {
    node->setSourceRange(std::move(*range));
  }
  if (scope) {
    node->setScope(std::move(*scope));
  }
  return graph.insertNode(node)->output();
}

Value* insertConstant(
    Graph& graph, const IValue& value, std::optional<SourceRange> range, std::optional<ScopePtr> scope) {
  if (std::optional<Value*> constant = tryInsertConstant(graph, value, std::move(range), std::move(scope))) {
    return *constant;
  }
  throw constant_not_supported_error(
      {__func__, __FILE__, static_cast<uint32_t>(__LINE__)}, "Unsupported value kind: " + value.tagKind());
}

std::optional<IValue> toIValue(const Value* value) {
  const Node* node = value->node();
  if (node->kind() != prim::Constant || value->type()->kind() == TypeKind::FunctionType) {
    return std::nullopt;
  }
  if (!node->hasAttribute(attr::value)) {
    return IValue();
  }
  switch (node->kindOf(attr::value)) {
    case AttributeKind::t:
      return IValue(node->t(attr::value));
    case AttributeKind::f:
      return IValue(node->f(attr::value));
    case AttributeKind::c:
      return IValue(node->c(attr::value));
    case AttributeKind::i: {
      const int64_t number = node->i(attr::value);
      return value->type()->kind() == TypeKind::BoolType ? IValue(number != 0) : IValue(number);
    }
    case AttributeKind::s: {
      const std::string& text = node->s(attr::value);
      return value->type()->kind() == TypeKind::DeviceObjType ? IValue(c10::Device(text)) : IValue(text);
    }
    case AttributeKind::ival:
      return node->ival(attr::value);
    default:
      TORCH_CHECK(false, "constant of an unknown kind: ", *node);
  }
}

} // namespace torch::jit
