#pragma once

#include <c10/macros/Macros.h>
#include <c10/util/ArrayRef.h>
#include <c10/util/BFloat16.h>
#include <c10/util/Exception.h>
#include <c10/util/Float4_e2m1fn_x2.h>
#include <c10/util/Float8_e4m3fn.h>
#include <c10/util/Float8_e4m3fnuz.h>
#include <c10/util/Float8_e5m2.h>
#include <c10/util/Float8_e5m2fnuz.h>
#include <c10/util/Float8_e8m0fnu.h>
#include <c10/util/Half.h>
#include <c10/util/bits.h>
#include <c10/util/complex_type.h>
#include <c10/util/qint32.h>
#include <c10/util/qint8.h>
#include <c10/util/quint2x4.h>
#include <c10/util/quint4x2.h>
#include <c10/util/quint8.h>

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace c10 {

/// Stands for integers of less than a byte: they have a name and a size in memory, and no arithmetic.
template <unsigned int N>
struct dummy_uint1_7_t {};
template <unsigned int N>
struct dummy_int1_7_t {};

// Every element type: C++ type, name; the order gives the value in ScalarType and is part of file formats.
#define AT_FORALL_SCALAR_TYPES_WITH_COMPLEX_AND_QINTS(_) \
  _(uint8_t, Byte)                                       \
  _(int8_t, Char)                                        \
  _(int16_t, Short)                                      \
  _(int, Int)                                            \
  _(int64_t, Long)                                       \
  _(c10::Half, Half)                                     \
  _(float, Float)                                        \
  _(double, Double)                                      \
  _(c10::complex<c10::Half>, ComplexHalf)                \
  _(c10::complex<float>, ComplexFloat)                   \
  _(c10::complex<double>, ComplexDouble)                 \
  _(bool, Bool)                                          \
  _(c10::qint8, QInt8)                                   \
  _(c10::quint8, QUInt8)                                 \
  _(c10::qint32, QInt32)                                 \
  _(c10::BFloat16, BFloat16)                             \
  _(c10::quint4x2, QUInt4x2)                             \
  _(c10::quint2x4, QUInt2x4)                             \
  _(c10::bits1x8, Bits1x8)                               \
  _(c10::bits2x4, Bits2x4)                               \
  _(c10::bits4x2, Bits4x2)                               \
  _(c10::bits8, Bits8)                                   \
  _(c10::bits16, Bits16)                                 \
  _(c10::Float8_e5m2, Float8_e5m2)                       \
  _(c10::Float8_e4m3fn, Float8_e4m3fn)                   \
  _(c10::Float8_e5m2fnuz, Float8_e5m2fnuz)               \
  _(c10::Float8_e4m3fnuz, Float8_e4m3fnuz)               \
  _(uint16_t, UInt16)                                    \
  _(uint32_t, UInt32)                                    \
  _(uint64_t, UInt64)                                    \
  _(c10::dummy_uint1_7_t<1>, UInt1)                      \
  _(c10::dummy_uint1_7_t<2>, UInt2)                      \
  _(c10::dummy_uint1_7_t<3>, UInt3)                      \
  _(c10::dummy_uint1_7_t<4>, UInt4)                      \
  _(c10::dummy_uint1_7_t<5>, UInt5)                      \
  _(c10::dummy_uint1_7_t<6>, UInt6)                      \
  _(c10::dummy_uint1_7_t<7>, UInt7)                      \
  _(c10::dummy_int1_7_t<1>, Int1)                        \
  _(c10::dummy_int1_7_t<2>, Int2)                        \
  _(c10::dummy_int1_7_t<3>, Int3)                        \
  _(c10::dummy_int1_7_t<4>, Int4)                        \
  _(c10::dummy_int1_7_t<5>, Int5)                        \
  _(c10::dummy_int1_7_t<6>, Int6)                        \
  _(c10::dummy_int1_7_t<7>, Int7)                        \
  _(c10::Float8_e8m0fnu, Float8_e8m0fnu)                 \
  _(c10::Float4_e2m1fn_x2, Float4_e2m1fn_x2)

// Choices of them that other code iterates over.
#define AT_FORALL_SCALAR_TYPES_WITH_COMPLEX(_) \
  _(uint8_t, Byte)                             \
  _(int8_t, Char)                              \
  _(int16_t, Short)                            \
  _(int, Int)                                  \
  _(int64_t, Long)                             \
  _(c10::Half, Half)                           \
  _(float, Float)                              \
  _(double, Double)                            \
  _(c10::complex<c10::Half>, ComplexHalf)      \
  _(c10::complex<float>, ComplexFloat)         \
  _(c10::complex<double>, ComplexDouble)       \
  _(bool, Bool)                                \
  _(c10::BFloat16, BFloat16)                   \
  _(c10::Float8_e5m2, Float8_e5m2)             \
  _(c10::Float8_e4m3fn, Float8_e4m3fn)         \
  _(c10::Float8_e5m2fnuz, Float8_e5m2fnuz)     \
  _(c10::Float8_e4m3fnuz, Float8_e4m3fnuz)     \
  _(c10::Float8_e8m0fnu, Float8_e8m0fnu)

#define AT_FORALL_SCALAR_TYPES_WITH_COMPLEX_EXCEPT_COMPLEX_HALF_F8NZ(_) \
  _(uint8_t, Byte)                                                      \
  _(int8_t, Char)                                                       \
  _(int16_t, Short)                                                     \
  _(int, Int)                                                           \
  _(int64_t, Long)                                                      \
  _(c10::Half, Half)                                                    \
  _(float, Float)                                                       \
  _(double, Double)                                                     \
  _(c10::complex<float>, ComplexFloat)                                  \
  _(c10::complex<double>, ComplexDouble)                                \
  _(bool, Bool)                                                         \
  _(c10::BFloat16, BFloat16)                                            \
  _(c10::Float8_e5m2, Float8_e5m2)                                      \
  _(c10::Float8_e4m3fn, Float8_e4m3fn)

#define AT_FORALL_INT_TYPES(_) \
  _(uint8_t, Byte)             \
  _(int8_t, Char)              \
  _(int16_t, Short)            \
  _(int, Int)                  \
  _(int64_t, Long)

#define AT_FORALL_SCALAR_TYPES(_) \
  _(uint8_t, Byte)                \
  _(int8_t, Char)                 \
  _(int16_t, Short)               \
  _(int, Int)                     \
  _(int64_t, Long)                \
  _(float, Float)                 \
  _(double, Double)

#define AT_FORALL_SCALAR_TYPES_AND(SCALARTYPE, _) \
  _(uint8_t, Byte)                                \
  _(int8_t, Char)                                 \
  _(int16_t, Short)                               \
  _(int, Int)                                     \
  _(int64_t, Long)                                \
  _(float, Float)                                 \
  _(double, Double)                               \
  _(decltype(::c10::impl::ScalarTypeToCPPType<::c10::ScalarType::SCALARTYPE>::t), SCALARTYPE)

#define AT_FORALL_SCALAR_TYPES_AND2(SCALARTYPE1, SCALARTYPE2, _)                                \
  _(uint8_t, Byte)                                                                              \
  _(int8_t, Char)                                                                               \
  _(int16_t, Short)                                                                             \
  _(int, Int)                                                                                   \
  _(int64_t, Long)                                                                              \
  _(float, Float)                                                                               \
  _(double, Double)                                                                             \
  _(decltype(::c10::impl::ScalarTypeToCPPType<::c10::ScalarType::SCALARTYPE1>::t), SCALARTYPE1) \
  _(decltype(::c10::impl::ScalarTypeToCPPType<::c10::ScalarType::SCALARTYPE2>::t), SCALARTYPE2)

#define AT_FORALL_SCALAR_TYPES_AND3(SCALARTYPE1, SCALARTYPE2, SCALARTYPE3, _)                   \
  _(uint8_t, Byte)                                                                              \
  _(int8_t, Char)                                                                               \
  _(int16_t, Short)                                                                             \
  _(int, Int)                                                                                   \
  _(int64_t, Long)                                                                              \
  _(float, Float)                                                                               \
  _(double, Double)                                                                             \
  _(decltype(::c10::impl::ScalarTypeToCPPType<::c10::ScalarType::SCALARTYPE1>::t), SCALARTYPE1) \
  _(decltype(::c10::impl::ScalarTypeToCPPType<::c10::ScalarType::SCALARTYPE2>::t), SCALARTYPE2) \
  _(decltype(::c10::impl::ScalarTypeToCPPType<::c10::ScalarType::SCALARTYPE3>::t), SCALARTYPE3)

#define AT_FORALL_SCALAR_TYPES_AND7(                                                              \
    SCALARTYPE1, SCALARTYPE2, SCALARTYPE3, SCALARTYPE4, SCALARTYPE5, SCALARTYPE6, SCALARTYPE7, _) \
  _(uint8_t, Byte)                                                                                \
  _(int8_t, Char)                                                                                 \
  _(int16_t, Short)                                                                               \
  _(int, Int)                                                                                     \
  _(int64_t, Long)                                                                                \
  _(float, Float)                                                                                 \
  _(double, Double)                                                                               \
  _(decltype(::c10::impl::ScalarTypeToCPPType<::c10::ScalarType::SCALARTYPE1>::t), SCALARTYPE1)   \
  _(decltype(::c10::impl::ScalarTypeToCPPType<::c10::ScalarType::SCALARTYPE2>::t), SCALARTYPE2)   \
  _(decltype(::c10::impl::ScalarTypeToCPPType<::c10::ScalarType::SCALARTYPE3>::t), SCALARTYPE3)   \
  _(decltype(::c10::impl::ScalarTypeToCPPType<::c10::ScalarType::SCALARTYPE4>::t), SCALARTYPE4)   \
  _(decltype(::c10::impl::ScalarTypeToCPPType<::c10::ScalarType::SCALARTYPE5>::t), SCALARTYPE5)   \
  _(decltype(::c10::impl::ScalarTypeToCPPType<::c10::ScalarType::SCALARTYPE6>::t), SCALARTYPE6)   \
  _(decltype(::c10::impl::ScalarTypeToCPPType<::c10::ScalarType::SCALARTYPE7>::t), SCALARTYPE7)

