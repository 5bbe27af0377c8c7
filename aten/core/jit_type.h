#pragma once

#include <aten/core/class_type.h>
#include <aten/core/jit_type_base.h>
#include <c10/core/ScalarType.h>
#include <c10/util/OwnedPtr.h>
#include <c10/util/intrusive_ptr.h>

#include <array>
#include <map>
#include <tuple>
#include <typeindex>
#include <unordered_map>

// The concrete types, and getTypePtr<T>(), which maps C++ types to them.

namespace at {
class Tensor;
struct Dimname;
struct Generator;
class OptionalTensorRef;
} // namespace at

namespace torch {
class CustomClassHolder;
}

namespace c10 {

struct IValue;
template <class Key, class Value>
class Dict;
template <class T>
class List;
template <class T>
class IListRef;
class Scalar;
class SymInt;
class SymFloat;
class SymBool;
class Stream;
struct Storage;
struct Device;
template <class T>
class OptionalArrayRef;
struct EnumType;
struct FunctionSchema;
using EnumTypePtr = std::shared_ptr<EnumType>;
enum class MemoryFormat : int8_t;
enum class QScheme : uint8_t;
enum class Layout : int8_t;

/// A type without parameters: equal to every type of the same kind. A number is equal to the union of all kinds of
/// them.
struct TORCH_API SimpleType : Type {
  bool equals(const Type& rhs) const override {
    return kind() == rhs.kind() ||
        (kind() == TypeKind::NumberType && rhs.kind() == TypeKind::UnionType && rhs.equals(*this));
  }
  std::string str() const override;
  TypePtr ptr() const override;

 protected:
  using Type::Type;
  std::string annotation_str_impl(const TypePrinter& printer) const override;
};

#define C10_SIMPLE_TYPE(Name)                                     \
  struct TORCH_API Name final : SimpleType, ComparablePtr<Name> { \
    static constexpr TypeKind Kind = TypeKind::Name;              \
    Name() : SimpleType(Kind) {}                                  \
    /** The only object of this type. */                          \
    static std::shared_ptr<Name> get();                           \
  };                                                              \
  using Name##Ptr = std::shared_ptr<Name>;

#define C10_FORALL_SIMPLE_TYPES(_) \
  _(AnyType)                       \
  _(AnyEnumType)                   \
  _(StorageType)                   \
  _(NumberType)                    \
  _(FloatType)                     \
  _(ComplexType)                   \
  _(IntType)                       \
  _(NoneType)                      \
  _(StringType)                    \
  _(GeneratorType)                 \
  _(QuantizerType)                 \
  _(BoolType)                      \
  _(DeviceObjType)                 \
  _(StreamObjType)                 \
  _(PyObjectType)                  \
  _(CapsuleType)                   \
  _(QSchemeType)                   \
  _(ScalarTypeType)                \
  _(LayoutType)                    \
  _(MemoryFormatType)              \
  _(AnyListType)                   \
  _(AnyTupleType)                  \
  _(AnyClassType)                  \
  _(SymIntType)                    \
  _(SymFloatType)                  \
  _(SymBoolType)

C10_FORALL_SIMPLE_TYPES(C10_SIMPLE_TYPE)
#undef C10_SIMPLE_TYPE

template <class T>
struct VaryingShape;
class SymbolicShape;
struct Stride;

/// A tensor: any, or one of known dtype, device, sizes, strides or need of gradients. Schemas say just `Tensor`; what
/// is known beyond that stands in the graphs of TorchScript. <aten/core/tensor_type.h> has VaryingShape.
struct TORCH_API TensorType final : SimpleType, ComparablePtr<TensorType> {
  static constexpr TypeKind Kind = TypeKind::TensorType;
  ~TensorType() override;

