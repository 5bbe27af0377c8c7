#pragma once

#include <c10/core/ScalarType.h>
#include <c10/macros/Macros.h>
#include <c10/util/Exception.h>
#include <c10/util/TypeIndex.h>
#include <c10/util/string_view.h>

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <new>
#include <string>
#include <string_view>
#include <type_traits>

// Run-time descriptions of element types. A TypeMeta is an index of 16 bits: the scalar types come first, with their
// ScalarType as index, so that going from one to the other costs nothing; other types get the next free index on first
// use.

namespace caffe2 {

/// A number that names a C++ type in this process.
class C10_API TypeIdentifier final {
 public:
  constexpr TypeIdentifier() = default;
  constexpr explicit TypeIdentifier(c10::util::type_index index) : id_(index) {}

  template <typename T>
  static constexpr TypeIdentifier Get() noexcept {
    return TypeIdentifier(c10::util::get_type_index<T>());
  }
  static constexpr TypeIdentifier uninitialized() {
    return TypeIdentifier();
  }
  constexpr uint64_t underlyingId() const {
    return id_.underlyingId();
  }
  friend constexpr bool operator==(TypeIdentifier a, TypeIdentifier b) noexcept {
    return a.id_ == b.id_;
  }
  friend constexpr bool operator!=(TypeIdentifier a, TypeIdentifier b) noexcept {
    return a.id_ != b.id_;
  }
  friend constexpr bool operator<(TypeIdentifier a, TypeIdentifier b) noexcept {
    return a.id_ < b.id_;
  }

 private:
  c10::util::type_index id_;
};

C10_API std::ostream& operator<<(std::ostream& stream, TypeIdentifier type_id);

namespace detail {

/// What one knows about a type: how to make, copy and destroy arrays of it. A null function means that bytes will do:
/// numbers and pointers have none, every class has all of them.
struct TypeMetaData final {
  using New = void*();
  using PlacementNew = void(void*, size_t);
  using Copy = void(const void*, void*, size_t);
  using PlacementDelete = void(void*, size_t);
  using Delete = void(void*);

  size_t itemsize_ = 0;
  New* new_ = nullptr;
  PlacementNew* placementNew_ = nullptr;
  Copy* copy_ = nullptr;
  PlacementDelete* placementDelete_ = nullptr;
  Delete* delete_ = nullptr;
  TypeIdentifier id_;
  std::string_view name_ = "nullptr (uninitialized)";
};

[[noreturn]] C10_API void _ThrowRuntimeTypeLogicError(const std::string& msg);

/// Stands for `new T` where T cannot be made without arguments.
template <typename T>
inline void* _NewNotDefault() {
  _ThrowRuntimeTypeLogicError(
      "Type " + std::string(c10::util::get_fully_qualified_type_name<T>()) + " is not default-constructible.");
}
template <typename T>
inline void _PlacementNewNotDefault(void* /*ptr*/, size_t /*n*/) {
  _NewNotDefault<T>();
}
/// Stands for the copy of a type that cannot be assigned.
template <typename T>
inline void _CopyNotAllowed(const void* /*src*/, void* /*dst*/, size_t /*n*/) {
  _ThrowRuntimeTypeLogicError(
      "Type " + std::string(c10::util::get_fully_qualified_type_name<T>()) + " does not allow assignment.");
}

template <typename T>
constexpr TypeMetaData make_type_meta_data(std::string_view name) {
  TypeMetaData data;
  data.itemsize_ = sizeof(T);
  constexpr bool bytes_will_do = std::is_fundamental_v<T> || std::is_pointer_v<T>;
  if constexpr (std::is_default_constructible_v<T>) {
    data.new_ = []() -> void* { return new T; };
  } else {
    data.new_ = &_NewNotDefault<T>;
  }
  if constexpr (!bytes_will_do) {
    if constexpr (std::is_default_constructible_v<T>) {
      data.placementNew_ = [](void* memory, size_t n) {
        for (size_t i = 0; i < n; ++i) {
          ::new (static_cast<void*>(static_cast<T*>(memory) + i)) T;
        }
      };
    } else {
      data.placementNew_ = &_PlacementNewNotDefault<T>;
    }
    if constexpr (std::is_copy_assignable_v<T>) {
      data.copy_ = [](const void* from, void* to, size_t n) {
        for (size_t i = 0; i < n; ++i) {
          static_cast<T*>(to)[i] = static_cast<const T*>(from)[i];
        }
      };
    } else {
      data.copy_ = &_CopyNotAllowed<T>;
    }
    data.placementDelete_ = [](void* memory, size_t n) {
      for (size_t i = 0; i < n; ++i) {
        static_cast<T*>(memory)[i].~T();
      }
    };
  }
  data.delete_ = [](void* memory) { delete static_cast<T*>(memory); };
  data.id_ = TypeIdentifier::Get<T>();
  data.name_ = name;
  return data;
}

/// The index of a type that is no scalar type; adds it when it is new. Throws when the table is full.
C10_API uint16_t register_type(const TypeMetaData& data);
C10_API const TypeMetaData& type_meta_data(uint16_t index);
[[noreturn]] C10_API void not_a_scalar_type(uint16_t index);

template <typename T, class = void>
struct IsScalarTypeCpp : std::false_type {};
template <typename T>
struct IsScalarTypeCpp<T, std::void_t<decltype(c10::CppTypeToScalarType<T>::value)>> : std::true_type {};

/// Stands for "no type yet", at the index of ScalarType::Undefined.
struct _Uninitialized final {};

} // namespace detail

/// Describes an element type at run time; two bytes, passed by value.
class C10_API TypeMeta final {
 public:
  using New = detail::TypeMetaData::New;
  using PlacementNew = detail::TypeMetaData::PlacementNew;
  using Copy = detail::TypeMetaData::Copy;
  using PlacementDelete = detail::TypeMetaData::PlacementDelete;
  using Delete = detail::TypeMetaData::Delete;