#define AT_FORALL_QINT_TYPES(_) \
  _(c10::qint8, QInt8)          \
  _(c10::quint8, QUInt8)        \
  _(c10::qint32, QInt32)        \
  _(c10::quint4x2, QUInt4x2)    \
  _(c10::quint2x4, QUInt2x4)

#define AT_FORALL_FLOAT8_TYPES(_)          \
  _(c10::Float8_e5m2, Float8_e5m2)         \
  _(c10::Float8_e4m3fn, Float8_e4m3fn)     \
  _(c10::Float8_e5m2fnuz, Float8_e5m2fnuz) \
  _(c10::Float8_e4m3fnuz, Float8_e4m3fnuz) \
  _(c10::Float8_e8m0fnu, Float8_e8m0fnu)

#define AT_FORALL_COMPLEX_TYPES(_)     \
  _(c10::complex<float>, ComplexFloat) \
  _(c10::complex<double>, ComplexDouble)

/// The type of a tensor's elements.
enum class ScalarType : int8_t {
#define C10_ENUMERATOR_(type, name) name,
  AT_FORALL_SCALAR_TYPES_WITH_COMPLEX_AND_QINTS(C10_ENUMERATOR_)
#undef C10_ENUMERATOR_
      Undefined,
  NumOptions
};

