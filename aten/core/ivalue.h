#pragma once

#include <c10/util/SwapValues.h>
#include <aten/core/Dict.h>
#include <aten/core/Generator.h>
#include <aten/core/List.h>
#include <aten/core/Tensor.h>
#include <aten/core/jit_type_base.h>
#include <aten/core/qualified_name.h>
#include <c10/core/Device.h>
#include <c10/core/Layout.h>
#include <c10/core/MemoryFormat.h>
#include <c10/core/QScheme.h>
#include <c10/core/Scalar.h>
#include <c10/core/ScalarType.h>
#include <c10/core/Storage.h>
#include <c10/core/Stream.h>
#include <c10/core/SymBool.h>
#include <c10/core/SymFloat.h>
#include <c10/core/SymInt.h>
#include <c10/core/SymIntArrayRef.h>
#include <c10/util/DimVector.h>
#include <c10/util/MaybeOwned.h>
#include <c10/util/OptionalArrayRef.h>
#include <c10/util/complex.h>
#include <c10/util/intrusive_ptr.h>

#include <array>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace torch {
/// Base of C++ classes whose objects may be held by an IValue and bound with torch::class_.
class TORCH_API CustomClassHolder : public c10::intrusive_ptr_target {};
namespace jit {
struct CompilationUnit;
struct Function;
struct Module;
using c10::IValue;
} // namespace jit
} // namespace torch

namespace c10 {

using torch::CustomClassHolder;
struct ClassType;
struct EnumType;
struct StrongTypePtr;

namespace ivalue {
struct Tuple;
struct ConstantString;
struct Object;
struct EnumHolder;
struct Future;
struct Await;
struct ComplexHolder;
struct StreamData3Holder;
} // namespace ivalue

namespace detail {
/// Specialised for every C++ type that an IValue can be read as: `static T get(const IValue&)`, `get(IValue&&)`.
template <class T, class Enable = void>
struct IValueTo;
template <class T>
struct is_custom_class_ptr : std::false_type {};
template <class T>
struct is_custom_class_ptr<intrusive_ptr<T>>
    : std::bool_constant<std::is_base_of_v<CustomClassHolder, T> && !std::is_same_v<CustomClassHolder, T>> {};
template <class T>
struct is_std_tuple : std::false_type {};
template <class... Ts>
struct is_std_tuple<std::tuple<Ts...>> : std::true_type {};
template <class T>
inline constexpr bool is_plain_integer_v =
    std::is_integral_v<T> && !std::is_same_v<T, bool> && !std::is_same_v<T, char>;
// What to<T>() gives on a const IValue: a reference where the value holds a T, else a copy.
template <class T>
struct ConstRefReturn {
  using type = T;
};
template <>
struct ConstRefReturn<at::Tensor> {
  using type = const at::Tensor&;
};
template <>
struct ConstRefReturn<std::string> {
  using type = const std::string&;
};
} // namespace detail

#define TORCH_FORALL_TAGS(_) \
  _(None)                    \
  _(Tensor)                  \
  _(Storage)                 \
  _(Double)                  \
  _(ComplexDouble)           \
  _(Int)                     \
  _(UInt)                    \
  _(SymInt)                  \
  _(SymFloat)                \
  _(SymBool)                 \
  _(Bool)                    \
  _(Tuple)                   \
  _(String)                  \
  _(GenericList)             \
  _(GenericDict)             \
  _(Device)                  \
  _(Stream)                  \
  _(Object)                  \
  _(Uninitialized)           \
  _(Capsule)                 \
  _(Generator)               \
  _(Enum)                    \
  _(Future)                  \
  _(Await)

/// A value of any type of the schema language, 16 bytes: a tag and a payload that is either the value itself or a
/// counted reference. The isX() functions tell what it holds; toX() gives it and throws c10::TypeError for another
/// type.
struct TORCH_API IValue final {
  enum class Tag : uint32_t {
#define C10_DEFINE_TAG(x) x,
    TORCH_FORALL_TAGS(C10_DEFINE_TAG)
#undef C10_DEFINE_TAG
  };