  constexpr TypeMeta() noexcept = default;
  TypeMeta& operator=(c10::ScalarType scalar_type) noexcept {
    index_ = static_cast<uint16_t>(scalar_type);
    return *this;
  }
  TypeMeta(const TypeMeta&) noexcept = default;
  TypeMeta& operator=(const TypeMeta&) noexcept = default;

  TypeIdentifier id() const noexcept {
    return data().id_;
  }
  bool isScalarType() const noexcept {
    return index_ < c10::NumScalarTypes;
  }
  bool isScalarType(c10::ScalarType scalar_type) const noexcept {
    return index_ == static_cast<uint16_t>(scalar_type);
  }
  /// Bytes of one element; 0 when uninitialized.
  size_t itemsize() const noexcept {
    return C10_LIKELY(isScalarType()) ? c10::detail::kElementSizes[index_] : data().itemsize_;
  }
  New* newFn() const noexcept {
    return data().new_;
  }
  PlacementNew* placementNew() const noexcept {
    return data().placementNew_;
  }
  Copy* copy() const noexcept {
    return data().copy_;
  }
  PlacementDelete* placementDelete() const noexcept {
    return data().placementDelete_;
  }
  Delete* deleteFn() const noexcept {
    return data().delete_;
  }
  std::string_view name() const noexcept {
    return data().name_;
  }
  template <typename T>
  bool Match() const noexcept {
    return *this == Make<T>();
  }

  template <class T>
  static constexpr TypeIdentifier Id() noexcept {
    return TypeIdentifier::Get<T>();
  }
  template <class T>
  static constexpr std::string_view TypeName() noexcept {
    return c10::util::get_fully_qualified_type_name<T>();
  }
  template <class T>
  static constexpr size_t ItemSize() noexcept {
    return sizeof(T);
  }
  template <typename T>
  static TypeMeta Make() {
    if constexpr (std::is_same_v<T, detail::_Uninitialized>) {
      return TypeMeta();
    } else if constexpr (detail::IsScalarTypeCpp<T>::value) {
      return TypeMeta(static_cast<uint16_t>(c10::CppTypeToScalarType<T>::value));
    } else {
      static const uint16_t index = detail::register_type(detail::make_type_meta_data<T>(TypeName<T>()));
      return TypeMeta(index);
    }
  }

  static TypeMeta fromScalarType(c10::ScalarType scalar_type) {
    return TypeMeta(static_cast<uint16_t>(scalar_type));
  }
  /// Throws for types that are no ScalarType.
  c10::ScalarType toScalarType() const {
    if (C10_UNLIKELY(!isScalarType())) {
      detail::not_a_scalar_type(index_);
    }
    return static_cast<c10::ScalarType>(index_);
  }

  friend bool operator==(TypeMeta a, TypeMeta b) noexcept {
    return a.index_ == b.index_;
  }
  friend bool operator!=(TypeMeta a, TypeMeta b) noexcept {
    return a.index_ != b.index_;
  }

 private:
  explicit constexpr TypeMeta(uint16_t index) noexcept : index_(index) {}
  const detail::TypeMetaData& data() const {
    return detail::type_meta_data(index_);
  }

  uint16_t index_ = static_cast<uint16_t>(c10::ScalarType::Undefined);
};

C10_API std::ostream& operator<<(std::ostream& stream, TypeMeta type_meta);

} // namespace caffe2

// Types register themselves on first use; these remain for code that lists its types, with a semicolon behind or
// without.
#define CAFFE_KNOWN_TYPE(T) \
  [[maybe_unused]] static const auto C10_ANONYMOUS_VARIABLE(caffe_known_type_) = ::caffe2::TypeMeta::Make<T>();
#define CAFFE_KNOWN_TYPE_NOEXPORT(T) CAFFE_KNOWN_TYPE(T)
#define CAFFE_DEFINE_KNOWN_TYPE(T, ident) CAFFE_KNOWN_TYPE(T)
#define CAFFE_DECLARE_KNOWN_TYPE(T, ident) static_assert(sizeof(T) != 0)

namespace std {
template <>
struct hash<caffe2::TypeIdentifier> {
  size_t operator()(caffe2::TypeIdentifier id) const {
    return static_cast<size_t>(id.underlyingId());
  }
};
} // namespace std