constexpr uint16_t NumScalarTypes = static_cast<uint16_t>(ScalarType::NumOptions);

namespace impl {

/// ScalarType to C++ type.
template <ScalarType N>
struct ScalarTypeToCPPType;
#define C10_SPECIALIZE_(cpp_type, name)          \
  template <>                                    \
  struct ScalarTypeToCPPType<ScalarType::name> { \
    using type = cpp_type;                       \
    static type t;                               \
  };
AT_FORALL_SCALAR_TYPES_WITH_COMPLEX_AND_QINTS(C10_SPECIALIZE_)
#undef C10_SPECIALIZE_

template <ScalarType N>
using ScalarTypeToCPPTypeT = typename ScalarTypeToCPPType<N>::type;

} // namespace impl

/// C++ type to ScalarType.
template <typename T>
struct CppTypeToScalarType;
#define C10_SPECIALIZE_(cpp_type, name) \
  template <>                           \
  struct CppTypeToScalarType<cpp_type> : std::integral_constant<ScalarType, ScalarType::name> {};
AT_FORALL_SCALAR_TYPES_WITH_COMPLEX_AND_QINTS(C10_SPECIALIZE_)
#undef C10_SPECIALIZE_
/// `long long` is the same number as int64_t where that is `long`.
template <>
struct CppTypeToScalarType<std::conditional_t<std::is_same_v<int64_t, long>, long long, long>>
    : std::integral_constant<ScalarType, ScalarType::Long> {};