  IValue() noexcept : tag_(Tag::None) {
    payload_.u.as_int = 0;
  }
  IValue(const IValue& rhs) : IValue(rhs, CopyBits()) {
    if (holds_counted_pointer() && payload_.u.as_intrusive_ptr) {
      c10::raw::intrusive_ptr::incref(payload_.u.as_intrusive_ptr);
    }
  }
  IValue(IValue&& rhs) noexcept : tag_(rhs.tag_) {
    take_payload(std::move(rhs));
  }
  ~IValue() {
    destroy();
  }
  IValue& operator=(IValue&& rhs) & noexcept {
    if (&rhs == this) {
      return *this;
    }
    destroy();
    tag_ = rhs.tag_;
    take_payload(std::move(rhs));
    return *this;
  }
  IValue& operator=(const IValue& rhs) & {
    *this = IValue(rhs);
    return *this;
  }
  void swap(IValue& rhs) noexcept {
    detail::swap_values(*this, rhs);
  }

  // --- None, numbers, strings
  /* implicit */ IValue(std::nullopt_t) : IValue() {}
  bool isNone() const {
    return tag_ == Tag::None;
  }
  std::string toNone() const;
  /// A value that may only be assigned to or destroyed.
  static IValue uninitialized();

  /* implicit */ IValue(double v) noexcept : tag_(Tag::Double) {
    payload_.u.as_double = v;
  }
  bool isDouble() const {
    return tag_ == Tag::Double;
  }
  double toDouble() const {
    if (C10_LIKELY(isDouble())) {
      return payload_.u.as_double;
    }
    if (tag_ == Tag::SymFloat) {
      return toSymFloat().guard_float(__FILE__, __LINE__);
    }
    wrongType("Double");
  }

  /* implicit */ IValue(int64_t v) noexcept : tag_(Tag::Int) {
    payload_.u.as_int = v;
  }
  /* implicit */ IValue(int32_t v) noexcept : IValue(static_cast<int64_t>(v)) {}
  template <
      class T,
      class =
          std::enable_if_t<detail::is_plain_integer_v<T> && !std::is_same_v<T, int64_t> && !std::is_same_v<T, int32_t>>>
  /* implicit */ IValue(T v) noexcept : IValue(static_cast<int64_t>(v)) {
    // Only unsigned values that int64 cannot hold keep a tag of their own.
    if constexpr (std::is_unsigned_v<T> && sizeof(T) == 8) {
      if (v > static_cast<uint64_t>(INT64_MAX)) {
        tag_ = Tag::UInt;
      }
    }
  }
  bool isInt() const {
    return tag_ == Tag::Int;
  }
  int64_t toInt() const {
    if (C10_LIKELY(isInt())) {
      return payload_.u.as_int;
    }
    if (tag_ == Tag::SymInt) {
      return toSymInt().guard_int(__FILE__, __LINE__);
    }
    wrongType("Int");
  }
  bool isUnsigned() const {
    return tag_ == Tag::UInt || (tag_ == Tag::Int && payload_.u.as_int >= 0);
  }
  uint64_t toUInt() const {
    if (isUnsigned()) {
      return static_cast<uint64_t>(payload_.u.as_int);
    }
    wrongType("UInt");
  }

  /* implicit */ IValue(bool v) noexcept : tag_(Tag::Bool) {
    payload_.u.as_int = 0;
    payload_.u.as_bool = v;
  }
  bool isBool() const {
    return tag_ == Tag::Bool;
  }
  bool toBool() const {
    if (C10_LIKELY(isBool())) {
      return payload_.u.as_bool;
    }
    if (tag_ == Tag::SymBool) {
      return toSymBool().guard_bool(__FILE__, __LINE__);
    }
    wrongType("Bool");
  }

