#pragma once

#include <c10/macros/Export.h>
#include <c10/util/ArrayRef.h>

#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace c10 {

#define C10_FORALL_TYPES(_) \
  _(AnyType)                \
  _(EnumType)               \
  _(AnyEnumType)            \
  _(TensorType)             \
  _(StorageType)            \
  _(TupleType)              \
  _(ListType)               \
  _(DictType)               \
  _(NumberType)             \
  _(FloatType)              \
  _(ComplexType)            \
  _(FutureType)             \
  _(AwaitType)              \
  _(RRefType)               \
  _(IntType)                \
  _(NoneType)               \
  _(StringType)             \
  _(GeneratorType)          \
  _(QuantizerType)          \
  _(BoolType)               \
  _(OptionalType)           \
  _(VarType)                \
  _(DeviceObjType)          \
  _(StreamObjType)          \
  _(FunctionType)           \
  _(ClassType)              \
  _(PyObjectType)           \
  _(CapsuleType)            \
  _(InterfaceType)          \
  _(QSchemeType)            \
  _(ScalarTypeType)         \
  _(LayoutType)             \
  _(MemoryFormatType)       \
  _(AnyListType)            \
  _(AnyTupleType)           \
  _(AnyClassType)           \
  _(SymIntType)             \
  _(SymFloatType)           \
  _(SymBoolType)            \
  _(UnionType)              \
  _(DynamicType)

enum class TypeKind {
#define C10_DEFINE_KIND(T) T,
  C10_FORALL_TYPES(C10_DEFINE_KIND)
#undef C10_DEFINE_KIND
};

/// The enumerator's name: "IntType", "ListType", ...
TORCH_API const char* typeKindToString(TypeKind kind);

struct Type;

// Types without parameters are static objects. A shared_ptr to one of them has no control block, so that it can be
// copied freely without reference counts; the same pointer class serves for both kinds.
template <class T>
using SingletonOrSharedTypePtr = std::shared_ptr<T>;
template <class T>
using SingletonTypePtr = std::shared_ptr<T>;
using TypePtr = std::shared_ptr<Type>;
using ConstTypePtr = std::shared_ptr<const Type>;

/// Gives a type its own spelling in annotation_str(); nullopt keeps the usual one.
using TypePrinter = std::function<std::optional<std::string>(const Type&)>;

namespace detail {
template <class T, class = void>
struct has_type_kind : std::false_type {};
template <class T>
struct has_type_kind<T, std::void_t<decltype(T::Kind)>> : std::true_type {};
} // namespace detail

/// A type of the schema language (and of TorchScript). Immutable but for class types, which gain methods.
struct TORCH_API Type {
  virtual ~Type();
  Type(const Type&) = delete;
  Type& operator=(const Type&) = delete;

  TypeKind kind() const {
    return kind_;
  }

  /// Structural equality.
  virtual bool equals(const Type& rhs) const = 0;
  virtual bool isSubtypeOfExt(const Type& rhs, std::ostream* why_not) const;
  bool isSubtypeOfExt(const TypePtr& rhs, std::ostream* why_not) const {
    return isSubtypeOfExt(*rhs, why_not);
  }
  bool isSubtypeOf(const Type& rhs) const {
    return isSubtypeOfExt(rhs, nullptr);
  }
  bool isSubtypeOf(const TypePtr& rhs) const {
    return isSubtypeOfExt(*rhs, nullptr);
  }

  /// Spelling in a schema: "Tensor?", "int[]", "Dict(str, Tensor)".
  virtual std::string str() const = 0;
  /// Spelling as a Python annotation: "Optional[Tensor]", "List[int]".
  std::string annotation_str(const TypePrinter& printer) const;
  std::string annotation_str() const {
    return annotation_str(nullptr);
  }
  /// Spelling for messages; tells more than str() where that would mislead.
  virtual std::string repr_str() const;

  virtual ArrayRef<TypePtr> containedTypes() const {
    return {};
  }
  const TypePtr& containedType(size_t i) const {
    return containedTypes()[i];
  }
  size_t containedTypeSize() const {
    return containedTypes().size();
  }
  /// True if a type variable (`t`) occurs anywhere inside.
  virtual bool hasFreeVariables() const;
  /// The same type constructor applied to other contained types.
  TypePtr withContained(std::vector<TypePtr> contained) const;

  bool isUnionType() const {
    return kind_ == TypeKind::UnionType;
  }
  virtual bool is_module() const {
    return false;
  }

  /// Owning (or, for singletons, static) pointer to this object.
  virtual TypePtr ptr() const = 0;

  /// Pointer to the derived type, or nullptr when this is another kind.
  template <class T>
  T* castRaw() {
    return const_cast<T*>(static_cast<const Type*>(this)->castRaw<T>());
  }
  template <class T>
  const T* castRaw() const {
    if constexpr (detail::has_type_kind<T>::value) {
      return kind_ == T::Kind ? static_cast<const T*>(this) : nullptr;
    } else {
      return dynamic_cast<const T*>(this);
    }
  }
  template <class T>
  std::shared_ptr<T> cast() const {
    const T* raw = castRaw<T>();
    return raw ? std::shared_ptr<T>(ptr(), const_cast<T*>(raw)) : nullptr;
  }
  /// As cast(), but throws when this is another kind.
  template <class T>
  std::shared_ptr<T> expect() const {
    expectRef<T>();
    return cast<T>();
  }
  template <class T>
  const T& expectRef() const {
    const T* raw = castRaw<T>();
    if (!raw) {
      reportCastError(typeid(T).name());
    }
    return *raw;
  }
  template <class T>
  T& expectRef() {
    return const_cast<T&>(static_cast<const Type*>(this)->expectRef<T>());
  }

  /// A type of this class with other contained types; throws for classes that contain none.
  virtual TypePtr createWithContained(std::vector<TypePtr> contained) const;

 protected:
  explicit Type(TypeKind kind) : kind_(kind) {}
  virtual std::string annotation_str_impl(const TypePrinter& printer) const;

 private:
  [[noreturn]] void reportCastError(const char* wanted) const;

  TypeKind kind_;
};

/// Base of each class of types: a pointer to it can be compared with one to any other class, equal if the object is the
/// same. (Without it a std::shared_ptr compares only with those that it converts to or from.)
template <class Self>
struct ComparablePtr {
  template <class Other>
  friend bool operator==(const std::shared_ptr<Self>& a, const std::shared_ptr<Other>& b) {
    return static_cast<const Type*>(a.get()) == static_cast<const Type*>(b.get());
  }
  template <class Other>
  friend bool operator!=(const std::shared_ptr<Self>& a, const std::shared_ptr<Other>& b) {
    return !(a == b);
  }
};

/// Base of types that live on the heap.
struct TORCH_API SharedType : Type, std::enable_shared_from_this<SharedType> {
  TypePtr ptr() const override;

 protected:
  using Type::Type;
};

inline bool operator==(const Type& a, const Type& b) {
  return a.equals(b);
}
inline bool operator!=(const Type& a, const Type& b) {
  return !a.equals(b);
}
TORCH_API std::ostream& operator<<(std::ostream& out, const Type& t);

} // namespace c10