#define C10_CONSTANT_(type, name) constexpr ScalarType k##name = ScalarType::name;
AT_FORALL_SCALAR_TYPES_WITH_COMPLEX_AND_QINTS(C10_CONSTANT_)
#undef C10_CONSTANT_

/// The libtorch name: "Float", "Long", ...
C10_API const char* toString(ScalarType t);
C10_API std::ostream& operator<<(std::ostream& out, ScalarType t);

namespace detail {
C10_API extern const uint8_t kElementSizes[NumScalarTypes];
[[noreturn]] C10_API void unknown_scalar_type(ScalarType t);
} // namespace detail

/// Bytes of one element. Throws for Undefined.
inline size_t elementSize(ScalarType t) {
  const auto index = static_cast<uint8_t>(t);
  if (C10_UNLIKELY(index >= static_cast<uint8_t>(ScalarType::Undefined))) {
    detail::unknown_scalar_type(t);
  }
  return detail::kElementSizes[index];
}

namespace detail {

/// A set of scalar types as bits, so that each question below is one shift.
constexpr uint64_t scalar_type_bit(ScalarType t) {
  return uint64_t{1} << static_cast<int>(t);
}
template <class... T>
constexpr uint64_t scalar_type_set(T... t) {
  return (scalar_type_bit(t) | ... | uint64_t{0});
}
constexpr bool is_in(ScalarType t, uint64_t set) {
  return (set & scalar_type_bit(t)) != 0;
}
static_assert(NumScalarTypes <= 64, "sets of scalar types are 64 bits");

constexpr uint64_t kIntegralSet = scalar_type_set(kByte, kChar, kShort, kInt, kLong, kUInt16, kUInt32, kUInt64);
constexpr uint64_t kFloat8Set =
    scalar_type_set(kFloat8_e5m2, kFloat8_e4m3fn, kFloat8_e5m2fnuz, kFloat8_e4m3fnuz, kFloat8_e8m0fnu);
constexpr uint64_t kReducedSet = scalar_type_set(kHalf, kBFloat16, kFloat4_e2m1fn_x2) | kFloat8Set;
constexpr uint64_t kFloatingSet = scalar_type_set(kFloat, kDouble) | kReducedSet;
constexpr uint64_t kComplexSet = scalar_type_set(kComplexHalf, kComplexFloat, kComplexDouble);
constexpr uint64_t kQIntSet = scalar_type_set(kQInt8, kQUInt8, kQInt32, kQUInt4x2, kQUInt2x4);
constexpr uint64_t kBitsSet = scalar_type_set(kBits1x8, kBits2x4, kBits4x2, kBits8, kBits16);
constexpr uint64_t kBarebonesUnsignedSet =
    scalar_type_set(kUInt1, kUInt2, kUInt3, kUInt4, kUInt5, kUInt6, kUInt7, kUInt16, kUInt32, kUInt64);
constexpr uint64_t kSubByteSignedSet = scalar_type_set(kInt1, kInt2, kInt3, kInt4, kInt5, kInt6, kInt7);

} // namespace detail