  template <class T>
  /* implicit */ IValue(c10::complex<T> c);
  bool isComplexDouble() const {
    return tag_ == Tag::ComplexDouble;
  }
  c10::complex<double> toComplexDouble() const;

  /* implicit */ IValue(const at::Scalar& s);
  bool isScalar() const {
    return tag_ == Tag::Int || tag_ == Tag::Double || tag_ == Tag::ComplexDouble || tag_ == Tag::Bool ||
        tag_ == Tag::SymInt || tag_ == Tag::SymFloat || tag_ == Tag::SymBool || tag_ == Tag::UInt;
  }
  at::Scalar toScalar() const;

  /* implicit */ IValue(const c10::SymInt& i);
  bool isSymInt() const {
    return tag_ == Tag::SymInt;
  }
  /// Also takes plain integers.
  c10::SymInt toSymInt() const;
  /* implicit */ IValue(const c10::SymFloat& i);
  bool isSymFloat() const {
    return tag_ == Tag::SymFloat;
  }
  c10::SymFloat toSymFloat() const;
  /* implicit */ IValue(const c10::SymBool& i);
  bool isSymBool() const {
    return tag_ == Tag::SymBool;
  }
  c10::SymBool toSymBool() const;

  /* implicit */ IValue(std::string v);
  /* implicit */ IValue(const char* v) : IValue(std::string(v)) {}
  /* implicit */ IValue(std::string_view v) : IValue(std::string(v)) {}
  /* implicit */ IValue(intrusive_ptr<ivalue::ConstantString> v);
  bool isString() const {
    return tag_ == Tag::String;
  }
  intrusive_ptr<ivalue::ConstantString> toString() &&;
  intrusive_ptr<ivalue::ConstantString> toString() const&;
  const std::string& toStringRef() const;
  std::optional<std::reference_wrapper<const std::string>> toOptionalStringRef() const;
  std::string_view toStringView() const {
    return toStringRef();
  }

  // --- tensors, storages
  /* implicit */ IValue(at::Tensor t) : tag_(Tag::Tensor) {
    new (&payload_.as_tensor) at::Tensor(std::move(t));
  }
  bool isTensor() const {
    return tag_ == Tag::Tensor;
  }
  at::Tensor toTensor() && {
    if (C10_UNLIKELY(!isTensor())) {
      wrongType("Tensor");
    }
    at::Tensor out(std::move(payload_.as_tensor));
    payload_.as_tensor.~Tensor();
    clear_to_none();
    return out;
  }
  at::Tensor& toTensor() & {
    if (C10_UNLIKELY(!isTensor())) {
      wrongType("Tensor");
    }
    return payload_.as_tensor;
  }
  const at::Tensor& toTensor() const& {
    if (C10_UNLIKELY(!isTensor())) {
      wrongType("Tensor");
    }
    return payload_.as_tensor;
  }
  /// Only after isTensor().
  at::TensorImpl* unsafeToTensorImpl() const {
    return payload_.as_tensor.unsafeGetTensorImpl();
  }

  /* implicit */ IValue(c10::Storage s);
  bool isStorage() const {
    return tag_ == Tag::Storage;
  }
  c10::Storage toStorage() &&;
  c10::Storage toStorage() const&;
  /// Whether both share a tensor storage or are the same reference.
  bool isAliasOf(const IValue& rhs) const;

