#pragma once

#include <c10/core/OptionalRef.h>
#include <c10/core/ScalarType.h>
#include <c10/core/SymBool.h>
#include <c10/core/SymFloat.h>
#include <c10/core/SymInt.h>
#include <c10/macros/Macros.h>
#include <c10/util/Exception.h>
#include <c10/util/TypeCast.h>
#include <c10/util/intrusive_ptr.h>

#include <cstdint>
#include <iosfwd>
#include <type_traits>
#include <utility>

namespace c10 {

/// A number given to an operator: of any scalar type, kept as bool, int64, uint64, double or complex<double>, or
/// symbolic.
class C10_API Scalar {
 public:
  Scalar() : Scalar(int64_t{0}) {}
  ~Scalar() {
    destroy();
  }

#define C10_IMPLICIT_CTOR_(type, name) \
  /* implicit */ Scalar(type value) {  \
    store(value);                      \
  }
  AT_FORALL_SCALAR_TYPES_AND3(Half, BFloat16, ComplexHalf, C10_IMPLICIT_CTOR_)
  AT_FORALL_COMPLEX_TYPES(C10_IMPLICIT_CTOR_)
  AT_FORALL_FLOAT8_TYPES(C10_IMPLICIT_CTOR_)
  C10_IMPLICIT_CTOR_(uint16_t, UInt16)
  C10_IMPLICIT_CTOR_(uint32_t, UInt32)
  C10_IMPLICIT_CTOR_(uint64_t, UInt64)
  C10_IMPLICIT_CTOR_(long long, LongLong)
  C10_IMPLICIT_CTOR_(unsigned long long, UnsignedLongLong)
#undef C10_IMPLICIT_CTOR_

  // Templates, so that pointers do not turn into bool on their way here.
  template <typename T, std::enable_if_t<std::is_same_v<T, bool>, bool>* = nullptr>
  /* implicit */ Scalar(T value) : tag(Tag::HAS_b) {
    v.i = value;
  }
  template <typename T, std::enable_if_t<std::is_same_v<T, SymBool>, bool>* = nullptr>
  /* implicit */ Scalar(T value) {
    store_symbolic(std::move(value));
  }
  /* implicit */ Scalar(SymInt value) {
    if (C10_LIKELY(!value.is_heap_allocated())) {
      store(value.as_int_unchecked());
    } else {
      store_symbolic(std::move(value));
    }
  }
  /* implicit */ Scalar(SymFloat value) {
    store_symbolic(std::move(value));
  }

  Scalar(const Scalar& other) : tag(other.tag), v(other.v) {
    if (C10_UNLIKELY(isSymbolic())) {
      raw::intrusive_ptr::incref(v.p);
    }
  }
  Scalar(Scalar&& other) noexcept : tag(other.tag), v(other.v) {
    other.forget();
  }
  C10_ALWAYS_INLINE Scalar& operator=(const Scalar& other) {
    if (C10_UNLIKELY(isSymbolic() || other.isSymbolic())) {
      return assign_symbolic(other);
    }
    tag = other.tag;
    v = other.v;
    return *this;
  }
  Scalar& operator=(Scalar&& other) noexcept {
    if (this != &other) {
      destroy();
      tag = other.tag;
      v = other.v;
      other.forget();
    }
    return *this;
  }

  // toDouble(), toLong(), toFloat(), toHalf(), toBool(), toComplexDouble(), ... Each throws std::runtime_error when
  // the value does not fit.
#define C10_ACCESSOR_(type, name) type to##name() const;
  AT_FORALL_SCALAR_TYPES_WITH_COMPLEX(C10_ACCESSOR_)
  C10_ACCESSOR_(uint16_t, UInt16)
  C10_ACCESSOR_(uint32_t, UInt32)
  C10_ACCESSOR_(uint64_t, UInt64)
#undef C10_ACCESSOR_

  SymInt toSymInt() const;
  SymFloat toSymFloat() const;
  SymBool toSymBool() const;

  /// The value as a T; throws std::runtime_error when it does not fit.
  template <typename T>
  T to() const = delete;
  const void* data_ptr() const {
    TORCH_INTERNAL_ASSERT(!isSymbolic());
    return static_cast<const void*>(&v);
  }

  bool isFloatingPoint() const {
    return tag == Tag::HAS_d || tag == Tag::HAS_sd;
  }
  /// Whether it is an integer; whether bool counts must be said.
  bool isIntegral(bool includeBool) const {
    return tag == Tag::HAS_i || tag == Tag::HAS_si || tag == Tag::HAS_u || (includeBool && isBoolean());
  }
  [[deprecated("say whether bool counts: isIntegral(includeBool)")]] bool isIntegral() const {
    return isIntegral(/*includeBool=*/false);
  }
  bool isComplex() const {
    return tag == Tag::HAS_z;
  }
  bool isBoolean() const {
    return tag == Tag::HAS_b || tag == Tag::HAS_sb;
  }
  bool isUnsigned() const {
    return tag == Tag::HAS_u || (tag == Tag::HAS_i && v.i >= 0);
  }
  bool isSymInt() const {
    return tag == Tag::HAS_si;
  }
  bool isSymFloat() const {
    return tag == Tag::HAS_sd;
  }
  bool isSymBool() const {
    return tag == Tag::HAS_sb;
  }
  bool isSymbolic() const {
    return tag >= Tag::HAS_sd;
  }

