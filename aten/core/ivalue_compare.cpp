#include <aten/core/ivalue.h>
#include <aten/core/ivalue_nesting.h>

#include <aten/core/dispatch/Dispatcher.h>
#include <aten/core/enum_type.h>
#include <aten/core/function.h>
#include <c10/util/Exception.h>

#include <algorithm>

namespace c10 {

namespace {

// By name: the core knows no operator, and comparing tensors inside containers is rare.
IValue call_binary(const char* name, const char* overload, const IValue& a, const IValue& b) {
  Stack stack{a, b};
  Dispatcher::singleton().findSchemaOrThrow(name, overload).callBoxed(&stack);
  return torch::jit::pop(stack);
}

struct Comparison;
struct Copying;
struct Hashing;
struct Visit;

/// Refuses containers that are being compared already: the answer would depend on itself.
class ComparedContainers {
 public:
  ComparedContainers(const IValue& a, const IValue& b) : entered_(a.internalToPointer(), b.internalToPointer()) {
    TORCH_CHECK(!entered_.again(), "Cannot compare values of type ", a.tagKind(), " that contain themselves");
  }

 private:
  const detail::EnteredContainer<Comparison> entered_;
};

size_t combine(size_t seed, size_t value) {
  return seed ^ (value + 0x9e3779b97f4a7c15ULL + (seed << 6) + (seed >> 2));
}

} // namespace

size_t IValue::hash(const IValue& v) {
  switch (v.tag_) {
    case Tag::None:
      return 0;
    case Tag::Bool:
      return std::hash<bool>()(v.payload_.u.as_bool);
    case Tag::Int:
    case Tag::UInt:
      return std::hash<int64_t>()(v.payload_.u.as_int);
    case Tag::Double:
      return std::hash<double>()(v.payload_.u.as_double);
    case Tag::ComplexDouble: {
      const auto c = v.toComplexDouble();
      return combine(std::hash<double>()(c.real()), std::hash<double>()(c.imag()));
    }
    case Tag::String:
      return std::hash<std::string>()(v.toStringRef());
    case Tag::Device:
      return std::hash<c10::Device>()(v.toDevice());
    case Tag::Tensor:
      return std::hash<const void*>()(v.unsafeToTensorImpl());
    case Tag::Storage:
    case Tag::Stream:
    case Tag::Enum:
    case Tag::Future:
    case Tag::Await:
      return std::hash<const void*>()(v.payload_.u.as_intrusive_ptr);
    case Tag::Tuple: {
      size_t seed = 0;
      const detail::EnteredContainer<Hashing> entered(v.internalToPointer());
      for (const IValue& element : v.toTupleRef().elements()) {
        seed = combine(seed, hash(element));
      }
      return seed;
    }
    case Tag::Object:
      if (v.isCustomClass()) {
        return std::hash<const void*>()(v.toObjectRef().getSlot(0).internalToPointer());
      }
      break;
    default:
      break;
  }
  TORCH_CHECK_TYPE(false, "unhashable type: '", v.type()->repr_str(), "'");
}

bool IValue::is(const IValue& rhs) const {
  if (isTensor() && rhs.isTensor()) {
    return unsafeToTensorImpl() == rhs.unsafeToTensorImpl();
  }
  if (isTensor() || rhs.isTensor()) {
    // An undefined tensor is None.
    return (isNone() && !rhs.toTensor().defined()) || (rhs.isNone() && !toTensor().defined());
  }
  if (tag_ != rhs.tag_) {
    return false;
  }
  if (isCustomClass() && rhs.isCustomClass()) {
    return toObjectRef().getSlot(0).internalToPointer() == rhs.toObjectRef().getSlot(0).internalToPointer();
  }
  if (isPtrType()) {
    return payload_.u.as_intrusive_ptr == rhs.payload_.u.as_intrusive_ptr ||
        (isString() && toStringRef() == rhs.toStringRef());
  }
  return isNone() || payload_.u.as_int == rhs.payload_.u.as_int;
}

bool IValue::isSameIdentity(const IValue& rhs) const {
  return !isDouble() && is(rhs);
}

IValue IValue::equals(const IValue& rhs) const {
  if (isTensor() || rhs.isTensor()) {
    if (!isTensor() || !rhs.isTensor()) {
      return false;
    }
    return call_binary("aten::eq", "Tensor", *this, rhs);
  }
  return *this == rhs;
}

bool operator==(const IValue& a, const IValue& b) {
  using Tag = IValue::Tag;
  if (a.isObject() && b.isObject()) {
    return a.is(b);
  }
  if (a.tag_ != b.tag_) {
    return false;
  }
  switch (a.tag_) {
    case Tag::None:
      return true;
    case Tag::Bool:
      return a.toBool() == b.toBool();
    case Tag::Int:
      return a.toInt() == b.toInt();
    case Tag::Double:
      return a.toDouble() == b.toDouble();
    case Tag::ComplexDouble:
      return a.toComplexDouble() == b.toComplexDouble();
    case Tag::UInt:
      return a.payload_.u.as_int == b.payload_.u.as_int;
    case Tag::Tensor:
      if (a.is(b)) {
        return true;
      }
      if (!a.toTensor().defined() || !b.toTensor().defined()) {
        return false;
      }
      return call_binary("aten::equal", "", a, b).toBool();
    case Tag::String:
      return a.toStringRef() == b.toStringRef();
    case Tag::Device:
      return a.toDevice() == b.toDevice();
    case Tag::Stream:
      return a.toStream() == b.toStream();
    case Tag::SymInt:
      return a.toSymInt() == b.toSymInt();
    case Tag::SymFloat:
      return a.toSymFloat() == b.toSymFloat();
    case Tag::Tuple: {
      const ComparedContainers compared(a, b);
      const auto& x = a.toTupleRef().elements();
      const auto& y = b.toTupleRef().elements();
      return std::equal(x.begin(), x.end(), y.begin(), y.end(), fastEqualsForContainer);
    }
    case Tag::GenericList: {
      if (a.is(b)) {
        return true;
      }
      const ComparedContainers compared(a, b);
      return *static_cast<const detail::ListImpl*>(a.internalToPointer()) ==
          *static_cast<const detail::ListImpl*>(b.internalToPointer());
    }
    case Tag::GenericDict: {
      if (a.is(b)) {
        return true;
      }
      const ComparedContainers compared(a, b);
      return *static_cast<const detail::DictImpl*>(a.internalToPointer()) ==
          *static_cast<const detail::DictImpl*>(b.internalToPointer());
    }
    case Tag::Enum: {
      const auto x = a.toEnumHolder();
      const auto y = b.toEnumHolder();
      return *x->type() == *y->type() && x->name() == y->name() && x->value() == y->value();
    }
    default:
      return a.is(b);
  }
}

bool operator!=(const IValue& a, const IValue& b) {
  return !(a == b);
}

bool fastEqualsForContainer(const IValue& lhs, const IValue& rhs) {
  return lhs.is(rhs) || lhs == rhs;
}

// --- what is inside
// ------------------------------------------------------------------------------------------------------

size_t IValue::HashAliasedIValue::operator()(const IValue& v) const {
  if (v.isTensor() && v.toTensor().defined() && v.toTensor().has_storage()) {
    return std::hash<const void*>()(v.toTensor().storage().unsafeGetStorageImpl());
  }
  return HashIdentityIValue()(v);
}

size_t IValue::HashIdentityIValue::operator()(const IValue& v) const {
  // Equal strings are identical, wherever they lie.
  if (v.isString()) {
    return std::hash<std::string>()(v.toStringRef());
  }
  return v.isPtrType() ? std::hash<const void*>()(v.internalToPointer())
                       : std::hash<int64_t>()(v.isTensor() ? 0 : v.payload_.u.as_int);
}

void IValue::visit(const std::function<bool(const IValue&)>& visitor) const {
  if (visitor(*this) || !(isTuple() || isList() || isGenericDict() || isObject())) {
    return;
  }
  const detail::EnteredContainer<Visit> entered(internalToPointer());
  if (entered.again()) {
    return;
  }
  if (isTuple()) {
    for (const IValue& element : toTupleRef().elements()) {
      element.visit(visitor);
    }
  } else if (isList()) {
    for (const IValue& element : toListRef()) {
      element.visit(visitor);
    }
  } else if (isGenericDict()) {
    for (const auto& entry : toGenericDict()) {
      entry.value().visit(visitor);
      entry.key().visit(visitor);
    }
  } else if (isObject()) {
    for (const IValue& slot : toObjectRef().slots()) {
      slot.visit(visitor);
    }
  }
}

void IValue::getSubValues(HashAliasedIValues& subvalues) const {
  visit([&](const IValue& v) {
    TORCH_CHECK_TYPE(
        !v.isFuture() && !v.isDevice() && !v.isCapsule() && v.tag_ != Tag::Uninitialized,
        "Cannot inspect value of type ", v.tagKind());
    const bool kept = v.isTensor() || v.isTuple() || v.isList() || v.isGenericDict() || v.isObject();
    return kept && !subvalues.insert(v).second; // what is inside of a known one is known
  });
}

bool IValue::overlaps(const IValue& rhs) const {
  HashAliasedIValues mine;
  getSubValues(mine);
  HashAliasedIValues theirs;
  rhs.getSubValues(theirs);
  return std::any_of(mine.begin(), mine.end(), [&](const IValue& v) { return theirs.count(v) > 0; });
}

// --- copies
// ----------------------------------------------------------------------------------------------------------------

namespace {

using Memo = IValue::HashIdentityIValueMap;

IValue copy_tensor(const at::Tensor& tensor, const std::optional<c10::Device>& device) {
  Stack stack{tensor, IValue()};
  const char* name = "aten::clone";
  if (device) {
    name = "aten::_to_copy"; // dtype, layout, device, pin_memory, non_blocking, memory_format
    stack = {tensor, IValue(), IValue(), *device, IValue(), false, IValue()};
  }
  Dispatcher::singleton().findSchemaOrThrow(name, "").callBoxed(&stack);
  return torch::jit::pop(stack);
}

IValue copy_container(const IValue& v, Memo& memo, const std::optional<c10::Device>& device) {
  const detail::EnteredContainer<Copying> entered(v.internalToPointer());
  if (v.isTuple()) {
    const ivalue::Tuple& from = v.toTupleRef();
    std::vector<IValue> elements;
    for (const IValue& element : from.elements()) {
      elements.push_back(element.deepcopy(memo, device));
    }
    const TupleTypePtr type = from.type();
    return type->schema() ? ivalue::Tuple::createNamed(std::move(elements), type)
                          : ivalue::Tuple::create(std::move(elements));
  }
  if (v.isList()) {
    impl::GenericList list(v.toList().elementType());
    memo.emplace(v, list); // a list may hold itself
    for (const IValue& element : v.toListRef()) {
      list.push_back(element.deepcopy(memo, device));
    }
    return list;
  }
  const auto from = v.toGenericDict();
  impl::GenericDict dict(from.keyType(), from.valueType());
  memo.emplace(v, dict);
  for (const auto& entry : from) {
    dict.insert(entry.key().deepcopy(memo, device), entry.value().deepcopy(memo, device));
  }
  return dict;
}

// An object of a bound class: saved and restored.
intrusive_ptr<ivalue::Object> copy_bound_object(const IValue& v) {
  const ivalue::Object& from = v.toObjectRef();
  torch::jit::Function* save = from.type()->findMethod("__getstate__");
  torch::jit::Function* restore = from.type()->findMethod("__setstate__");
  TORCH_CHECK(
      save && restore, "Cannot copy an object of the bound C++ class ", from.name(),
      ": define how to save and restore it by def_pickle()");
  auto copy = ivalue::Object::create(StrongTypePtr(from.compilation_unit(), from.type()), 1);
  (*restore)({copy, (*save)({v})});
  return copy;
}

} // namespace

IValue IValue::deepcopy(std::optional<c10::Device> device) const {
  Memo memo;
  return deepcopy(memo, device);
}

IValue IValue::deepcopy(HashIdentityIValueMap& memo, std::optional<c10::Device> device) const {
  if (!isPtrType()) {
    return *this;
  }
  const auto done = memo.find(*this);
  if (done != memo.end()) {
    return done->second;
  }
  IValue out = *this;
  if (isTensor()) {
    out = copy_tensor(toTensor(), device);
  } else if (isTuple() || isList() || isGenericDict()) {
    out = copy_container(*this, memo, device);
  } else if (isObject()) {
    out = toObjectRef().deepcopy(memo, device);
  }
  // A tuple that a list inside of it holds has been copied with that list.
  return memo.emplace(*this, out).first->second;
}

namespace ivalue {

intrusive_ptr<Object> Object::deepcopy(std::optional<c10::Device> device) const {
  Memo memo;
  return deepcopy(memo, device);
}

intrusive_ptr<Object> Object::deepcopy(IValue::HashIdentityIValueMap& memo, std::optional<c10::Device> device) const {
  const IValue self(intrusive_ptr<Object>::reclaim_copy(const_cast<Object*>(this)));
  if (self.isCustomClass()) {
    return copy_bound_object(self);
  }
  const detail::EnteredContainer<Copying> entered(this);
  auto object = create(StrongTypePtr(cu_, type_), slots_.size());
  memo.emplace(self, object); // an object may hold itself
  for (size_t i = 0; i < slots_.size(); ++i) {
    object->setSlot(i, slots_[i].deepcopy(memo, device));
  }
  return object;
}

} // namespace ivalue

} // namespace c10