  // --- device-like values; enumerations travel as integers
  /* implicit */ IValue(c10::Device d) : tag_(Tag::Device) {
    payload_.u.as_int = 0;
    payload_.u.as_device = {d.type(), d.index()};
  }
  bool isDevice() const {
    return tag_ == Tag::Device;
  }
  /// Also takes a string such as "cuda:1".
  c10::Device toDevice() const;
  /* implicit */ IValue(c10::Stream s);
  bool isStream() const {
    return tag_ == Tag::Stream;
  }
  c10::Stream toStream() const;
  /* implicit */ IValue(at::Generator g);
  bool isGenerator() const {
    return tag_ == Tag::Generator;
  }
  at::Generator toGenerator() &&;
  at::Generator toGenerator() const&;
  /* implicit */ IValue(c10::ScalarType t) : IValue(static_cast<int64_t>(t)) {}
  c10::ScalarType toScalarType() const {
    return static_cast<c10::ScalarType>(toInt());
  }
  /* implicit */ IValue(c10::Layout l) : IValue(static_cast<int64_t>(l)) {}
  c10::Layout toLayout() const {
    return static_cast<c10::Layout>(toInt());
  }
  /* implicit */ IValue(c10::MemoryFormat m) : IValue(static_cast<int64_t>(m)) {}
  c10::MemoryFormat toMemoryFormat() const {
    return static_cast<c10::MemoryFormat>(toInt());
  }
  /* implicit */ IValue(c10::QScheme q) : IValue(static_cast<int64_t>(q)) {}
  c10::QScheme toQScheme() const {
    return static_cast<c10::QScheme>(toInt());
  }

  // --- tuples
  /* implicit */ IValue(intrusive_ptr<ivalue::Tuple> v);
  template <class... Args>
  /* implicit */ IValue(std::tuple<Args...> t);
  template <class A, class B>
  /* implicit */ IValue(std::pair<A, B> p) : IValue(std::tuple<A, B>(std::move(p.first), std::move(p.second))) {}
  bool isTuple() const {
    return tag_ == Tag::Tuple;
  }
  intrusive_ptr<ivalue::Tuple> toTuple() &&;
  intrusive_ptr<ivalue::Tuple> toTuple() const&;
  ivalue::Tuple& toTupleRef() const;

  // --- lists
  template <class T>
  /* implicit */ IValue(c10::List<T> v);
  /* implicit */ IValue(c10::List<IValue> v);
  template <class T>
  /* implicit */ IValue(at::ArrayRef<T> v);
  template <class T>
  /* implicit */ IValue(const std::vector<T>& v);
  template <class T>
  /* implicit */ IValue(std::vector<T>&& v);
  template <class T, size_t N>
  /* implicit */ IValue(std::array<T, N> v);
  template <class T>
  /* implicit */ IValue(const IListRef<T>& v);
  template <class T>
  /* implicit */ IValue(const OptionalArrayRef<T>& v);
  bool isList() const {
    return tag_ == Tag::GenericList;
  }
  bool isIntList() const {
    return isListOf(TypeKind::IntType);
  }
  bool isSymIntList() const {
    return isListOf(TypeKind::SymIntType);
  }
  bool isDoubleList() const {
    return isListOf(TypeKind::FloatType);
  }
  bool isComplexDoubleList() const {
    return isListOf(TypeKind::ComplexType);
  }
  bool isBoolList() const {
    return isListOf(TypeKind::BoolType);
  }
  bool isTensorList() const {
    return isListOf(TypeKind::TensorType);
  }
  bool isOptionalTensorList() const;
  c10::List<int64_t> toIntList() &&;
  c10::List<int64_t> toIntList() const&;
  std::vector<int64_t> toIntVector() const;
  c10::DimVector toDimVector() const;
  c10::List<c10::SymInt> toSymIntList() const;
  std::vector<c10::SymInt> toSymIntVector() const;
  c10::List<double> toDoubleList() &&;
  c10::List<double> toDoubleList() const&;
  std::vector<double> toDoubleVector() const;
  c10::List<c10::complex<double>> toComplexDoubleList() &&;
  c10::List<c10::complex<double>> toComplexDoubleList() const&;
  std::vector<c10::complex<double>> toComplexDoubleVector() const;
  c10::List<bool> toBoolList() &&;
  c10::List<bool> toBoolList() const&;
  c10::List<at::Tensor> toTensorList() &&;
  c10::List<at::Tensor> toTensorList() const&;
  std::vector<at::Tensor> toTensorVector() const;
  c10::List<std::optional<at::Tensor>> toOptionalTensorList() &&;
  c10::List<std::optional<at::Tensor>> toOptionalTensorList() const&;
  std::vector<std::optional<at::Tensor>> toOptionalTensorVector() const;
  c10::List<IValue> toList() &&;
  c10::List<IValue> toList() const&;
  c10::ArrayRef<IValue> toListRef() const;