  /// Minus the value. Throws for bool.
  Scalar operator-() const;
  Scalar conj() const;
  Scalar log() const;

  /// Whether the value equals `num` exactly; a bool equals only bools.
  template <typename T, std::enable_if_t<!is_complex<T>::value && !std::is_same_v<T, bool>, int> = 0>
  bool equal(T num) const {
    switch (tag) {
      case Tag::HAS_z:
        return v.z.real() == static_cast<double>(num) && v.z.imag() == 0.0;
      case Tag::HAS_d:
        return v.d == static_cast<double>(num);
      case Tag::HAS_i:
        return !overflows<T>(v.i, /*strict_unsigned=*/true) && static_cast<T>(v.i) == num;
      case Tag::HAS_u:
        return !overflows<T>(v.u, /*strict_unsigned=*/true) && static_cast<T>(v.u) == num;
      case Tag::HAS_b:
        return false;
      default:
        return equal_symbolic(static_cast<double>(num));
    }
  }
  template <typename T, std::enable_if_t<is_complex<T>::value, int> = 0>
  bool equal(T num) const {
    if (isComplex()) {
      return v.z == static_cast<complex<double>>(num);
    }
    return static_cast<double>(num.imag()) == 0.0 && equal(static_cast<double>(num.real()));
  }
  bool equal(bool num) const {
    return isBoolean() && toBool() == num;
  }

  /// Double, Long, UInt64, ComplexDouble or Bool.
  ScalarType type() const {
    switch (tag) {
      case Tag::HAS_z:
        return ScalarType::ComplexDouble;
      case Tag::HAS_d:
      case Tag::HAS_sd:
        return ScalarType::Double;
      case Tag::HAS_u:
        return ScalarType::UInt64;
      case Tag::HAS_b:
      case Tag::HAS_sb:
        return ScalarType::Bool;
      default:
        return ScalarType::Long;
    }
  }

 private:
  enum class Tag : uint8_t { HAS_d, HAS_i, HAS_u, HAS_z, HAS_b, HAS_sd, HAS_si, HAS_sb };

  template <typename T>
  void store(T value) {
    if constexpr (is_complex<T>::value) {
      tag = Tag::HAS_z;
      v.z = convert<complex<double>, T>(value);
    } else if constexpr (std::is_integral_v<T>) {
      if constexpr (std::is_unsigned_v<T> && sizeof(T) == sizeof(uint64_t)) {
        if (value > static_cast<uint64_t>(INT64_MAX)) {
          tag = Tag::HAS_u;
          v.u = value;
          return;
        }
      }
      tag = Tag::HAS_i;
      v.i = static_cast<int64_t>(value);
    } else {
      tag = Tag::HAS_d;
      v.d = convert<double, T>(value);
    }
  }
  // In Scalar.cpp: constants inside symbolic types become plain numbers.
  void store_symbolic(SymInt value);
  void store_symbolic(SymFloat value);
  void store_symbolic(SymBool value);
  bool equal_symbolic(double num) const;
  template <typename T>
  T convert_to(const char* name) const;
  template <typename T>
  T convert_unusual(const char* name) const;

  Scalar& assign_symbolic(const Scalar& other);
  void destroy() {
    if (C10_UNLIKELY(isSymbolic())) {
      raw::intrusive_ptr::decref(v.p);
    }
  }
  void forget() {
    tag = Tag::HAS_i;
    v.i = 0;
  }

  Tag tag;
  union v_t {
    double d;
    int64_t i;
    uint64_t u;
    complex<double> z;
    intrusive_ptr_target* p;
    v_t() : z() {}
  } v;
};

#define C10_TO_(type, name)              \
  template <>                            \
  inline type Scalar::to<type>() const { \
    return to##name();                   \
  }
AT_FORALL_SCALAR_TYPES_WITH_COMPLEX(C10_TO_)
C10_TO_(uint16_t, UInt16)
C10_TO_(uint32_t, UInt32)
C10_TO_(uint64_t, UInt64)
C10_TO_(SymInt, SymInt)
C10_TO_(SymFloat, SymFloat)
C10_TO_(SymBool, SymBool)
#undef C10_TO_
template <>
inline long long Scalar::to<long long>() const {
  return toLong();
}

/// Prints the number; true or false for a bool.
C10_API std::ostream& operator<<(std::ostream& out, const Scalar& s);

using OptionalScalarRef = OptionalRef<Scalar>;

} // namespace c10