constexpr bool isIntegralType(ScalarType t, bool includeBool) {
  return detail::is_in(t, detail::kIntegralSet) || (includeBool && t == ScalarType::Bool);
}
[[deprecated("say whether bool counts: isIntegralType(t, includeBool)")]] constexpr bool isIntegralType(ScalarType t) {
  return isIntegralType(t, /*includeBool=*/false);
}
constexpr bool isFloat8Type(ScalarType t) {
  return detail::is_in(t, detail::kFloat8Set);
}
/// Floating-point types of less than 32 bits.
constexpr bool isReducedFloatingType(ScalarType t) {
  return detail::is_in(t, detail::kReducedSet);
}
constexpr bool isFloatingType(ScalarType t) {
  return detail::is_in(t, detail::kFloatingSet);
}
constexpr bool isComplexType(ScalarType t) {
  return detail::is_in(t, detail::kComplexSet);
}
constexpr bool isQIntType(ScalarType t) {
  return detail::is_in(t, detail::kQIntSet);
}
constexpr bool isBitsType(ScalarType t) {
  return detail::is_in(t, detail::kBitsSet);
}
/// The unsigned types that only few operators know: they take no part in promotion among integers.
constexpr bool isBarebonesUnsignedType(ScalarType t) {
  return detail::is_in(t, detail::kBarebonesUnsignedSet);
}

/// Whether the type has negative numbers. Throws for quantized and bits types.
C10_API bool isSignedType(ScalarType t);

/// The quantized type stored as `t`, or `t`.
constexpr ScalarType toQIntType(ScalarType t) {
  switch (t) {
    case ScalarType::Byte:
      return ScalarType::QUInt8;
    case ScalarType::Char:
      return ScalarType::QInt8;
    case ScalarType::Int:
      return ScalarType::QInt32;
    default:
      return t;
  }
}
/// The integer type a quantized type is stored as, or `t`.
constexpr ScalarType toUnderlying(ScalarType t) {
  switch (t) {
    case ScalarType::QUInt8:
    case ScalarType::QUInt4x2:
    case ScalarType::QUInt2x4:
      return ScalarType::Byte;
    case ScalarType::QInt8:
      return ScalarType::Char;
    case ScalarType::QInt32:
      return ScalarType::Int;
    default:
      return t;
  }
}
constexpr bool isUnderlying(ScalarType type, ScalarType qtype) {
  return type == toUnderlying(qtype);
}

/// The type of the real part, or `t`.
constexpr ScalarType toRealValueType(ScalarType t) {
  switch (t) {
    case ScalarType::ComplexHalf:
      return ScalarType::Half;
    case ScalarType::ComplexFloat:
      return ScalarType::Float;
    case ScalarType::ComplexDouble:
      return ScalarType::Double;
    default:
      return t;
  }
}
/// The complex type with parts of type `t`. Throws when there is none.
C10_API ScalarType toComplexType(ScalarType t);

/// The type in which elements of `t` are computed: float for reduced types.
constexpr ScalarType toOpMathType(ScalarType t) {
  if (isReducedFloatingType(t)) {
    return ScalarType::Float;
  }
  return t == ScalarType::ComplexHalf ? ScalarType::ComplexFloat : t;
}

/// Whether a result of type `from` may be stored as `to`: no step down complex -> floating -> integral -> bool.
constexpr bool canCast(ScalarType from, ScalarType to) {
  if (isComplexType(from) && !isComplexType(to)) {
    return false;
  }
  if (isFloatingType(from) && isIntegralType(to, /*includeBool=*/false)) {
    return false;
  }
  return from == ScalarType::Bool || to != ScalarType::Bool;
}

/// The smallest type that holds values of both. Throws for pairs that have none (float8, bits, quantized, most of the
/// wide unsigned types).
C10_API ScalarType promoteTypes(ScalarType a, ScalarType b);

/// A byte-like type of the same size, for moving elements about.
C10_API ScalarType opaqueScalarType(ScalarType t);

/// The names Python gives a type: {"float32", "float"}; the second is empty when there is one name.
C10_API std::pair<std::string_view, std::string_view> getDtypeNames(ScalarType scalarType);
/// The shortest of the names, as used in printed types.
C10_API std::string_view getScalarTypeAbbr(ScalarType scalarType);

} // namespace c10