  // --- dicts
  /* implicit */ IValue(c10::Dict<IValue, IValue> v);
  template <class K, class V>
  /* implicit */ IValue(c10::Dict<K, V> v);
  template <class K, class V>
  [[deprecated("use c10::Dict<K, V>")]] /* implicit */ IValue(std::unordered_map<K, V> v);
  template <class K, class V>
  /* implicit */ IValue(std::map<K, V> v);
  bool isGenericDict() const {
    return tag_ == Tag::GenericDict;
  }
  c10::Dict<IValue, IValue> toGenericDict() &&;
  c10::Dict<IValue, IValue> toGenericDict() const&;

  // --- objects, custom classes, enumerations
  /* implicit */ IValue(intrusive_ptr<ivalue::Object> v);
  bool isObject() const {
    return tag_ == Tag::Object;
  }
  intrusive_ptr<ivalue::Object> toObject() &&;
  intrusive_ptr<ivalue::Object> toObject() const&;
  ivalue::Object& toObjectRef() const;
  bool isModule() const;
  /// A handle of the module; <torch/script.h> has the class. Throws if it is no object of a module's class.
  torch::jit::Module toModule() const;
  /// From an object of a class registered with torch::class_.
  template <class T, class = std::enable_if_t<detail::is_custom_class_ptr<intrusive_ptr<T>>::value>>
  /* implicit */ IValue(intrusive_ptr<T> custom_class);
  bool isCustomClass() const;
  /// Throws if the value is not an object of exactly this registered class.
  template <class T>
  intrusive_ptr<T> toCustomClass() &&;
  template <class T>
  intrusive_ptr<T> toCustomClass() const&;
  static IValue make_capsule(intrusive_ptr<torch::CustomClassHolder> blob);
  bool isCapsule() const {
    return tag_ == Tag::Capsule;
  }
  intrusive_ptr<torch::CustomClassHolder> toCapsule() &&;
  intrusive_ptr<torch::CustomClassHolder> toCapsule() const&;
  /* implicit */ IValue(intrusive_ptr<ivalue::EnumHolder> v);
  bool isEnum() const {
    return tag_ == Tag::Enum;
  }
  intrusive_ptr<ivalue::EnumHolder> toEnumHolder() &&;
  intrusive_ptr<ivalue::EnumHolder> toEnumHolder() const&;

  // --- futures
  /* implicit */ IValue(intrusive_ptr<ivalue::Future> v);
  bool isFuture() const {
    return tag_ == Tag::Future;
  }
  intrusive_ptr<ivalue::Future> toFuture() &&;
  intrusive_ptr<ivalue::Future> toFuture() const&;

  // --- calls put off
  /* implicit */ IValue(intrusive_ptr<ivalue::Await> v);
  bool isAwait() const {
    return tag_ == Tag::Await;
  }
  intrusive_ptr<ivalue::Await> toAwait() &&;
  intrusive_ptr<ivalue::Await> toAwait() const&;

  // --- optionals
  template <class T>
  /* implicit */ IValue(std::optional<T> v);
  template <class T>
  std::optional<T> toOptional() &&;
  template <class T>
  std::optional<T> toOptional() const&;

  // --- any
  template <class T>
  T to() && {
    return detail::IValueTo<T>::get(std::move(*this));
  }
  template <class T>
  typename detail::ConstRefReturn<T>::type to() const& {
    return detail::IValueTo<T>::get(*this);
  }
  template <class T>
  typename detail::ConstRefReturn<T>::type to() & {
    return detail::IValueTo<T>::get(static_cast<const IValue&>(*this));
  }
  Tag tag() const {
    return tag_;
  }
  /// Name of the tag: "Int", "GenericList", ...
  std::string tagKind() const;
  /// The type of the value itself, as precise as it can be told.
  TypePtr type() const;

