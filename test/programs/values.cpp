#include "values.h"

#include <ATen/ATen.h>
#include <ATen/core/enum_type.h>

#include <string_view>

#include "test/conformance/tensors.h"

namespace programs {

namespace {

using c10::IValue;
using c10::TypeKind;
using c10::TypePtr;

template <size_t N>
int64_t position_of(std::string_view name, const std::string_view (&names)[N]) {
  for (size_t i = 0; i < N; ++i) {
    if (names[i] == name) {
      return static_cast<int64_t>(i);
    }
  }
  throw std::runtime_error("unknown name " + std::string(name));
}

bool is_kind(const TypePtr& type, TypeKind kind) {
  return type && type->kind() == kind;
}

class ValueMaker {
 public:
  explicit ValueMaker(const SafeTensors& tensors) : tensors_(tensors) {}

  IValue make(const Json& tagged, const TypePtr& declared) const {
    if (tagged.is_null()) {
      return {};
    }
    const auto& [tag, value] = tagged.members().at(0);
    const TypePtr type = chosen_type(tag, value, without_optional(declared));
    if (tag == "t") {
      return tensor_or_number(make_tensor(value, tensors_), type);
    }
    if (tag == "sparse" || tag == "quant") {
      return make_tensor(tagged, tensors_);
    }
    if (tag == "i") {
      return number(value, type);
    }
    if (tag == "f") {
      return value.as_double();
    }
    if (tag == "b") {
      return is_kind(type, TypeKind::FloatType) ? IValue(value.as_bool() ? 1.0 : 0.0)
          : is_kind(type, TypeKind::IntType)    ? IValue(static_cast<int64_t>(value.as_bool()))
                                                : IValue(value.as_bool());
    }
    if (tag == "c") {
      return c10::complex<double>(value.items().at(0).as_double(), value.items().at(1).as_double());
    }
    if (tag == "s") {
      return is_kind(type, TypeKind::DeviceObjType) ? IValue(c10::Device(value.as_string()))
                                                    : IValue(value.as_string());
    }
    if (tag == "l") {
      return list(value, type);
    }
    if (tag == "u") {
      return tuple(value, tagged.find("names"), type);
    }
    if (tag == "m") {
      return dict(value, type);
    }
    if (tag == "enum") {
      return enum_member(value, type);
    }
    if (tag == "device") {
      return c10::Device(value.as_string());
    }
    if (tag == "dtype") {
      return static_cast<int64_t>(conformance::dtype_info(value.as_string()).type);
    }
    if (tag == "layout") {
      return layout_number(value.as_string());
    }
    if (tag == "mf") {
      return memory_format_number(value.as_string());
    }
    if (tag == "gen") {
      at::Generator generator = at::detail::createCPUGenerator();
      generator.set_current_seed(value.as_int());
      return generator;
    }
    throw NotThere("no rule for an argument tagged '" + tag + "'");
  }

 private:
  /// Calls from Python take a number out of a tensor where a number is wanted.
  static IValue tensor_or_number(at::Tensor tensor, const TypePtr& type) {
    if (tensor.numel() == 1 && is_kind(type, TypeKind::FloatType)) {
      return tensor.item<double>();
    }
    if (tensor.numel() == 1 && is_kind(type, TypeKind::IntType) && !tensor.is_floating_point()) {
      return tensor.item<int64_t>();
    }
    return tensor;
  }

  static IValue number(const Json& value, const TypePtr& type) {
    if (is_kind(type, TypeKind::FloatType)) {
      return value.as_double();
    }
    if (is_kind(type, TypeKind::ComplexType)) {
      return c10::complex<double>(value.as_double(), 0.0);
    }
    return value.as_int();
  }

  /// Of a union, the member that a value with this tag is of.
  TypePtr chosen_type(const std::string& tag, const Json& value, const TypePtr& type) const {
    if (!is_kind(type, TypeKind::UnionType)) {
      return type;
    }
    for (const TypePtr& member : type->containedTypes()) {
      const TypePtr candidate = without_optional(member);
      if (!holds(tag, candidate)) {
        continue;
      }
      if (tag != "l" && tag != "m") {
        return candidate;
      }
      const IValue made = tag == "l" ? list(value, candidate) : dict(value, candidate);
      if (value.items().empty() || made.type()->isSubtypeOf(*candidate)) {
        return candidate;
      }
    }
    return nullptr;
  }

  static bool holds(const std::string& tag, const TypePtr& type) {
    switch (type->kind()) {
      case TypeKind::ListType:
        return tag == "l";
      case TypeKind::DictType:
        return tag == "m";
      case TypeKind::TupleType:
        return tag == "u";
      case TypeKind::EnumType:
        return tag == "enum";
      case TypeKind::IntType:
        return tag == "i" || tag == "dtype";
      case TypeKind::FloatType:
        return tag == "f";
      case TypeKind::BoolType:
        return tag == "b";
      case TypeKind::ComplexType:
        return tag == "c";
      case TypeKind::StringType:
        return tag == "s";
      case TypeKind::TensorType:
        return tag == "t";
      case TypeKind::DeviceObjType:
        return tag == "device";
      default:
        return false;
    }
  }

  /// A list of the declared element type if all elements are of it, else of what the elements are.
  IValue list(const Json& value, const TypePtr& type) const {
    const TypePtr declared = is_kind(type, TypeKind::ListType) ? type->containedType(0) : nullptr;
    std::vector<IValue> elements;
    for (const Json& item : value.items()) {
      elements.push_back(make(item, declared));
    }
    c10::impl::GenericList made(element_type(elements, declared));
    for (IValue& element : elements) {
      made.push_back(std::move(element));
    }
    return made;
  }

