#include <aten/core/ivalue.h>

#include <aten/core/dispatch/Dispatcher.h>
#include <aten/core/enum_type.h>
#include <c10/util/Exception.h>

namespace c10 {

namespace {

// By name: the core knows no operator, and comparing tensors inside containers is rare.
IValue call_binary(const char* name, const char* overload, const IValue& a, const IValue& b) {
  Stack stack{a, b};
  Dispatcher::singleton().findSchemaOrThrow(name, overload).callBoxed(&stack);
  return torch::jit::pop(stack);
}

size_t combine(size_t seed, size_t value) {
  return seed ^ (value + 0x9e3779b97f4a7c15ULL + (seed << 6) + (seed >> 2));
}

bool is_number(const IValue& v) {
  return v.isInt() || v.isDouble() || v.isBool() || v.isComplexDouble();
}

int64_t integer_of(const IValue& v) {
  return v.isBool() ? static_cast<int64_t>(v.toBool()) : v.toInt();
}
double double_of(const IValue& v) {
  return v.isDouble() ? v.toDouble() : static_cast<double>(integer_of(v));
}
c10::complex<double> complex_of(const IValue& v) {
  return v.isComplexDouble() ? v.toComplexDouble() : c10::complex<double>(double_of(v));
}

bool numbers_equal(const IValue& a, const IValue& b) {
  if (a.isComplexDouble() || b.isComplexDouble()) return complex_of(a) == complex_of(b);
  if (a.isDouble() || b.isDouble()) return double_of(a) == double_of(b);
  return integer_of(a) == integer_of(b);
}

} // namespace

size_t IValue::hash(const IValue& v) {
  switch (v.tag_) {
    case Tag::None: return 0;
    case Tag::Bool: return std::hash<bool>()(v.payload_.u.as_bool);
    case Tag::Int:
    case Tag::UInt: return std::hash<int64_t>()(v.payload_.u.as_int);
    case Tag::Double: return std::hash<double>()(v.payload_.u.as_double);
    case Tag::ComplexDouble: {
      const auto c = v.toComplexDouble();
      return combine(std::hash<double>()(c.real()), std::hash<double>()(c.imag()));
    }
    case Tag::String: return std::hash<std::string>()(v.toStringRef());
    case Tag::Device: return std::hash<c10::Device>()(v.toDevice());
    case Tag::Tensor: return std::hash<const void*>()(v.unsafeToTensorImpl());
    case Tag::Storage:
    case Tag::Stream:
    case Tag::Enum: return std::hash<const void*>()(v.payload_.u.as_intrusive_ptr);
    case Tag::Tuple: {
      size_t seed = 0;
      for (const IValue& element : v.toTupleRef().elements()) seed = combine(seed, hash(element));
      return seed;
    }
    case Tag::Object:
      if (v.isCustomClass()) return std::hash<const void*>()(v.toObjectRef().getSlot(0).internalToPointer());
      break;
    default: break;
  }
  TORCH_CHECK_TYPE(false, "unhashable type: '", v.type()->repr_str(), "'");
}

bool IValue::is(const IValue& rhs) const {
  if (isTensor() && rhs.isTensor()) return unsafeToTensorImpl() == rhs.unsafeToTensorImpl();
  if (isTensor() || rhs.isTensor()) {
    // An undefined tensor is None.
    return (isNone() && !rhs.toTensor().defined()) || (rhs.isNone() && !toTensor().defined());
  }
  if (tag_ != rhs.tag_) return false;
  if (isCustomClass() && rhs.isCustomClass()) {
    return toObjectRef().getSlot(0).internalToPointer() == rhs.toObjectRef().getSlot(0).internalToPointer();
  }
  if (isPtrType()) return payload_.u.as_intrusive_ptr == rhs.payload_.u.as_intrusive_ptr || (isString() && toStringRef() == rhs.toStringRef());
  return isNone() || payload_.u.as_int == rhs.payload_.u.as_int;
}

IValue IValue::equals(const IValue& rhs) const {
  if (isTensor() || rhs.isTensor()) {
    if (!isTensor() || !rhs.isTensor()) return false;
    return call_binary("aten::eq", "Tensor", *this, rhs);
  }
  return *this == rhs;
}

bool operator==(const IValue& a, const IValue& b) {
  using Tag = IValue::Tag;
  if (is_number(a) && is_number(b)) return numbers_equal(a, b);
  if (a.isObject() && b.isObject()) return a.is(b);
  if (a.tag_ != b.tag_) return false;
  switch (a.tag_) {
    case Tag::None: return true;
    case Tag::UInt: return a.payload_.u.as_int == b.payload_.u.as_int;
    case Tag::Tensor:
      if (a.is(b)) return true;
      if (!a.toTensor().defined() || !b.toTensor().defined()) return false;
      return call_binary("aten::equal", "", a, b).toBool();
    case Tag::String: return a.toStringRef() == b.toStringRef();
    case Tag::Device: return a.toDevice() == b.toDevice();
    case Tag::Stream: return a.toStream() == b.toStream();
    case Tag::SymInt: return a.toSymInt() == b.toSymInt();
    case Tag::SymFloat: return a.toSymFloat() == b.toSymFloat();
    case Tag::Tuple: {
      const auto& x = a.toTupleRef().elements();
      const auto& y = b.toTupleRef().elements();
      return std::equal(x.begin(), x.end(), y.begin(), y.end(), fastEqualsForContainer);
    }
    case Tag::GenericList:
      return a.is(b) ||
          *static_cast<const detail::ListImpl*>(a.internalToPointer()) == *static_cast<const detail::ListImpl*>(b.internalToPointer());
    case Tag::GenericDict:
      return a.is(b) ||
          *static_cast<const detail::DictImpl*>(a.internalToPointer()) == *static_cast<const detail::DictImpl*>(b.internalToPointer());
    case Tag::Enum: {
      const auto x = a.toEnumHolder();
      const auto y = b.toEnumHolder();
      return *x->type() == *y->type() && x->name() == y->name() && x->value() == y->value();
    }
    default: return a.is(b);
  }
}

bool operator!=(const IValue& a, const IValue& b) {
  return !(a == b);
}

bool fastEqualsForContainer(const IValue& lhs, const IValue& rhs) {
  return lhs.is(rhs) || lhs == rhs;
}

namespace {

using Memo = std::unordered_map<const void*, IValue>;

IValue copy_deeply(const IValue& v, Memo& memo);

IValue copy_container(const IValue& v, Memo& memo) {
  if (v.isTuple()) {
    std::vector<IValue> elements;
    for (const IValue& element : v.toTupleRef().elements()) elements.push_back(copy_deeply(element, memo));
    return ivalue::Tuple::create(std::move(elements));
  }
  if (v.isList()) {
    impl::GenericList list(v.toList().elementType());
    for (const IValue& element : v.toListRef()) list.push_back(copy_deeply(element, memo));
    return list;
  }
  if (v.isGenericDict()) {
    const auto from = v.toGenericDict();
    impl::GenericDict dict(from.keyType(), from.valueType());
    for (const auto& entry : from) dict.insert(copy_deeply(entry.key(), memo), copy_deeply(entry.value(), memo));
    return dict;
  }
  const ivalue::Object& from = v.toObjectRef();
  TORCH_CHECK(!v.isCustomClass(), "Can't deepcopy an object of C++ class ", from.name(), ": copy it through its own methods");
  auto object = ivalue::Object::create(StrongTypePtr(from.compilation_unit(), from.type()), from.slots().size());
  memo.emplace(v.internalToPointer(), object);
  for (size_t i = 0; i < from.slots().size(); ++i) object->setSlot(i, copy_deeply(from.getSlot(i), memo));
  return object;
}

IValue copy_deeply(const IValue& v, Memo& memo) {
  if (!v.isPtrType()) return v;
  const auto done = memo.find(v.internalToPointer());
  if (done != memo.end()) return done->second;
  IValue out = v;
  if (v.isTensor()) {
    Stack stack{v, IValue()};
    Dispatcher::singleton().findSchemaOrThrow("aten::clone", "").callBoxed(&stack);
    out = torch::jit::pop(stack);
  } else if (v.isTuple() || v.isList() || v.isGenericDict() || v.isObject()) {
    out = copy_container(v, memo);
  }
  memo.emplace(v.internalToPointer(), out);
  return out;
}

} // namespace

IValue IValue::deepcopy() const {
  Memo memo;
  return copy_deeply(*this, memo);
}

} // namespace c10