  /// Hash of a hashable value (numbers, strings, devices, tuples of them; tensors by identity); throws for the others.
  static size_t hash(const IValue& iv);
  IValue hash() const {
    return static_cast<int64_t>(IValue::hash(*this));
  }
  /// Values of one type are compared, containers deeply, tensors elementwise (the result is then a tensor). Values of
  /// two types are different: 1 and 1.0 are not equal.
  IValue equals(const IValue& rhs) const;
  /// Deep equality; tensors are equal when aten::equal says so.
  TORCH_API friend bool operator==(const IValue& lhs, const IValue& rhs);
  TORCH_API friend bool operator!=(const IValue& lhs, const IValue& rhs);
  /// Python's `is`.
  bool is(const IValue& rhs) const;
  /// As is(), but a Double is identical to no other value.
  bool isSameIdentity(const IValue& rhs) const;
  TORCH_API friend std::ostream& operator<<(std::ostream& out, const IValue& v);
  /// Prints an expression that makes the value: strings are quoted, empty containers carry their types. `formatter` may
  /// print a value itself and return true. Throws for what has no such expression (tensors, objects).
  std::ostream& repr(std::ostream& stream, std::function<bool(std::ostream&, const IValue& v)> formatter) const;

  bool isPtrType() const {
    return (isTensor() && payload_.as_tensor.defined()) || holds_counted_pointer();
  }
  /// The counted object. Throws if there is none.
  const void* internalToPointer() const;
  size_t use_count() const noexcept;

  // Sets and maps of values: equal are those that share memory (Aliased), or that are the same (Identity).
  struct TORCH_API HashAliasedIValue {
    size_t operator()(const IValue& v) const;
  };
  struct TORCH_API CompAliasedIValues {
    bool operator()(const IValue& lhs, const IValue& rhs) const {
      return lhs.isAliasOf(rhs);
    }
  };
  struct TORCH_API HashIdentityIValue {
    size_t operator()(const IValue& v) const;
  };
  struct TORCH_API CompIdentityIValues {
    bool operator()(const IValue& lhs, const IValue& rhs) const {
      return lhs.is(rhs);
    }
  };
  using HashAliasedIValues = std::unordered_set<IValue, HashAliasedIValue, CompAliasedIValues>;
  using HashAliasedIValueMap = std::unordered_map<IValue, IValue, HashAliasedIValue, CompAliasedIValues>;
  using HashIdentityIValues = std::unordered_set<IValue, HashIdentityIValue, CompIdentityIValues>;
  using HashIdentityIValueMap = std::unordered_map<IValue, IValue, HashIdentityIValue, CompIdentityIValues>;

  /// Whether some value inside this one shares memory with one inside `rhs`.
  bool overlaps(const IValue& rhs) const;
  /// Adds this value and all inside that are counted. Throws for values that cannot be looked into (futures, capsules).
  void getSubValues(HashAliasedIValues& subvalues) const;
  /// Calls the visitor with this value and all inside; where it returns true, what is inside is left out.
  void visit(const std::function<bool(const IValue&)>& visitor) const;

  /// A copy that shares nothing mutable, tensors on `device` if it is given. Objects of bound classes are copied by
  /// what def_pickle() was given.
  IValue deepcopy(std::optional<c10::Device> device = std::nullopt) const;
  /// `memo` tells what was copied before; values in it are not copied again.
  IValue deepcopy(HashIdentityIValueMap& memo, std::optional<c10::Device> device = std::nullopt) const;

 private:
  friend struct WeakIValue;
  union TriviallyCopyablePayload {
    int64_t as_int;
    double as_double;
    bool as_bool;
    c10::intrusive_ptr_target* as_intrusive_ptr;
    struct {
      c10::DeviceType type;
      c10::DeviceIndex index;
    } as_device;
  };
  union Payload {
    Payload() : u() {}
    ~Payload() {}
    TriviallyCopyablePayload u;
    at::Tensor as_tensor;
  };
  struct CopyBits {};