  /// Any tensor; the same object each time.
  static std::shared_ptr<TensorType> get();
  /// Any tensor too, for what was taken to be one without an annotation.
  static std::shared_ptr<TensorType> getInferred();
  /// All that there is to know of a tensor but its values.
  static std::shared_ptr<TensorType> create(const at::Tensor& tensor);
  /// The number of dimensions alone is known of the sizes, or nothing.
  static std::shared_ptr<TensorType> create(
      std::optional<ScalarType> scalar_type,
      std::optional<Device> device,
      std::optional<size_t> dim,
      std::optional<bool> requires_grad);
  static std::shared_ptr<TensorType> create(
      std::optional<ScalarType> scalar_type,
      std::optional<Device> device,
      const VaryingShape<int64_t>& sizes,
      const VaryingShape<int64_t>& strides,
      std::optional<bool> requires_grad,
      std::optional<bool> undefined = false);
  /// From sizes that tell more than is kept: names of sizes are dropped.
  static std::shared_ptr<TensorType> create(
      std::optional<ScalarType> scalar_type,
      std::optional<Device> device,
      const SymbolicShape& sizes,
      const VaryingShape<Stride>& strides,
      std::optional<bool> requires_grad,
      std::optional<bool> undefined = false);
  static std::shared_ptr<TensorType> createContiguous(ScalarType scalar_type, Device device, ArrayRef<int64_t> sizes);
  /// Row-major strides of a tensor of these sizes.
  static std::vector<int64_t> contiguousStridesOf(ArrayRef<int64_t> sizes);

  std::optional<ScalarType> scalarType() const;
  std::optional<Device> device() const;
  std::optional<size_t> dim() const;
  VaryingShape<int64_t> sizes() const;
  VaryingShape<int64_t> strides() const;
  /// The strides from the smallest to the largest, each with its dimension.
  const VaryingShape<Stride>& stride_properties() const;
  /// The sizes, each that is not known as a new symbol.
  SymbolicShape symbolic_sizes() const;
  std::optional<size_t> numel() const;
  std::optional<bool> requiresGrad() const;
  /// True where that is not known.
  bool requires_grad() const;
  /// Whether the tensor is undefined.
  std::optional<bool> undefined() const;
  bool isInferredType() const;
  /// Whether dtype, device, sizes and strides are known.
  bool isComplete() const;

  std::shared_ptr<TensorType> withScalarType(std::optional<ScalarType> scalar_type) const;
  std::shared_ptr<TensorType> withDevice(std::optional<Device> device) const;
  std::shared_ptr<TensorType> withDim(std::optional<size_t> dim) const;
  /// Sizes with contiguous strides.
  std::shared_ptr<TensorType> withSizes(ArrayRef<int64_t> sizes) const;
  std::shared_ptr<TensorType> withStrides(VaryingShape<Stride> strides) const;
  std::shared_ptr<TensorType> withSizesStrides(ArrayRef<int64_t> sizes, ArrayRef<int64_t> strides) const;
  std::shared_ptr<TensorType> withRequiresGrad(std::optional<bool> requires_grad) const;
  std::shared_ptr<TensorType> withUndefined() const;
  /// The same without numbers: dtype, device and the number of dimensions.
  std::shared_ptr<TensorType> dimensionedOnly() const;
  std::shared_ptr<TensorType> contiguous() const;
  /// What holds of both.
  std::shared_ptr<TensorType> merge(const TensorType& other, bool merge_sizes = true) const;

  bool equals(const Type& rhs) const override;
  bool isSubtypeOfExt(const Type& rhs, std::ostream* why_not) const override;
  std::string repr_str() const override;
  TypePtr ptr() const override;

 private:
  struct Properties;
  TensorType();
  explicit TensorType(Properties properties);
  static std::shared_ptr<TensorType> make(Properties properties);
  const Properties& properties() const;

  // Null: nothing is known.
  OwnedPtr<Properties> properties_;
  std::weak_ptr<TensorType> self_;
};
using TensorTypePtr = std::shared_ptr<TensorType>;

/// Base of the types with one parameter.
struct TORCH_API SingleElementType : SharedType {
  const TypePtr& getElementType() const {
    return element_;
  }
  ArrayRef<TypePtr> containedTypes() const override {
    return ArrayRef<TypePtr>(&element_, 1);
  }
  bool hasFreeVariables() const override {
    return element_->hasFreeVariables();
  }
  bool equals(const Type& rhs) const override;

