#include <aten/core/ivalue.h>
#include <aten/core/ivalue_nesting.h>

#include <aten/core/enum_type.h>
#include <aten/core/function.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <unordered_map>

namespace c10 {

// --- release
// -----------------------------------------------------------------------------------------------------------------------

namespace {

/// Levels of values in values that are released by the destructors of each other.
constexpr size_t kReleasedAtOnce = 1000;

struct Release {
  size_t depth = 0;
  std::vector<IValue>* waiting = nullptr; // what lies deeper, for the outermost level
};

bool holds_values(const IValue& value) {
  return value.isTuple() || value.isList() || value.isObject() || value.isGenericDict();
}

void release_one_by_one(Release& release, std::vector<IValue>& waiting) {
  while (!waiting.empty()) {
    IValue next = std::move(waiting.back());
    waiting.pop_back();
    ++release.depth;
    next = IValue();
    --release.depth;
  }
}

/// Empties what a container holds. A chain of millions of values must not overrun the stack.
template <class Values>
void release_values(Values& values) {
  if (std::none_of(values.begin(), values.end(), holds_values)) {
    return;
  }
  static thread_local Release release;
  if (release.depth == 0) {
    std::vector<IValue> waiting;
    release.waiting = &waiting;
    ++release.depth;
    std::for_each(values.begin(), values.end(), [](IValue& value) { value = IValue(); });
    --release.depth;
    release_one_by_one(release, waiting);
    release.waiting = nullptr;
  } else if (release.depth < kReleasedAtOnce) {
    ++release.depth;
    std::for_each(values.begin(), values.end(), [](IValue& value) { value = IValue(); });
    --release.depth;
  } else {
    for (IValue& value : values) {
      if (holds_values(value)) {
        release.waiting->push_back(std::move(value));
      }
    }
  }
}

} // namespace

// --- what containers hold
// ----------------------------------------------------------------------------------------------

namespace detail {

ListImpl::ListImpl(list_type values, TypePtr element_type)
    : list(std::move(values)), elementType(std::move(element_type)) {}
ListImpl::~ListImpl() {
  release_values(list);
}

intrusive_ptr<ListImpl> ListImpl::copy() const {
  return make_intrusive<ListImpl>(list, elementType);
}

bool operator==(const ListImpl& a, const ListImpl& b) {
  return *a.elementType == *b.elementType &&
      std::equal(a.list.begin(), a.list.end(), b.list.begin(), b.list.end(), fastEqualsForContainer);
}

struct DictKeyHash {
  size_t operator()(const IValue* key) const {
    return IValue::hash(*key);
  }
};

struct DictKeyEqualTo {
  bool operator()(const IValue* a, const IValue* b) const {
    if (a->isTensor() || b->isTensor()) {
      return a->is(*b);
    }
    return *a == *b;
  }
};

/// Keys are int, str, float, complex, bool, device by value, tensors by identity.
struct DictIndex : std::unordered_map<const IValue*, DictImpl::iterator, DictKeyHash, DictKeyEqualTo> {};

DictEntries::~DictEntries() {
  clear();
}

DictEntries::iterator DictEntries::append(IValue key, IValue value) {
  auto* const entry = new DictEntry(std::move(key), std::move(value));
  entry->previous = ends_.previous;
  entry->next = &ends_;
  ends_.previous->next = entry;
  ends_.previous = entry;
  ++size_;
  return iterator(entry);
}

void DictEntries::erase(iterator pos) noexcept {
  pos.at_->previous->next = pos.at_->next;
  pos.at_->next->previous = pos.at_->previous;
  --size_;
  delete pos.operator->();
}

void DictEntries::clear() noexcept {
  while (!empty()) {
    erase(begin());
  }
}

DictImpl::DictImpl(DictElementTypes types) : elementTypes(std::move(types)), index(new DictIndex) {}
DictImpl::~DictImpl() {
  delete index;
}

intrusive_ptr<DictImpl> DictImpl::copy() const {
  auto out = make_intrusive<DictImpl>(elementTypes);
  for (const DictEntry& entry : entries) {
    bool inserted = false;
    out->insert(entry.first, entry.second, &inserted);
  }
  return out;
}

DictImpl::iterator DictImpl::find(const IValue& key) {
  const auto found = index->find(&key);
  return found == index->end() ? entries.end() : found->second;
}

DictImpl::iterator DictImpl::insert(IValue key, IValue value, bool* inserted) {
  const iterator found = find(key);
  *inserted = found == entries.end();
  if (!*inserted) {
    return found;
  }
  const iterator added = entries.append(std::move(key), std::move(value));
  index->emplace(&added->first, added);
  return added;
}

DictImpl::iterator DictImpl::insert_or_assign(IValue key, IValue value, bool* inserted) {
  const iterator found = find(key);
  *inserted = found == entries.end();
  if (*inserted) {
    return insert(std::move(key), std::move(value), inserted);
  }
  found->second = std::move(value);
  return found;
}

void DictImpl::erase(iterator pos) {
  index->erase(&pos->first);
  entries.erase(pos);
}

void DictImpl::clear() {
  index->clear();
  entries.clear();
}

void DictImpl::reserve(size_t count) {
  index->reserve(count);
}

bool operator==(const DictImpl& a, const DictImpl& b) {
  if (a.entries.size() != b.entries.size() || *a.elementTypes.keyType != *b.elementTypes.keyType ||
      *a.elementTypes.valueType != *b.elementTypes.valueType) {
    return false;
  }
  for (const DictEntry& entry : a.entries) {
    const auto found = b.index->find(&entry.first);
    if (found == b.index->end() || !fastEqualsForContainer(entry.second, found->second->second)) {
      return false;
    }
  }
  return true;
}

} // namespace detail

namespace ivalue {

Tuple::Tuple(std::vector<IValue> elements, std::shared_ptr<TupleType> named_type)
    : elements_(std::move(elements)), named_type_(std::move(named_type)) {
  TORCH_CHECK(
      named_type_ && named_type_->elements().size() == elements_.size(), "Tuple::createNamed: got ", elements_.size(),
      " elements for the type ", named_type_ ? named_type_->repr_str() : std::string("null"),
      "; it must have as many fields");
}
Tuple::~Tuple() {
  release_values(elements_);
}

std::shared_ptr<TupleType> Tuple::type() const {
  if (named_type_) {
    return named_type_;
  }
  const detail::EnteredContainer<Tuple> entered(this);
  std::vector<TypePtr> types;
  types.reserve(elements_.size());
  for (const IValue& element : elements_) {
    types.push_back(element.type());
  }
  return TupleType::create(std::move(types));
}

Object::Object(StrongTypePtr type, size_t slots)
    : cu_(std::move(type.cu_)), type_(std::dynamic_pointer_cast<ClassType>(type.type_)), slots_(slots) {
  TORCH_CHECK(type_, "an object needs a class type");
}
Object::~Object() {
  release_values(slots_);
}

intrusive_ptr<Object> Object::create(StrongTypePtr type, size_t slots) {
  return make_intrusive<Object>(std::move(type), slots);
}
intrusive_ptr<Object> Object::create(ClassTypePtr type, size_t slots) {
  return make_intrusive<Object>(StrongTypePtr(nullptr, std::move(type)), slots);
}

void Object::setSlot(size_t slot, IValue value) {
  if (slot >= slots_.size()) {
    slots_.resize(std::max(slot + 1, type_->numAttributes()));
  }
  slots_[slot] = std::move(value);
}

const IValue& Object::getSlot(size_t slot) const {
  TORCH_CHECK(slot < slots_.size(), "object of ", type_->repr_str(), " has no slot ", slot);
  return slots_[slot];
}

void Object::unsafeRemoveSlot(size_t slot) {
  TORCH_CHECK(slot < slots_.size(), "object of ", type_->repr_str(), " has no slot ", slot);
  slots_.erase(slots_.begin() + static_cast<std::ptrdiff_t>(slot));
}

void Object::unsafeRemoveAttr(const std::string& name) {
  unsafeRemoveSlot(type_->getAttributeSlot(name));
}

IValue Object::getAttr(const std::string& name) const {
  return getSlot(type_->getAttributeSlot(name));
}

void Object::setAttr(const std::string& name, IValue value) {
  setSlot(type_->getAttributeSlot(name), std::move(value));
}

std::string Object::name() const {
  return type_->str();
}

intrusive_ptr<Object> Object::copy() const {
  auto out = make_intrusive<Object>(StrongTypePtr(cu_, type_), slots_.size());
  out->slots_ = slots_;
  return out;
}

EnumHolder::~EnumHolder() = default;

std::string EnumHolder::qualifiedClassName() const {
  return type_->qualifiedClassName().qualifiedName();
}

} // namespace ivalue

// --- construction and access
// ---------------------------------------------------------------------------------------------

std::string IValue::tagKind() const {
  switch (tag_) {
#define C10_CASE(x) \
  case Tag::x:      \
    return #x;
    TORCH_FORALL_TAGS(C10_CASE)
#undef C10_CASE
  }
  return "InvalidTag(" + std::to_string(static_cast<int>(tag_)) + ")";
}

void IValue::wrongType(const char* expected) const {
  TORCH_CHECK_TYPE(false, "Expected ", expected, " but got ", tagKind());
}

IValue IValue::uninitialized() {
  IValue out;
  out.tag_ = Tag::Uninitialized;
  return out;
}

std::string IValue::toNone() const {
  expect(Tag::None, "None");
  return "None";
}

IValue::IValue(const at::Scalar& s) : IValue() {
  if (s.isSymInt()) {
    *this = IValue(s.toSymInt());
  } else if (s.isSymFloat()) {
    *this = IValue(s.toSymFloat());
  } else if (s.isSymBool()) {
    *this = IValue(s.toSymBool());
  } else if (s.isFloatingPoint()) {
    *this = IValue(s.toDouble());
  } else if (s.isComplex()) {
    *this = IValue(s.toComplexDouble());
  } else if (s.isBoolean()) {
    *this = IValue(s.toBool());
  } else if (s.type() == ScalarType::UInt64) {
    *this = IValue(s.toUInt64());
  } else {
    *this = IValue(s.toLong());
  }
}

at::Scalar IValue::toScalar() const {
  switch (tag_) {
    case Tag::Int:
      return at::Scalar(payload_.u.as_int);
    case Tag::UInt:
      return at::Scalar(static_cast<uint64_t>(payload_.u.as_int));
    case Tag::Double:
      return at::Scalar(payload_.u.as_double);
    case Tag::Bool:
      return at::Scalar(payload_.u.as_bool);
    case Tag::ComplexDouble:
      return at::Scalar(toComplexDouble());
    case Tag::SymInt:
      return at::Scalar(toSymInt());
    case Tag::SymFloat:
      return at::Scalar(toSymFloat());
    case Tag::SymBool:
      return at::Scalar(toSymBool());
    default:
      wrongType("Scalar (Int, Double, ComplexDouble or Bool)");
  }
}

IValue::IValue(const c10::SymFloat& i) : IValue() {
  if (const std::optional<double> value = i.maybe_as_float()) {
    *this = IValue(*value);
  } else {
    *this = IValue(Tag::SymFloat, i.toSymNodeImpl().release());
  }
}

c10::SymFloat IValue::toSymFloat() const {
  if (isDouble()) {
    return c10::SymFloat(payload_.u.as_double);
  }
  expect(Tag::SymFloat, "SymFloat or double");
  return c10::SymFloat(share_pointer<c10::SymNodeImpl>());
}

IValue::IValue(const c10::SymBool& i) : IValue() {
  if (const std::optional<bool> value = i.maybe_as_bool()) {
    *this = IValue(*value);
  } else {
    *this = IValue(Tag::SymBool, i.toSymNodeImpl().release());
  }
}

c10::SymBool IValue::toSymBool() const {
  if (isBool()) {
    return c10::SymBool(payload_.u.as_bool);
  }
  expect(Tag::SymBool, "SymBool or bool");
  return c10::SymBool(share_pointer<c10::SymNodeImpl>());
}

std::optional<std::reference_wrapper<const std::string>> IValue::toOptionalStringRef() const {
  if (isNone()) {
    return std::nullopt;
  }
  return std::cref(toStringRef());
}

IValue::IValue(c10::Storage s) : IValue(Tag::Storage, s.unsafeReleaseStorageImpl()) {}

c10::Storage IValue::toStorage() && {
  expect(Tag::Storage, "Storage");
  return c10::Storage(move_pointer<c10::StorageImpl>());
}

c10::Storage IValue::toStorage() const& {
  expect(Tag::Storage, "Storage");
  return c10::Storage(share_pointer<c10::StorageImpl>());
}

bool IValue::isAliasOf(const IValue& rhs) const {
  const auto storage_of = [](const IValue& v) -> const void* {
    if (v.isTensor()) {
      return v.toTensor().defined() && v.toTensor().has_storage() ? v.toTensor().storage().unsafeGetStorageImpl()
                                                                  : nullptr;
    }
    return v.isStorage() ? v.payload_.u.as_intrusive_ptr : nullptr;
  };
  const void* storage = storage_of(*this);
  if (storage) {
    return storage == storage_of(rhs);
  }
  return isPtrType() && is(rhs);
}

c10::Device IValue::toDevice() const {
  if (isString()) {
    return c10::Device(toStringRef());
  }
  expect(Tag::Device, "Device");
  return c10::Device(payload_.u.as_device.type, payload_.u.as_device.index);
}

IValue::IValue(c10::Stream s) : IValue(Tag::Stream, make_intrusive<ivalue::StreamData3Holder>(s.pack3()).release()) {}

c10::Stream IValue::toStream() const {
  expect(Tag::Stream, "Stream");
  const c10::StreamData3& data = static_cast<const ivalue::StreamData3Holder*>(payload_.u.as_intrusive_ptr)->val;
  return c10::Stream::unpack3(data.stream_id, data.device_index, data.device_type);
}

IValue::IValue(at::Generator g) : IValue() {
  // An undefined generator and no generator mean the same everywhere.
  if (g.defined()) {
    *this = IValue(Tag::Generator, g.unsafeReleaseGeneratorImpl());
  }
}

at::Generator IValue::toGenerator() && {
  if (isNone()) {
    return at::Generator();
  }
  expect(Tag::Generator, "Generator");
  return at::Generator(move_pointer<c10::GeneratorImpl>());
}

at::Generator IValue::toGenerator() const& {
  if (isNone()) {
    return at::Generator();
  }
  expect(Tag::Generator, "Generator");
  return at::Generator(share_pointer<c10::GeneratorImpl>());
}

// --- lists
// ---------------------------------------------------------------------------------------------------------------

template <>
IValue::IValue(at::ArrayRef<c10::SymInt> v) : IValue() {
  if (const auto concrete = asIntArrayRefSlowOpt(v)) {
    *this = IValue(*concrete);
  } else {
    *this = IValue(List<c10::SymInt>(v));
  }
}

bool IValue::isOptionalTensorList() const {
  if (!isListOf(TypeKind::OptionalType)) {
    return false;
  }
  const auto& element = static_cast<const detail::ListImpl*>(payload_.u.as_intrusive_ptr)->elementType;
  return element->expectRef<OptionalType>().getElementType()->kind() == TypeKind::TensorType;
}

namespace {

template <class T>
std::vector<T> to_vector(const IValue& list) {
  return detail::IValueTo<std::vector<T>>::get(list);
}

} // namespace

c10::List<int64_t> IValue::toIntList() && {
  if (!isIntList()) {
    wrongType("IntList");
  }
  return impl::toTypedList<int64_t>(std::move(*this).toList());
}
c10::List<int64_t> IValue::toIntList() const& {
  return IValue(*this).toIntList();
}
std::vector<int64_t> IValue::toIntVector() const {
  return to_vector<int64_t>(*this);
}
c10::DimVector IValue::toDimVector() const {
  const c10::ArrayRef<IValue> values = toListRef();
  c10::DimVector out;
  out.reserve(values.size());
  for (const IValue& value : values) {
    out.push_back(value.toInt());
  }
  return out;
}
c10::List<c10::SymInt> IValue::toSymIntList() const {
  if (isIntList()) {
    List<c10::SymInt> out;
    for (const IValue& value : toListRef()) {
      out.push_back(value.toSymInt());
    }
    return out;
  }
  if (!isSymIntList()) {
    wrongType("SymIntList or IntList");
  }
  return impl::toTypedList<c10::SymInt>(toList());
}
std::vector<c10::SymInt> IValue::toSymIntVector() const {
  return to_vector<c10::SymInt>(*this);
}
c10::List<double> IValue::toDoubleList() && {
  if (!isDoubleList()) {
    wrongType("DoubleList");
  }
  return impl::toTypedList<double>(std::move(*this).toList());
}
c10::List<double> IValue::toDoubleList() const& {
  return IValue(*this).toDoubleList();
}
std::vector<double> IValue::toDoubleVector() const {
  return to_vector<double>(*this);
}
c10::List<c10::complex<double>> IValue::toComplexDoubleList() && {
  if (!isComplexDoubleList()) {
    wrongType("ComplexDoubleList");
  }
  return impl::toTypedList<c10::complex<double>>(std::move(*this).toList());
}
c10::List<c10::complex<double>> IValue::toComplexDoubleList() const& {
  return IValue(*this).toComplexDoubleList();
}
std::vector<c10::complex<double>> IValue::toComplexDoubleVector() const {
  return to_vector<c10::complex<double>>(*this);
}
c10::List<bool> IValue::toBoolList() && {
  if (!isBoolList()) {
    wrongType("BoolList");
  }
  return impl::toTypedList<bool>(std::move(*this).toList());
}
c10::List<bool> IValue::toBoolList() const& {
  return IValue(*this).toBoolList();
}
c10::List<at::Tensor> IValue::toTensorList() && {
  if (!isTensorList()) {
    wrongType("TensorList");
  }
  return List<at::Tensor>(move_pointer<detail::ListImpl>());
}
c10::List<at::Tensor> IValue::toTensorList() const& {
  return IValue(*this).toTensorList();
}
std::vector<at::Tensor> IValue::toTensorVector() const {
  if (!isTensorList()) {
    wrongType("TensorList");
  }
  return to_vector<at::Tensor>(*this);
}
c10::List<std::optional<at::Tensor>> IValue::toOptionalTensorList() && {
  if (isTensorList()) {
    List<std::optional<at::Tensor>> out;
    for (const IValue& value : toListRef()) {
      out.push_back(value.toTensor());
    }
    return out;
  }
  if (!isOptionalTensorList()) {
    wrongType("OptionalTensorList");
  }
  return List<std::optional<at::Tensor>>(move_pointer<detail::ListImpl>());
}
c10::List<std::optional<at::Tensor>> IValue::toOptionalTensorList() const& {
  return IValue(*this).toOptionalTensorList();
}
std::vector<std::optional<at::Tensor>> IValue::toOptionalTensorVector() const {
  if (!isTensorList() && !isOptionalTensorList()) {
    wrongType("OptionalTensorList");
  }
  return to_vector<std::optional<at::Tensor>>(*this);
}

// --- objects
// ---------------------------------------------------------------------------------------------------------------

IValue IValue::make_capsule(intrusive_ptr<torch::CustomClassHolder> blob) {
  return IValue(Tag::Capsule, blob.release());
}

IValue IValue::from_object(const ClassTypePtr& type, intrusive_ptr<torch::CustomClassHolder> object) {
  auto holder = ivalue::Object::create(type, 1);
  holder->setSlot(0, make_capsule(std::move(object)));
  return IValue(std::move(holder));
}

bool IValue::isModule() const {
  return isObject() && toObjectRef().type()->is_module();
}

bool IValue::isCustomClass() const {
  return isObject() && toObjectRef().slots().size() == 1 && toObjectRef().getSlot(0).isCapsule();
}

intrusive_ptr<torch::CustomClassHolder> IValue::custom_class_object(const ClassTypePtr& expected) const {
  TORCH_CHECK_TYPE(
      isObject(), "Tried to convert an IValue of type ", tagKind(), " to custom class type ", expected->repr_str());
  const ivalue::Object& object = toObjectRef();
  TORCH_CHECK_TYPE(isCustomClass(), "Tried to cast IValue to custom class but it did not contain a custom class!");
  TORCH_CHECK_TYPE(
      *object.type() == *expected, "Tried to convert an IValue of type ", object.type()->repr_str(),
      " to custom class type ", expected->repr_str());
  return object.getSlot(0).toCapsule();
}

const void* IValue::internalToPointer() const {
  TORCH_CHECK(isPtrType(), "Can only call internalToPointer() for pointer types");
  return isTensor() ? static_cast<const void*>(unsafeToTensorImpl()) : payload_.u.as_intrusive_ptr;
}

size_t IValue::use_count() const noexcept {
  if (isTensor()) {
    return payload_.as_tensor.use_count();
  }
  if (!holds_counted_pointer() || !payload_.u.as_intrusive_ptr) {
    return 1;
  }
  return c10::raw::intrusive_ptr::use_count(payload_.u.as_intrusive_ptr);
}

TypePtr IValue::type() const {
  switch (tag_) {
    case Tag::None:
      return NoneType::get();
    case Tag::Tensor:
      return TensorType::get();
    case Tag::Storage:
      return StorageType::get();
    case Tag::Double:
      return FloatType::get();
    case Tag::ComplexDouble:
      return ComplexType::get();
    case Tag::Int:
    case Tag::UInt:
      return IntType::get();
    case Tag::SymInt:
      return SymIntType::get();
    case Tag::SymFloat:
      return SymFloatType::get();
    case Tag::SymBool:
      return SymBoolType::get();
    case Tag::Bool:
      return BoolType::get();
    case Tag::Tuple:
      return toTupleRef().type();
    case Tag::String:
      return StringType::get();
    case Tag::GenericList:
      return ListType::create(static_cast<const detail::ListImpl*>(payload_.u.as_intrusive_ptr)->elementType);
    case Tag::GenericDict: {
      const auto& types = static_cast<const detail::DictImpl*>(payload_.u.as_intrusive_ptr)->elementTypes;
      return DictType::create(types.keyType, types.valueType);
    }
    case Tag::Device:
      return DeviceObjType::get();
    case Tag::Stream:
      return StreamObjType::get();
    case Tag::Object:
      return toObjectRef().type();
    case Tag::Uninitialized:
      return AnyType::get();
    case Tag::Capsule:
      return CapsuleType::get();
    case Tag::Generator:
      return GeneratorType::get();
    case Tag::Enum:
      return toEnumHolder()->type();
    case Tag::Future:
      return FutureType::create(toFuture()->elementType());
    case Tag::Await:
      return toAwait()->type();
  }
  return AnyType::get();
}

} // namespace c10