  static TypePtr element_type(const std::vector<IValue>& elements, const TypePtr& declared) {
    bool fits = declared != nullptr;
    for (const IValue& element : elements) {
      fits = fits && (declared->kind() == TypeKind::AnyType || element.type()->isSubtypeOf(*declared));
    }
    if (fits) {
      return declared;
    }
    if (elements.empty()) {
      return c10::TensorType::get();
    }
    for (const IValue& element : elements) {
      if (*element.type() != *elements[0].type() && !elements[0].isTensor()) {
        return c10::AnyType::get();
      }
    }
    return elements[0].isTensor() ? TypePtr(c10::TensorType::get()) : elements[0].type();
  }

  IValue tuple(const Json& value, const Json* names, const TypePtr& type) const {
    if (is_kind(type, TypeKind::ListType)) {
      return list(value, type);
    }
    const auto declared = type ? type->cast<c10::TupleType>() : nullptr;
    const size_t size = value.items().size();
    std::vector<IValue> elements;
    for (size_t i = 0; i < size; ++i) {
      elements.push_back(
          make(value.items()[i], declared && declared->elements().size() == size ? declared->elements()[i] : nullptr));
    }
    if (declared && declared->schema() && declared->elements().size() == size) {
      return c10::ivalue::Tuple::createNamed(std::move(elements), declared);
    }
    if (names == nullptr || declared) {
      return c10::ivalue::Tuple::create(std::move(elements));
    }
    std::vector<std::string> fields;
    std::vector<TypePtr> types;
    for (size_t i = 0; i < size; ++i) {
      fields.push_back(names->items().at(i).as_string());
      types.push_back(elements[i].type());
    }
    auto named = c10::TupleType::createNamed(c10::QualifiedName("__torch__.Recorded"), fields, types);
    return c10::ivalue::Tuple::createNamed(std::move(elements), std::move(named));
  }

  IValue dict(const Json& value, const TypePtr& type) const {
    const auto declared = type ? type->cast<c10::DictType>() : nullptr;
    std::vector<IValue> keys, values;
    for (const Json& pair : value.items()) {
      keys.push_back(make(pair.items().at(0), declared ? declared->getKeyType() : nullptr));
      values.push_back(make(pair.items().at(1), declared ? declared->getValueType() : nullptr));
    }
    const TypePtr key_type = keys.empty() && !declared
        ? TypePtr(c10::StringType::get())
        : element_type(keys, declared ? declared->getKeyType() : nullptr);
    c10::impl::GenericDict made(key_type, element_type(values, declared ? declared->getValueType() : nullptr));
    for (size_t i = 0; i < keys.size(); ++i) {
      made.insert(std::move(keys[i]), std::move(values[i]));
    }
    return made;
  }

  IValue enum_member(const Json& value, const TypePtr& type) const {
    const auto declared = type ? type->cast<c10::EnumType>() : nullptr;
    if (!declared) {
      throw NotThere("an enumeration for an argument of another type");
    }
    const std::string& name = value.items().at(1).as_string();
    for (const auto& [member, held] : declared->enumNamesValues()) {
      if (member == name) {
        return c10::make_intrusive<c10::ivalue::EnumHolder>(declared, member, held);
      }
    }
    throw std::runtime_error("the enumeration " + declared->str() + " has no member " + name);
  }

  const SafeTensors& tensors_;
};

at::Tensor make_sparse(const Json& spec, const SafeTensors& tensors) {
  const at::Tensor indices = make_tensor(spec.at("i"), tensors);
  const at::Tensor values = make_tensor(spec.at("v"), tensors);
  return at::sparse_coo_tensor(indices, values, spec.at("s").as_ints())._coalesced_(true);
}

} // namespace

TypePtr without_optional(const TypePtr& type) {
  const auto optional = type ? type->cast<c10::OptionalType>() : nullptr;
  return optional ? optional->getElementType() : type;
}

int64_t layout_number(const std::string& name) {
  constexpr std::string_view names[] = {"strided",    "sparse_coo", "sparse_csr", "mkldnn",
                                        "sparse_csc", "sparse_bsr", "sparse_bsc"};
  return position_of(name, names);
}

int64_t memory_format_number(const std::string& name) {
  constexpr std::string_view names[] = {"contiguous_format", "preserve_format", "channels_last", "channels_last_3d"};
  return position_of(name.find('_') == std::string::npos ? name + "_format" : name, names);
}

at::Tensor make_tensor(const Json& spec, const SafeTensors& tensors) {
  if (const Json* sparse = spec.find("sparse")) {
    return make_sparse(*sparse, tensors);
  }
  if (spec.find("quant") != nullptr) {
    throw NotThere("tensors with a quantized dtype are not there");
  }
  at::Tensor tensor = conformance::make_dense(spec, tensors, c10::Device(c10::DeviceType::CPU));
  if (const Json* strides = spec.find("st")) {
    tensor = at::empty_strided(tensor.sizes(), strides->as_ints(), tensor.options()).copy_(tensor);
  }
  const Json* requires_grad = spec.find("rg");
  if (requires_grad != nullptr && requires_grad->as_bool()) {
    tensor.set_requires_grad(true);
  }
  return tensor;
}

IValue make_value(const Json& tagged, const TypePtr& type, const SafeTensors& tensors) {
  return ValueMaker(tensors).make(tagged, type);
}

} // namespace programs