 protected:
  SingleElementType(TypeKind kind, TypePtr element);

 private:
  TypePtr element_;
};

struct TORCH_API ListType final : SingleElementType, ComparablePtr<ListType> {
  static constexpr TypeKind Kind = TypeKind::ListType;
  static std::shared_ptr<ListType> create(TypePtr element);
  static std::shared_ptr<ListType> ofTensors();
  static std::shared_ptr<ListType> ofOptionalTensors();
  static std::shared_ptr<ListType> ofInts();
  static std::shared_ptr<ListType> ofSymInts();
  static std::shared_ptr<ListType> ofFloats();
  static std::shared_ptr<ListType> ofComplexDoubles();
  static std::shared_ptr<ListType> ofBools();
  static std::shared_ptr<ListType> ofStrings();
  static std::shared_ptr<ListType> ofNumbers();

  std::string str() const override;
  bool isSubtypeOfExt(const Type& rhs, std::ostream* why_not) const override;
  TypePtr createWithContained(std::vector<TypePtr> contained) const override;

 protected:
  std::string annotation_str_impl(const TypePrinter& printer) const override;

 private:
  explicit ListType(TypePtr element) : SingleElementType(Kind, std::move(element)) {}
};
using ListTypePtr = std::shared_ptr<ListType>;

struct TORCH_API OptionalType final : SingleElementType, ComparablePtr<OptionalType> {
  static constexpr TypeKind Kind = TypeKind::OptionalType;
  /// Optional of an optional is the optional itself.
  static std::shared_ptr<OptionalType> create(const TypePtr& element);
  static std::shared_ptr<OptionalType> ofTensor();

  std::string str() const override;
  bool isSubtypeOfExt(const Type& rhs, std::ostream* why_not) const override;
  TypePtr createWithContained(std::vector<TypePtr> contained) const override;

 protected:
  std::string annotation_str_impl(const TypePrinter& printer) const override;

 private:
  explicit OptionalType(TypePtr element) : SingleElementType(Kind, std::move(element)) {}
};
using OptionalTypePtr = std::shared_ptr<OptionalType>;

/// Future(T), Await(T) and RRef(T) differ in name only.
#define C10_WRAPPER_TYPE(Name)                                                      \
  struct TORCH_API Name final : SingleElementType, ComparablePtr<Name> {            \
    static constexpr TypeKind Kind = TypeKind::Name;                                \
    static std::shared_ptr<Name> create(TypePtr element);                           \
    std::string str() const override;                                               \
    TypePtr createWithContained(std::vector<TypePtr> contained) const override;     \
                                                                                    \
   protected:                                                                       \
    std::string annotation_str_impl(const TypePrinter& printer) const override;     \
                                                                                    \
   private:                                                                         \
    explicit Name(TypePtr element) : SingleElementType(Kind, std::move(element)) {} \
  };                                                                                \
  using Name##Ptr = std::shared_ptr<Name>;
C10_WRAPPER_TYPE(FutureType)
C10_WRAPPER_TYPE(AwaitType)
C10_WRAPPER_TYPE(RRefType)
#undef C10_WRAPPER_TYPE

struct TORCH_API DictType final : SharedType, ComparablePtr<DictType> {
  static constexpr TypeKind Kind = TypeKind::DictType;
  /// Keys may be int, bool, float, complex, str, Tensor, device, a type variable or Any; else throws.
  static std::shared_ptr<DictType> create(TypePtr key, TypePtr value);
  const TypePtr& getKeyType() const {
    return types_[0];
  }
  const TypePtr& getValueType() const {
    return types_[1];
  }
  ArrayRef<TypePtr> containedTypes() const override {
    return ArrayRef<TypePtr>(types_.data(), 2);
  }
  std::string str() const override;
  bool equals(const Type& rhs) const override;
  TypePtr createWithContained(std::vector<TypePtr> contained) const override;

 protected:
  std::string annotation_str_impl(const TypePrinter& printer) const override;