  IValue(const IValue& rhs, CopyBits) : tag_(rhs.tag_) {
    if (isTensor()) {
      new (&payload_.as_tensor) at::Tensor(rhs.payload_.as_tensor);
    } else {
      payload_.u = rhs.payload_.u;
    }
  }
  // Takes over one reference.
  IValue(Tag tag, c10::intrusive_ptr_target* owned) noexcept : tag_(tag) {
    payload_.u.as_intrusive_ptr = owned;
  }

#define C10_TAG_BIT(x) (1u << static_cast<uint32_t>(Tag::x))
  static constexpr uint32_t kCountedTags = C10_TAG_BIT(Storage) | C10_TAG_BIT(ComplexDouble) | C10_TAG_BIT(SymInt) |
      C10_TAG_BIT(SymFloat) | C10_TAG_BIT(SymBool) | C10_TAG_BIT(Tuple) | C10_TAG_BIT(String) |
      C10_TAG_BIT(GenericList) | C10_TAG_BIT(GenericDict) | C10_TAG_BIT(Stream) | C10_TAG_BIT(Object) |
      C10_TAG_BIT(Capsule) | C10_TAG_BIT(Generator) | C10_TAG_BIT(Enum) | C10_TAG_BIT(Future) | C10_TAG_BIT(Await);
#undef C10_TAG_BIT
  bool holds_counted_pointer() const {
    return (kCountedTags >> static_cast<uint32_t>(tag_)) & 1;
  }
  void destroy() {
    if (isTensor()) {
      payload_.as_tensor.~Tensor();
    } else if (holds_counted_pointer() && payload_.u.as_intrusive_ptr) {
      c10::raw::intrusive_ptr::decref(payload_.u.as_intrusive_ptr);
    }
  }
  void take_payload(IValue&& rhs) noexcept {
    if (rhs.isTensor()) {
      new (&payload_.as_tensor) at::Tensor(std::move(rhs.payload_.as_tensor));
      rhs.payload_.as_tensor.~Tensor();
    } else {
      payload_.u = rhs.payload_.u;
    }
    rhs.clear_to_none();
  }
  void clear_to_none() noexcept {
    payload_.u.as_int = 0;
    tag_ = Tag::None;
  }
  bool isListOf(TypeKind element) const;
  [[noreturn]] void wrongType(const char* expected) const;
  void expect(Tag tag, const char* name) const {
    if (C10_UNLIKELY(tag_ != tag)) {
      wrongType(name);
    }
  }

  /// The counted payload as a typed pointer: shared, or moved out.
  template <class T, class Null = c10::detail::intrusive_target_default_null_type<T>>
  intrusive_ptr<T, Null> share_pointer() const;
  template <class T, class Null = c10::detail::intrusive_target_default_null_type<T>>
  intrusive_ptr<T, Null> move_pointer();
  static IValue from_object(const std::shared_ptr<ClassType>& type, intrusive_ptr<torch::CustomClassHolder> object);
  intrusive_ptr<torch::CustomClassHolder> custom_class_object(const std::shared_ptr<ClassType>& expected) const;

  friend bool fastEqualsForContainer(const IValue& lhs, const IValue& rhs);

  Payload payload_;
  Tag tag_;
};

static_assert(sizeof(IValue) == 16, "stacks of IValues are hot: keep it two words");

/// Python's == for container elements: identical values are equal without comparing.
TORCH_API bool fastEqualsForContainer(const IValue& lhs, const IValue& rhs);

template <>
struct MaybeOwnedTraits<IValue> : MaybeOwnedTraitsGenericImpl<IValue> {};

} // namespace c10

template <>
struct std::hash<c10::IValue> {
  size_t operator()(const c10::IValue& v) const {
    return c10::IValue::hash(v);
  }
};

#include <aten/core/ivalue_inl.h>
