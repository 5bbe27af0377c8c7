#include <aten/core/jit_type.h>

#include <aten/core/enum_type.h>
#include <aten/core/function_schema.h>
#include <aten/core/ivalue.h>
#include <aten/core/tensor_type.h>
#include <c10/core/Device.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <ostream>

namespace c10 {

const char* typeKindToString(TypeKind kind) {
  switch (kind) {
#define C10_CASE(T) \
  case TypeKind::T: \
    return #T;
    C10_FORALL_TYPES(C10_CASE)
#undef C10_CASE
  }
  return "UnknownType";
}

TypePtr SimpleType::ptr() const {
  return TypePtr(std::shared_ptr<void>(), const_cast<SimpleType*>(this));
}

TypePtr SharedType::ptr() const {
  return std::const_pointer_cast<SharedType>(shared_from_this());
}

namespace {

void print_strides(std::ostream& out, const VaryingShape<int64_t>& strides) {
  out << "strides=[";
  for (size_t i = 0; i < *strides.size(); ++i) {
    out << (i > 0 ? ", " : "") << *strides[i];
  }
  out << ']';
}

// `Float(2, *, strides=[3, 1], requires_grad=0, device=cpu)`, and `Tensor` where neither dtype nor dimensions are
// known.
std::ostream& print_tensor_type(std::ostream& out, const TensorType& type) {
  if (type.scalarType()) {
    out << toString(*type.scalarType());
    if (!type.dim()) {
      out << "(*";
    }
  } else {
    out << "Tensor";
    if (!type.dim()) {
      return out;
    }
  }
  const char* separator = type.dim() ? "" : ", ";
  if (type.dim()) {
    out << '(';
    for (size_t i = 0; i < *type.dim(); ++i) {
      out << (i > 0 ? ", " : "");
      if (const std::optional<int64_t> size = type.sizes()[i]) {
        out << *size;
      } else {
        out << '*';
      }
      separator = ", ";
    }
    if (*type.dim() > 0 && type.strides().isComplete()) {
      out << separator;
      print_strides(out, type.strides());
      separator = ", ";
    }
  }
  if (type.requiresGrad()) {
    out << separator << "requires_grad=" << *type.requiresGrad();
    separator = ", ";
  }
  if (type.device()) {
    out << separator << "device=" << *type.device();
  }
  return out << ')';
}

} // namespace

// As libtorch prints: brackets where str() has parentheses (but not for dicts), and the fields of named tuples.
std::ostream& operator<<(std::ostream& out, const Type& t) {
  if (const ListType* list = t.castRaw<ListType>()) {
    return out << *list->getElementType() << "[]";
  }
  if (const OptionalType* optional = t.castRaw<OptionalType>()) {
    return out << *optional->getElementType() << '?';
  }
  if (const FutureType* future = t.castRaw<FutureType>()) {
    return out << "Future[" << *future->getElementType() << ']';
  }
  if (const RRefType* remote = t.castRaw<RRefType>()) {
    return out << "RRef[" << *remote->getElementType() << ']';
  }
  if (const TensorType* tensor = t.castRaw<TensorType>()) {
    return print_tensor_type(out, *tensor);
  }
  const TupleType* tuple = t.castRaw<TupleType>();
  if (!tuple) {
    return out << t.str();
  }
  out << (tuple->schema() ? "NamedTuple(" : "(");
  for (size_t i = 0; i < tuple->elements().size(); ++i) {
    if (i > 0) {
      out << ", ";
    }
    if (tuple->schema()) {
      out << tuple->schema()->arguments()[i].name() << " : ";
    }
    out << *tuple->elements()[i];
  }
  return out << ')';
}

Type::~Type() = default;

std::string Type::annotation_str(const TypePrinter& printer) const {
  if (printer) {
    if (std::optional<std::string> renamed = printer(*this)) {
      return *renamed;
    }
  }
  return annotation_str_impl(printer);
}

std::string Type::annotation_str_impl(const TypePrinter&) const {
  return str();
}

std::string Type::repr_str() const {
  return annotation_str();
}

bool Type::hasFreeVariables() const {
  for (const TypePtr& type : containedTypes()) {
    if (type->hasFreeVariables()) {
      return true;
    }
  }
  return false;
}

TypePtr Type::withContained(std::vector<TypePtr> contained) const {
  const ArrayRef<TypePtr> current = containedTypes();
  TORCH_INTERNAL_ASSERT(contained.size() == current.size());
  if (std::equal(current.begin(), current.end(), contained.begin())) {
    return ptr();
  }
  return createWithContained(std::move(contained));
}

TypePtr Type::createWithContained(std::vector<TypePtr>) const {
  TORCH_CHECK(false, "type with contained types did not overload createWithContained: ", str());
}

void Type::reportCastError(const char* wanted) const {
  TORCH_CHECK(
      false, "Expected a type of C++ class ", wanted, " but this is ", typeKindToString(kind_), " '", str(), "'");
}

// --- types without parameters -------------------------------------------------------------------------------------

namespace {

struct SimpleTypeNames {
  const char* schema;
  const char* annotation;
};

SimpleTypeNames simple_type_names(TypeKind kind) {
  switch (kind) {
    case TypeKind::AnyType:
      return {"Any", "Any"};
    case TypeKind::AnyEnumType:
      return {"AnyEnumType", "AnyEnumType"};
    case TypeKind::TensorType:
      return {"Tensor", "Tensor"};
    case TypeKind::StorageType:
      return {"Storage", "Storage"};
    case TypeKind::NumberType:
      return {"Scalar", "number"};
    case TypeKind::FloatType:
      return {"float", "float"};
    case TypeKind::ComplexType:
      return {"complex", "complex"};
    case TypeKind::IntType:
      return {"int", "int"};
    case TypeKind::NoneType:
      return {"NoneType", "NoneType"};
    case TypeKind::StringType:
      return {"str", "str"};
    case TypeKind::GeneratorType:
      return {"Generator", "Generator"};
    case TypeKind::QuantizerType:
      return {"Quantizer", "Quantizer"};
    case TypeKind::BoolType:
      return {"bool", "bool"};
    case TypeKind::DeviceObjType:
      return {"Device", "Device"};
    case TypeKind::StreamObjType:
      return {"Stream", "Stream"};
    case TypeKind::PyObjectType:
      return {"PyObject", "PyObject"};
    case TypeKind::CapsuleType:
      return {"Capsule", "Capsule"};
    case TypeKind::QSchemeType:
      return {"QScheme", "QScheme"};
    case TypeKind::ScalarTypeType:
      return {"ScalarType", "ScalarType"};
    case TypeKind::LayoutType:
      return {"Layout", "Layout"};
    case TypeKind::MemoryFormatType:
      return {"MemoryFormat", "MemoryFormat"};
    case TypeKind::AnyListType:
      return {"list", "list"};
    case TypeKind::AnyTupleType:
      return {"tuple", "tuple"};
    case TypeKind::AnyClassType:
      return {"AnyClassType", "AnyClassType"};
    case TypeKind::SymIntType:
      return {"SymInt", "int"};
    case TypeKind::SymFloatType:
      return {"SymFloat", "float"};
    case TypeKind::SymBoolType:
      return {"SymBool", "bool"};
    default:
      return {"?", "?"};
  }
}

} // namespace

std::string SimpleType::str() const {
  return simple_type_names(kind()).schema;
}

std::string SimpleType::annotation_str_impl(const TypePrinter&) const {
  return simple_type_names(kind()).annotation;
}

// Never destroyed: values of static storage duration elsewhere may still name their types while the process exits.
#define C10_SIMPLE_TYPE_GET(Name)                                    \
  std::shared_ptr<Name> Name::get() {                                \
    static Name* const instance = new Name();                        \
    return std::shared_ptr<Name>(std::shared_ptr<void>(), instance); \
  }
C10_FORALL_SIMPLE_TYPES(C10_SIMPLE_TYPE_GET)
#undef C10_SIMPLE_TYPE_GET

namespace detail {

template <class Known>
TypePtr known_type() {
  return Known::get();
}
#define C10_KNOWN_TYPE(Name) template TORCH_API TypePtr known_type<Name>();
C10_FORALL_SIMPLE_TYPES(C10_KNOWN_TYPE)
C10_KNOWN_TYPE(TensorType)
#undef C10_KNOWN_TYPE

} // namespace detail

// --- list, optional, future -----------------------------------------------------------------------------------------

SingleElementType::SingleElementType(TypeKind kind, TypePtr element) : SharedType(kind), element_(std::move(element)) {
  TORCH_CHECK(element_, "a ", typeKindToString(kind), " needs an element type");
}

bool SingleElementType::equals(const Type& rhs) const {
  return kind() == rhs.kind() && *element_ == *static_cast<const SingleElementType&>(rhs).element_;
}

std::shared_ptr<ListType> ListType::create(TypePtr element) {
  return std::shared_ptr<ListType>(new ListType(std::move(element)));
}

#define C10_LIST_OF(Name, Element)                                  \
  std::shared_ptr<ListType> ListType::Name() {                      \
    static const auto& type = *new auto(ListType::create(Element)); \
    return type;                                                    \
  }
C10_LIST_OF(ofTensors, TensorType::get())
C10_LIST_OF(ofOptionalTensors, OptionalType::ofTensor())
C10_LIST_OF(ofInts, IntType::get())
C10_LIST_OF(ofSymInts, SymIntType::get())
C10_LIST_OF(ofFloats, FloatType::get())
C10_LIST_OF(ofComplexDoubles, ComplexType::get())
C10_LIST_OF(ofBools, BoolType::get())
C10_LIST_OF(ofStrings, StringType::get())
C10_LIST_OF(ofNumbers, NumberType::get())
#undef C10_LIST_OF

std::string ListType::str() const {
  return getElementType()->str() + "[]";
}

std::string ListType::annotation_str_impl(const TypePrinter& printer) const {
  return "List[" + getElementType()->annotation_str(printer) + "]";
}

TypePtr ListType::createWithContained(std::vector<TypePtr> contained) const {
  return create(std::move(contained[0]));
}

bool ListType::isSubtypeOfExt(const Type& rhs, std::ostream* why_not) const {
  return rhs.kind() == TypeKind::AnyListType || Type::isSubtypeOfExt(rhs, why_not);
}

std::shared_ptr<OptionalType> OptionalType::create(const TypePtr& element) {
  TORCH_CHECK(element, "an optional type needs an element type");
  if (auto already = element->cast<OptionalType>()) {
    return already;
  }
  return std::shared_ptr<OptionalType>(new OptionalType(element));
}

std::shared_ptr<OptionalType> OptionalType::ofTensor() {
  static const auto& type = *new auto(OptionalType::create(TensorType::get()));
  return type;
}

std::string OptionalType::str() const {
  return getElementType()->str() + "?";
}

std::string OptionalType::annotation_str_impl(const TypePrinter& printer) const {
  return "Optional[" + getElementType()->annotation_str(printer) + "]";
}

TypePtr OptionalType::createWithContained(std::vector<TypePtr> contained) const {
  return create(contained[0]);
}

#define C10_WRAPPER_TYPE_IMPL(Name, Spelling)                               \
  std::shared_ptr<Name> Name::create(TypePtr element) {                     \
    return std::shared_ptr<Name>(new Name(std::move(element)));             \
  }                                                                         \
  std::string Name::str() const {                                           \
    return Spelling "(" + getElementType()->str() + ")";                    \
  }                                                                         \
  std::string Name::annotation_str_impl(const TypePrinter& printer) const { \
    return Spelling "[" + getElementType()->annotation_str(printer) + "]";  \
  }                                                                         \
  TypePtr Name::createWithContained(std::vector<TypePtr> contained) const { \
    return create(std::move(contained[0]));                                 \
  }
C10_WRAPPER_TYPE_IMPL(FutureType, "Future")
C10_WRAPPER_TYPE_IMPL(AwaitType, "Await")
C10_WRAPPER_TYPE_IMPL(RRefType, "RRef")
#undef C10_WRAPPER_TYPE_IMPL

// --- dict, tuple, variable, union
// -------------------------------------------------------------------------------------

DictType::DictType(TypePtr key, TypePtr value) : SharedType(Kind), types_{std::move(key), std::move(value)} {}

std::shared_ptr<DictType> DictType::create(TypePtr key, TypePtr value) {
  switch (key->kind()) {
    case TypeKind::AnyType:
    case TypeKind::IntType:
    case TypeKind::BoolType:
    case TypeKind::FloatType:
    case TypeKind::ComplexType:
    case TypeKind::StringType:
    case TypeKind::TensorType:
    case TypeKind::DeviceObjType:
    case TypeKind::VarType:
      return std::shared_ptr<DictType>(new DictType(std::move(key), std::move(value)));
    default:
      TORCH_CHECK(
          false, "Cannot create dict for key type '", key->str(),
          "', only int, float, complex, Tensor, device and string keys are supported");
  }
}

std::string DictType::str() const {
  return "Dict(" + getKeyType()->str() + ", " + getValueType()->str() + ")";
}

std::string DictType::annotation_str_impl(const TypePrinter& printer) const {
  return "Dict[" + getKeyType()->annotation_str(printer) + ", " + getValueType()->annotation_str(printer) + "]";
}

bool DictType::equals(const Type& rhs) const {
  const DictType* other = rhs.castRaw<DictType>();
  return other && *types_[0] == *other->types_[0] && *types_[1] == *other->types_[1];
}

TypePtr DictType::createWithContained(std::vector<TypePtr> contained) const {
  return create(std::move(contained[0]), std::move(contained[1]));
}

namespace {

template <class Spell>
std::string join(ArrayRef<TypePtr> types, Spell&& spell) {
  std::string out;
  for (const TypePtr& type : types) {
    if (!out.empty()) {
      out += ", ";
    }
    out += spell(*type);
  }
  return out;
}

bool all_equal(ArrayRef<TypePtr> a, ArrayRef<TypePtr> b) {
  return std::equal(
      a.begin(), a.end(), b.begin(), b.end(), [](const TypePtr& x, const TypePtr& y) { return *x == *y; });
}

} // namespace

TupleType::TupleType(
    std::vector<TypePtr> elements, std::optional<QualifiedName> name, std::shared_ptr<FunctionSchema> schema)
    : NamedType(Kind, std::move(name)), elements_(std::move(elements)), schema_(std::move(schema)) {}

std::shared_ptr<TupleType> TupleType::create(std::vector<TypePtr> types) {
  return std::shared_ptr<TupleType>(new TupleType(std::move(types), std::nullopt, nullptr));
}

std::shared_ptr<TupleType> TupleType::createNamed(
    const std::optional<QualifiedName>& name,
    const std::vector<std::string>& field_names,
    const std::vector<TypePtr>& field_types,
    const std::vector<IValue>& field_defaults) {
  const std::string title = name ? name->name() : std::string();
  TORCH_CHECK(
      field_names.size() == field_types.size(), "TupleType::createNamed: ", title, " got ", field_names.size(),
      " names and ", field_types.size(), " types of fields; there must be as many of each");
  TORCH_CHECK(
      field_defaults.size() <= field_names.size(), "TupleType::createNamed: ", title, " got ", field_defaults.size(),
      " defaults for ", field_names.size(), " fields; there may be one for each field at most");
  const size_t first_default = field_names.size() - field_defaults.size();
  std::vector<Argument> fields;
  fields.reserve(field_names.size());
  for (size_t i = 0; i < field_names.size(); ++i) {
    std::optional<IValue> value;
    if (i >= first_default) {
      value = field_defaults[i - first_default];
    }
    fields.emplace_back(field_names[i], field_types[i], std::nullopt, std::move(value));
  }
  auto schema = std::make_shared<FunctionSchema>(title, "", std::move(fields), std::vector<Argument>());
  return std::shared_ptr<TupleType>(new TupleType(field_types, name, std::move(schema)));
}

std::shared_ptr<TupleType> TupleType::createNamed(
    const std::optional<QualifiedName>& name,
    const std::vector<std::string>& field_names,
    const std::vector<TypePtr>& field_types) {
  return createNamed(name, field_names, field_types, std::vector<IValue>());
}

std::shared_ptr<TupleType> TupleType::createNamed(
    const std::optional<QualifiedName>& name,
    const std::vector<std::string_view>& field_names,
    const std::vector<TypePtr>& field_types) {
  return createNamed(name, std::vector<std::string>(field_names.begin(), field_names.end()), field_types);
}

std::optional<std::vector<std::string_view>> TupleType::names() const {
  if (!schema_) {
    return std::nullopt;
  }
  std::vector<std::string_view> names;
  for (const Argument& field : schema_->arguments()) {
    names.emplace_back(field.name());
  }
  return names;
}

std::string TupleType::str() const {
  if (schema_ && name()) {
    return name()->qualifiedName();
  }
  return "(" + join(elements_, [](const Type& type) { return type.str(); }) + ")";
}

std::string TupleType::annotation_str_impl(const TypePrinter& printer) const {
  if (schema_ && name()) {
    return name()->qualifiedName();
  }
  if (elements_.empty()) {
    return "Tuple[()]";
  }
  return "Tuple[" + join(elements_, [&](const Type& type) { return type.annotation_str(printer); }) + "]";
}

bool TupleType::equals(const Type& rhs) const {
  const TupleType* other = rhs.castRaw<TupleType>();
  if (!other || !all_equal(elements_, other->elements_)) {
    return false;
  }
  return schema_ && other->schema_ ? *schema_ == *other->schema_ : !schema_ && !other->schema_;
}

bool TupleType::isSubtypeOfExt(const Type& rhs, std::ostream* why_not) const {
  if (rhs.kind() == TypeKind::AnyTupleType) {
    return true;
  }
  if (const TupleType* other = rhs.castRaw<TupleType>()) {
    // A named tuple serves where a plain one is asked for, or one whose fields are called the same.
    if (other->schema_ && names() != other->names()) {
      return false;
    }
    return std::equal(
        elements_.begin(), elements_.end(), other->elements_.begin(), other->elements_.end(),
        [&](const TypePtr& x, const TypePtr& y) { return x->isSubtypeOfExt(*y, why_not); });
  }
  return Type::isSubtypeOfExt(rhs, why_not);
}

TypePtr TupleType::createWithContained(std::vector<TypePtr> contained) const {
  return std::shared_ptr<TupleType>(new TupleType(std::move(contained), name(), schema_));
}

std::shared_ptr<VarType> VarType::create(std::string name) {
  return std::shared_ptr<VarType>(new VarType(std::move(name)));
}

bool VarType::equals(const Type& rhs) const {
  const VarType* other = rhs.castRaw<VarType>();
  return other && name_ == other->name_;
}

namespace {

// Optionals, unions and numbers are what they may be.
void flatten(const TypePtr& type, std::vector<TypePtr>& members) {
  if (const OptionalType* optional = type->castRaw<OptionalType>()) {
    flatten(optional->getElementType(), members);
    members.push_back(NoneType::get());
  } else if (type->kind() == TypeKind::UnionType) {
    for (const TypePtr& member : type->containedTypes()) {
      flatten(member, members);
    }
  } else if (type->kind() == TypeKind::NumberType) {
    members.insert(members.end(), {IntType::get(), FloatType::get(), ComplexType::get()});
  } else {
    members.push_back(type);
  }
}

// One type for both, but None stays a member of its own.
std::optional<TypePtr> joined(const TypePtr& a, const TypePtr& b) {
  const bool only_one_is_none = (a->kind() == TypeKind::NoneType) != (b->kind() == TypeKind::NoneType);
  const bool one_is_any = a->kind() == TypeKind::AnyType || b->kind() == TypeKind::AnyType;
  return only_one_is_none && !one_is_any ? std::nullopt : unifyTypes(a, b);
}

void add_member(TypePtr type, std::vector<TypePtr>& members) {
  for (size_t i = 0; i < members.size(); ++i) {
    if (std::optional<TypePtr> both = joined(members[i], type)) {
      // The wider type may take in others.
      members.erase(members.begin() + static_cast<std::ptrdiff_t>(i));
      add_member(std::move(*both), members);
      return;
    }
  }
  members.push_back(std::move(type));
}

bool is_kind_of_number(const TypePtr& type) {
  return type->kind() == TypeKind::IntType || type->kind() == TypeKind::FloatType ||
      type->kind() == TypeKind::ComplexType;
}

bool has_all_numbers(const std::vector<TypePtr>& members) {
  return std::count_if(members.begin(), members.end(), is_kind_of_number) == 3;
}

/// The members as they are printed: int, float and complex together are a number.
std::vector<TypePtr> printed_members(const std::vector<TypePtr>& members) {
  if (!has_all_numbers(members)) {
    return members;
  }
  std::vector<TypePtr> printed;
  std::remove_copy_if(members.begin(), members.end(), std::back_inserter(printed), is_kind_of_number);
  printed.push_back(NumberType::get());
  return printed;
}

} // namespace

std::shared_ptr<UnionType> UnionType::create(std::vector<TypePtr> types) {
  std::vector<TypePtr> flat;
  for (const TypePtr& type : types) {
    flatten(type, flat);
  }
  std::vector<TypePtr> members;
  for (TypePtr& type : flat) {
    add_member(std::move(type), members);
  }
  std::stable_sort(members.begin(), members.end(), [](const TypePtr& a, const TypePtr& b) {
    return a->kind() != b->kind() ? a->kind() < b->kind() : a->str() < b->str();
  });
  TORCH_CHECK(members.size() > 1, "a Union needs at least two different types");
  return std::shared_ptr<UnionType>(new UnionType(std::move(members)));
}

bool UnionType::canHoldType(const Type& type) const {
  if (type.kind() == TypeKind::NumberType) {
    return has_all_numbers(types_);
  }
  for (const TypePtr& member : types_) {
    if (type.isSubtypeOf(*member)) {
      return true;
    }
  }
  return false;
}

std::string UnionType::str() const {
  return "Union(" + join(printed_members(types_), [](const Type& type) { return type.str(); }) + ")";
}

std::string UnionType::annotation_str_impl(const TypePrinter& printer) const {
  return "Union[" + join(printed_members(types_), [&](const Type& type) { return type.annotation_str(printer); }) + "]";
}

bool UnionType::equals(const Type& rhs) const {
  if (rhs.kind() == TypeKind::NumberType) {
    return types_.size() == 3 && has_all_numbers(types_);
  }
  const UnionType* other = rhs.castRaw<UnionType>();
  if (!other || other->types_.size() != types_.size()) {
    return false;
  }
  for (const TypePtr& type : types_) {
    bool found = false;
    for (const TypePtr& candidate : other->types_) {
      found = found || *type == *candidate;
    }
    if (!found) {
      return false;
    }
  }
  return true;
}

TypePtr UnionType::createWithContained(std::vector<TypePtr> contained) const {
  return create(std::move(contained));
}

// --- subtypes --------------------------------------------------------------------------------------------------------

bool Type::isSubtypeOfExt(const Type& rhs, std::ostream* why_not) const {
  if (rhs.kind() == TypeKind::AnyType || equals(rhs)) {
    return true;
  }
  if (const OptionalType* optional = rhs.castRaw<OptionalType>()) {
    return kind_ == TypeKind::NoneType || isSubtypeOfExt(*optional->getElementType(), why_not);
  }
  if (const UnionType* any_of = rhs.castRaw<UnionType>()) {
    return any_of->canHoldType(*this);
  }
  if (rhs.kind() == TypeKind::NumberType) {
    return kind_ == TypeKind::IntType || kind_ == TypeKind::FloatType || kind_ == TypeKind::ComplexType ||
        kind_ == TypeKind::SymIntType || kind_ == TypeKind::SymFloatType;
  }
  return false;
}

bool OptionalType::isSubtypeOfExt(const Type& rhs, std::ostream* why_not) const {
  if (rhs.kind() == TypeKind::OptionalType) {
    return getElementType()->isSubtypeOfExt(*static_cast<const OptionalType&>(rhs).getElementType(), why_not);
  }
  if (const UnionType* any_of = rhs.castRaw<UnionType>()) {
    return any_of->canHoldType(*NoneType::get()) && any_of->canHoldType(*getElementType());
  }
  return Type::isSubtypeOfExt(rhs, why_not);
}

bool UnionType::isSubtypeOfExt(const Type& rhs, std::ostream* why_not) const {
  if (rhs.kind() == TypeKind::AnyType) {
    return true;
  }
  for (const TypePtr& member : types_) {
    if (!member->isSubtypeOfExt(rhs, why_not)) {
      return false;
    }
  }
  return true;
}

std::optional<TypePtr> unifyTypes(const TypePtr& a, const TypePtr& b) {
  if (a->isSubtypeOf(*b)) {
    return b;
  }
  if (b->isSubtypeOf(*a)) {
    return a;
  }
  if (a->kind() == TypeKind::NoneType) {
    return OptionalType::create(b);
  }
  if (b->kind() == TypeKind::NoneType) {
    return OptionalType::create(a);
  }
  if (a->kind() == TypeKind::TensorType && b->kind() == TypeKind::TensorType) {
    return a->expectRef<TensorType>().merge(b->expectRef<TensorType>());
  }
  if (a->kind() == TypeKind::FutureType && b->kind() == TypeKind::FutureType) {
    const std::optional<TypePtr> inner = unifyTypes(a->containedTypes()[0], b->containedTypes()[0]);
    return inner ? std::optional<TypePtr>(FutureType::create(*inner)) : std::nullopt;
  }
  const OptionalType* optional_a = a->castRaw<OptionalType>();
  const OptionalType* optional_b = b->castRaw<OptionalType>();
  if (optional_a || optional_b) {
    const auto inner =
        unifyTypes(optional_a ? optional_a->getElementType() : a, optional_b ? optional_b->getElementType() : b);
    if (inner) {
      return OptionalType::create(*inner);
    }
    return std::nullopt;
  }
  const TupleType* tuple_a = a->castRaw<TupleType>();
  const TupleType* tuple_b = b->castRaw<TupleType>();
  if (tuple_a && tuple_b && tuple_a->elements().size() == tuple_b->elements().size()) {
    std::vector<TypePtr> elements;
    for (size_t i = 0; i < tuple_a->elements().size(); ++i) {
      std::optional<TypePtr> element = unifyTypes(tuple_a->elements()[i], tuple_b->elements()[i]);
      if (!element) {
        return std::nullopt;
      }
      elements.push_back(std::move(*element));
    }
    return TupleType::create(std::move(elements));
  }
  return std::nullopt;
}

// --- enumerations
// ------------------------------------------------------------------------------------------------------

EnumType::EnumType(
    QualifiedName name,
    TypePtr value_type,
    std::vector<EnumNameValue> names_values,
    std::weak_ptr<torch::jit::CompilationUnit> cu)
    : SharedType(Kind),
      name_(std::move(name)),
      value_type_(std::move(value_type)),
      names_values_(std::move(names_values)),
      cu_(std::move(cu)) {}

EnumType::~EnumType() = default;

EnumTypePtr EnumType::create(
    const QualifiedName& name,
    TypePtr value_type,
    std::vector<EnumNameValue> names_values,
    std::weak_ptr<torch::jit::CompilationUnit> cu) {
  const TypeKind kind = value_type->kind();
  TORCH_CHECK(
      kind == TypeKind::IntType || kind == TypeKind::FloatType || kind == TypeKind::StringType, "Cannot create Enum ",
      name.qualifiedName(), " with value type '", value_type->str(), "', only int, float and str are supported");
  return EnumTypePtr(new EnumType(name, std::move(value_type), std::move(names_values), std::move(cu)));
}

ArrayRef<EnumNameValue> EnumType::enumNamesValues() const {
  return names_values_;
}

std::string EnumType::str() const {
  return "Enum<" + annotation_str() + ">";
}

std::string EnumType::annotation_str_impl(const TypePrinter&) const {
  return name_.qualifiedName();
}

bool EnumType::equals(const Type& rhs) const {
  const EnumType* other = rhs.castRaw<EnumType>();
  return other && name_ == other->name_ && *value_type_ == *other->value_type_;
}

bool EnumType::isSubtypeOfExt(const Type& rhs, std::ostream* why_not) const {
  return rhs.kind() == TypeKind::AnyEnumType || Type::isSubtypeOfExt(rhs, why_not);
}

} // namespace c10