 private:
  DictType(TypePtr key, TypePtr value);
  std::array<TypePtr, 2> types_;
};
using DictTypePtr = std::shared_ptr<DictType>;

/// The types of a tuple's elements; of a named tuple also their names, and defaults of the last of them.
struct TORCH_API TupleType final : NamedType, ComparablePtr<TupleType> {
  static constexpr TypeKind Kind = TypeKind::TupleType;
  static std::shared_ptr<TupleType> create(std::vector<TypePtr> types);
  static std::shared_ptr<TupleType> create() {
    return create({});
  }
  static std::shared_ptr<TupleType> createNamed(
      const std::optional<QualifiedName>& name,
      const std::vector<std::string>& field_names,
      const std::vector<TypePtr>& field_types);
  static std::shared_ptr<TupleType> createNamed(
      const std::optional<QualifiedName>& name,
      const std::vector<std::string_view>& field_names,
      const std::vector<TypePtr>& field_types);
  static std::shared_ptr<TupleType> createNamed(
      const std::optional<QualifiedName>& name,
      const std::vector<std::string>& field_names,
      const std::vector<TypePtr>& field_types,
      const std::vector<IValue>& field_defaults);
  /// The fields as arguments, `Point(int x, float y) -> ()`; null for plain tuples.
  const std::shared_ptr<FunctionSchema>& schema() const {
    return schema_;
  }
  std::optional<std::vector<std::string_view>> names() const;
  ArrayRef<TypePtr> elements() const {
    return elements_;
  }
  ArrayRef<TypePtr> containedTypes() const override {
    return elements_;
  }
  std::string str() const override;
  bool equals(const Type& rhs) const override;
  bool isSubtypeOfExt(const Type& rhs, std::ostream* why_not) const override;
  TypePtr createWithContained(std::vector<TypePtr> contained) const override;

 protected:
  std::string annotation_str_impl(const TypePrinter& printer) const override;

 private:
  TupleType(std::vector<TypePtr> elements, std::optional<QualifiedName> name, std::shared_ptr<FunctionSchema> schema);
  std::vector<TypePtr> elements_;
  std::shared_ptr<FunctionSchema> schema_;
};
using TupleTypePtr = std::shared_ptr<TupleType>;

/// A type variable of a generic schema: the `t` of `t[]`.
struct TORCH_API VarType final : SharedType, ComparablePtr<VarType> {
  static constexpr TypeKind Kind = TypeKind::VarType;
  static std::shared_ptr<VarType> create(std::string name);
  const std::string& name() const {
    return name_;
  }
  std::string str() const override {
    return name_;
  }
  bool equals(const Type& rhs) const override;
  bool hasFreeVariables() const override {
    return true;
  }

 private:
  explicit VarType(std::string name) : SharedType(Kind), name_(std::move(name)) {}
  std::string name_;
};
using VarTypePtr = std::shared_ptr<VarType>;

/// One of several types, none of which contains another.
struct TORCH_API UnionType final : SharedType, ComparablePtr<UnionType> {
  static constexpr TypeKind Kind = TypeKind::UnionType;
  static std::shared_ptr<UnionType> create(std::vector<TypePtr> types);
  ArrayRef<TypePtr> containedTypes() const override {
    return types_;
  }
  ArrayRef<TypePtr> getTypes() const {
    return types_;
  }
  bool canHoldType(const Type& type) const;
  std::string str() const override;
  bool equals(const Type& rhs) const override;
  bool isSubtypeOfExt(const Type& rhs, std::ostream* why_not) const override;
  TypePtr createWithContained(std::vector<TypePtr> contained) const override;

 protected:
  std::string annotation_str_impl(const TypePrinter& printer) const override;

