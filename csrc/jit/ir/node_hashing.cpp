#include <csrc/jit/ir/node_hashing.h>

#include <algorithm>
#include <cstring>
#include <functional>

namespace torch::jit {

namespace {

// Constants that are larger are not compared by value.
constexpr int64_t kMaxComparedElements = 4096;

size_t mix(size_t seed, size_t value) {
  return seed ^ (value + 0x9e3779b97f4a7c15ULL + (seed << 6) + (seed >> 2));
}

// ---- bits, so that NaN equals NaN and 0.0 does not equal -0.0
// ---------------------------------------------------------

bool same_bits(double a, double b) {
  return std::memcmp(&a, &b, sizeof(double)) == 0;
}

bool same_bits(const c10::complex<double>& a, const c10::complex<double>& b) {
  return same_bits(a.real(), b.real()) && same_bits(a.imag(), b.imag());
}

// ---- tensors --------------------------------------------------------------------------------------------------------

bool same_tensor(const at::Tensor& a, const at::Tensor& b) {
  if (a.is_same(b)) {
    return true;
  }
  if (!a.defined() || !b.defined()) {
    return false;
  }
  const bool plain = a.layout() == at::kStrided && b.layout() == at::kStrided && a.device().is_cpu() &&
      b.device().is_cpu() && !a.is_quantized() && !b.is_quantized() && !a.is_conj() && !b.is_conj() && !a.is_neg() &&
      !b.is_neg() && a.key_set() == b.key_set();
  return plain && a.scalar_type() == b.scalar_type() && a.sizes() == b.sizes() && a.strides() == b.strides() &&
      a.requires_grad() == b.requires_grad() && a.numel() <= kMaxComparedElements && a.is_contiguous() &&
      b.is_contiguous() && !a.requires_grad() && std::memcmp(a.const_data_ptr(), b.const_data_ptr(), a.nbytes()) == 0;
}

// ---- values ---------------------------------------------------------------------------------------------------------

bool same_value(const IValue& a, const IValue& b);

template <class A, class B>
bool same_values(const A& a, const B& b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), same_value);
}

bool same_value(const IValue& a, const IValue& b) {
  if (a.tagKind() != b.tagKind()) {
    return false;
  }
  if (a.isTensor()) {
    return same_tensor(a.toTensor(), b.toTensor());
  }
  if (a.isDouble()) {
    return same_bits(a.toDouble(), b.toDouble());
  }
  if (a.isComplexDouble()) {
    return same_bits(a.toComplexDouble(), b.toComplexDouble());
  }
  if (a.isList()) {
    return *a.type() == *b.type() && same_values(a.toListRef(), b.toListRef());
  }
  if (a.isTuple()) {
    return *a.type() == *b.type() && same_values(a.toTupleRef().elements(), b.toTupleRef().elements());
  }
  if (a.isInt() || a.isBool() || a.isNone() || a.isString() || a.isDevice()) {
    return a == b;
  }
  return a.is(b);
}

// ---- attributes -----------------------------------------------------------------------------------------------------

template <class T>
bool same_attribute_value(const T& a, const T& b) {
  if constexpr (std::is_same_v<T, double> || std::is_same_v<T, c10::complex<double>>) {
    return same_bits(a, b);
  } else if constexpr (std::is_same_v<T, std::vector<double>> || std::is_same_v<T, std::vector<c10::complex<double>>>) {
    return a.size() == b.size() &&
        std::equal(a.begin(), a.end(), b.begin(), [](const auto& x, const auto& y) { return same_bits(x, y); });
  } else if constexpr (std::is_same_v<T, at::Tensor>) {
    return same_tensor(a, b);
  } else if constexpr (std::is_same_v<T, std::vector<at::Tensor>>) {
    return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), same_tensor);
  } else if constexpr (std::is_same_v<T, TypePtr>) {
    return *a == *b;
  } else if constexpr (std::is_same_v<T, std::vector<TypePtr>>) {
    return a.size() == b.size() &&
        std::equal(a.begin(), a.end(), b.begin(), [](const TypePtr& x, const TypePtr& y) { return *x == *y; });
  } else if constexpr (
      std::is_same_v<T, std::shared_ptr<Graph>> || std::is_same_v<T, std::vector<std::shared_ptr<Graph>>>) {
    return false;
  } else if constexpr (std::is_same_v<T, IValue>) {
    return same_value(a, b);
  } else {
    return a == b;
  }
}

bool same_attribute(const NodeAttribute& a, const NodeAttribute& b) {
  if (a.name != b.name || a.kind() != b.kind()) {
    return false;
  }
  return std::visit(
      [&](const auto& value) { return same_attribute_value(value, std::get<std::decay_t<decltype(value)>>(b.value)); },
      a.value);
}

size_t hash_attribute(const NodeAttribute& attribute) {
  size_t hash = mix(std::hash<Symbol>()(attribute.name), attribute.value.index());
  switch (attribute.kind()) {
    case AttributeKind::f: {
      uint64_t bits;
      const double number = std::get<double>(attribute.value);
      std::memcpy(&bits, &number, sizeof bits);
      return mix(hash, std::hash<uint64_t>()(bits));
    }
    case AttributeKind::i:
      return mix(hash, std::hash<int64_t>()(std::get<int64_t>(attribute.value)));
    case AttributeKind::is:
      for (const int64_t number : std::get<std::vector<int64_t>>(attribute.value)) {
        hash = mix(hash, std::hash<int64_t>()(number));
      }
      return hash;
    case AttributeKind::s:
      return mix(hash, std::hash<std::string>()(std::get<std::string>(attribute.value)));
    case AttributeKind::t: {
      const at::Tensor& tensor = std::get<at::Tensor>(attribute.value);
      if (!tensor.defined()) {
        return hash;
      }
      hash = mix(hash, static_cast<size_t>(tensor.scalar_type()));
      for (const int64_t size : tensor.sizes()) {
        hash = mix(hash, std::hash<int64_t>()(size));
      }
      return hash;
    }
    default:
      return hash;
  }
}

bool is_opaque(const Node* node) {
  return !node->blocks().empty();
}

} // namespace

size_t HashNode::operator()(const Node* node) const {
  size_t hash = mix(std::hash<Symbol>()(node->kind()), node->outputs().size());
  for (const Value* input : node->inputs()) {
    hash = mix(hash, input->unique());
  }
  for (const Value* output : node->outputs()) {
    hash = mix(hash, static_cast<size_t>(output->type()->kind()));
  }
  for (const NodeAttribute& attribute : node->attributes()) {
    hash ^= hash_attribute(attribute);
  }
  return hash;
}

bool EqualNode::operator()(const Node* a, const Node* b) const {
  if (a == b) {
    return true;
  }
  if (a->kind() != b->kind() || is_opaque(a) || is_opaque(b) || a->inputs().size() != b->inputs().size() ||
      a->outputs().size() != b->outputs().size() || a->attributes().size() != b->attributes().size()) {
    return false;
  }
  for (size_t i = 0; i < a->inputs().size(); ++i) {
    if (a->input(i) != b->input(i)) {
      return false;
    }
  }
  for (size_t i = 0; i < a->outputs().size(); ++i) {
    if (*a->output(i)->type() != *b->output(i)->type()) {
      return false;
    }
  }
  for (const NodeAttribute& attribute : a->attributes()) {
    const auto& others = b->attributes();
    if (std::none_of(others.begin(), others.end(), [&](const NodeAttribute& other) {
          return same_attribute(attribute, other);
        })) {
      return false;
    }
  }
  return true;
}

} // namespace torch::jit