 private:
  explicit UnionType(std::vector<TypePtr> types) : SharedType(Kind), types_(std::move(types)) {}
  std::vector<TypePtr> types_;
};
using UnionTypePtr = std::shared_ptr<UnionType>;

/// Smallest type that both are subtypes of, if there is one.
TORCH_API std::optional<TypePtr> unifyTypes(const TypePtr& a, const TypePtr& b);

/// The class type registered for a C++ class through torch::class_<T>. Throws if there is none.
TORCH_API const ClassTypePtr& getCustomClassTypeImpl(const std::type_index& tindex);
template <class T>
C10_HIDDEN const ClassTypePtr& getCustomClassType() {
  // Classes are never unbound, so one look-up is enough.
  static const ClassTypePtr& type = getCustomClassTypeImpl(std::type_index(typeid(T)));
  return type;
}

namespace detail {

// `Known::get()` as a TypePtr, for the types with one object. Compiled in the library, since conversions of shared
// pointers cost programs time.
template <class Known>
TORCH_API TypePtr known_type();

// `fake` maps the enum-like types (ScalarType, Layout, MemoryFormat, SymInt) to int, which is how their values travel.
template <class T, bool fake, class Enable = void>
struct TypeOf {
  static_assert(
      sizeof(T) == 0,
      "This C++ type cannot be used in an operator schema. Use Tensor, int64_t, double, bool, c10::Scalar, "
      "std::string, "
      "c10::List<T>, std::vector<T>, c10::Dict<K, V>, std::optional<T>, std::tuple<...> or "
      "c10::intrusive_ptr<CustomClass>.");
};

#define C10_SIMPLE_TYPE_OF(CppType, TypeName) \
  template <bool fake>                        \
  struct TypeOf<CppType, fake> {              \
    static TypePtr get() {                    \
      return known_type<TypeName>();          \
    }                                         \
  };
C10_SIMPLE_TYPE_OF(at::Tensor, TensorType)
C10_SIMPLE_TYPE_OF(c10::Storage, StorageType)
C10_SIMPLE_TYPE_OF(c10::Stream, StreamObjType)
C10_SIMPLE_TYPE_OF(double, FloatType)
C10_SIMPLE_TYPE_OF(c10::complex<double>, ComplexType)
C10_SIMPLE_TYPE_OF(int64_t, IntType)
C10_SIMPLE_TYPE_OF(bool, BoolType)
C10_SIMPLE_TYPE_OF(c10::Device, DeviceObjType)
C10_SIMPLE_TYPE_OF(c10::Scalar, NumberType)
C10_SIMPLE_TYPE_OF(std::string, StringType)
C10_SIMPLE_TYPE_OF(std::string_view, StringType)
C10_SIMPLE_TYPE_OF(const char*, StringType)
C10_SIMPLE_TYPE_OF(at::Generator, GeneratorType)
C10_SIMPLE_TYPE_OF(at::Dimname, StringType)
C10_SIMPLE_TYPE_OF(c10::SymFloat, SymFloatType)
C10_SIMPLE_TYPE_OF(c10::SymBool, SymBoolType)
C10_SIMPLE_TYPE_OF(c10::IValue, AnyType)
C10_SIMPLE_TYPE_OF(c10::intrusive_ptr<torch::CustomClassHolder>, CapsuleType)
C10_SIMPLE_TYPE_OF(void, NoneType)
#undef C10_SIMPLE_TYPE_OF

#define C10_ENUM_TYPE_OF(CppType, TypeName) \
  template <bool fake>                      \
  struct TypeOf<CppType, fake> {            \
    static TypePtr get() {                  \
      if constexpr (fake) {                 \
        return known_type<IntType>();       \
      } else {                              \
        return known_type<TypeName>();      \
      }                                     \
    }                                       \
  };
C10_ENUM_TYPE_OF(c10::ScalarType, ScalarTypeType)
C10_ENUM_TYPE_OF(c10::Layout, LayoutType)
C10_ENUM_TYPE_OF(c10::MemoryFormat, MemoryFormatType)
C10_ENUM_TYPE_OF(c10::QScheme, QSchemeType)
C10_ENUM_TYPE_OF(c10::SymInt, SymIntType)
#undef C10_ENUM_TYPE_OF

// The static objects are hidden: GCC gives those of exported templates a binding that keeps dlclose from unloading.
template <class T, bool fake>
struct ListTypeOf {
  C10_HIDDEN static TypePtr get() {
    static const TypePtr type = ListType::create(TypeOf<T, fake>::get());
    return type;
  }
};
template <class T, bool fake>
struct OptionalTypeOf {
  C10_HIDDEN static TypePtr get() {
    static const TypePtr type = OptionalType::create(TypeOf<T, fake>::get());
    return type;
  }
};
template <class K, class V, bool fake>
struct DictTypeOf {
  C10_HIDDEN static TypePtr get() {
    static const TypePtr type = DictType::create(TypeOf<K, fake>::get(), TypeOf<V, fake>::get());
    return type;
  }
};

template <class T, bool fake>
struct TypeOf<c10::List<T>, fake> : ListTypeOf<T, fake> {};
template <class T, bool fake>
struct TypeOf<std::vector<T>, fake> : ListTypeOf<T, fake> {};
template <class T, bool fake>
struct TypeOf<c10::ArrayRef<T>, fake> : ListTypeOf<T, fake> {};
template <class T, size_t N, bool fake>
struct TypeOf<std::array<T, N>, fake> : ListTypeOf<T, fake> {};
template <bool fake>
struct TypeOf<c10::IListRef<at::Tensor>, fake> : ListTypeOf<at::Tensor, fake> {};
template <bool fake>
struct TypeOf<c10::IListRef<at::OptionalTensorRef>, fake> : ListTypeOf<std::optional<at::Tensor>, fake> {};
template <bool fake>
struct TypeOf<c10::List<c10::IValue>, fake> {
  static TypePtr get() {
    return known_type<AnyListType>();
  }
};
template <class T, bool fake>
struct TypeOf<std::optional<T>, fake> : OptionalTypeOf<T, fake> {};
template <class T, bool fake>
struct TypeOf<c10::OptionalArrayRef<T>, fake> : OptionalTypeOf<c10::ArrayRef<T>, fake> {};
template <bool fake>
struct TypeOf<at::OptionalTensorRef, fake> : OptionalTypeOf<at::Tensor, fake> {};
template <class K, class V, bool fake>
struct TypeOf<c10::Dict<K, V>, fake> : DictTypeOf<K, V, fake> {};
template <class K, class V, bool fake>
struct TypeOf<std::unordered_map<K, V>, fake> : DictTypeOf<K, V, fake> {};
template <class K, class V, bool fake>
struct TypeOf<std::map<K, V>, fake> : DictTypeOf<K, V, fake> {};
template <class... Ts, bool fake>
struct TypeOf<std::tuple<Ts...>, fake> {
  C10_HIDDEN static TypePtr get() {
    static const TypePtr type = TupleType::create({TypeOf<std::decay_t<Ts>, fake>::get()...});
    return type;
  }
};
template <class A, class B, bool fake>
struct TypeOf<std::pair<A, B>, fake> : TypeOf<std::tuple<A, B>, fake> {};
template <class T, bool fake>
struct TypeOf<c10::intrusive_ptr<T>, fake> {
  static TypePtr get();
};
template <class T, bool fake>
struct TypeOf<
    T,
    fake,
    std::enable_if_t<std::is_integral_v<T> && !std::is_same_v<T, bool> && !std::is_same_v<T, int64_t>>> {
  static TypePtr get() {
    return known_type<IntType>();
  }
};
template <bool fake>
struct TypeOf<float, fake> : TypeOf<double, fake> {};

} // namespace detail

/// The schema type of a C++ type; custom classes must have been registered (else throws).
template <class T>
TypePtr getTypePtr() {
  return detail::TypeOf<std::decay_t<T>, false>::get();
}
template <class T>
TypePtr getTypePtrCopy() {
  return getTypePtr<T>();
}
/// As getTypePtr(), but int where a value of an enum-like type travels as an integer.
template <class T>
TypePtr getFakeTypePtr() {
  return detail::TypeOf<std::decay_t<T>, true>::get();
}
template <class T>
TypePtr getFakeTypePtrCopy() {
  return getFakeTypePtr<T>();
}

} // namespace c10

namespace c10::detail {
template <class T, bool fake>
TypePtr TypeOf<c10::intrusive_ptr<T>, fake>::get() {
  return getCustomClassType<c10::intrusive_ptr<T>>();
}
} // namespace c10::detail
