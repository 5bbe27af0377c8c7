// Run a template for the C++ type of a run-time dtype.
//
//   dispatch("sigmoid", iter.dtype(), kFloating | kIntegral, [&]<class T> { loop<T>(iter); });
//
// Sets of dtypes are values whose members are part of their type, so that only the wanted types are instantiated.
#pragma once

#include <c10/core/ScalarType.h>
#include <c10/macros/Macros.h>

#include <cstdint>
#include <utility>

namespace at {

/// A set of dtypes known at compile time; bit i stands for the ScalarType with value i.
template <std::uint64_t Bits>
struct DtypeSet {
  static constexpr std::uint64_t bits = Bits;

  static constexpr bool contains(c10::ScalarType dtype) {
    return (Bits >> static_cast<unsigned>(dtype)) & 1u;
  }
};

template <std::uint64_t A, std::uint64_t B>
constexpr DtypeSet<(A | B)> operator|(DtypeSet<A>, DtypeSet<B>) {
  return {};
}

/// Set difference: the members of the first set that are not in the second.
template <std::uint64_t A, std::uint64_t B>
constexpr DtypeSet<(A & ~B)> operator-(DtypeSet<A>, DtypeSet<B>) {
  return {};
}

/// The set of the listed dtypes.
template <c10::ScalarType... Types>
inline constexpr DtypeSet<((std::uint64_t{1} << static_cast<unsigned>(Types)) | ... | 0)> dtype_set{};

inline constexpr auto kBooleans = dtype_set<c10::ScalarType::Bool>;
inline constexpr auto kIntegral = dtype_set<
    c10::ScalarType::Byte,
    c10::ScalarType::Char,
    c10::ScalarType::Short,
    c10::ScalarType::Int,
    c10::ScalarType::Long>;
inline constexpr auto kUnsigned = dtype_set<c10::ScalarType::UInt16, c10::ScalarType::UInt32, c10::ScalarType::UInt64>;
inline constexpr auto kReduced = dtype_set<c10::ScalarType::Half, c10::ScalarType::BFloat16>;
inline constexpr auto kFloatDouble = dtype_set<c10::ScalarType::Float, c10::ScalarType::Double>;
inline constexpr auto kFloating = kReduced | kFloatDouble;
inline constexpr auto kComplex = dtype_set<c10::ScalarType::ComplexFloat, c10::ScalarType::ComplexDouble>;
inline constexpr auto kComplexHalves = dtype_set<c10::ScalarType::ComplexHalf>;
inline constexpr auto kFloat8 = dtype_set<c10::ScalarType::Float8_e5m2, c10::ScalarType::Float8_e4m3fn>;
inline constexpr auto kAll = kBooleans | kIntegral | kFloating | kComplex;

namespace detail {

/// Throws NotImplementedError: `"op" not implemented for 'Half'; ...` and the names of the set's members.
[[noreturn]] TORCH_API void dtype_not_supported(const char* op, c10::ScalarType dtype, std::uint64_t supported);

template <class F, class T>
using dispatch_result_t = decltype(std::declval<F&>().template operator()<T>());

} // namespace detail

/// Calls `f.operator()<T>()` with the C++ type of `dtype` and returns its result.
/// Throws NotImplementedError when `dtype` is not in the set.
template <std::uint64_t Bits, class F>
C10_ALWAYS_INLINE decltype(auto) dispatch(const char* op, c10::ScalarType dtype, DtypeSet<Bits>, F&& f) {
  using Set = DtypeSet<Bits>;
  switch (dtype) {
#define LT_DISPATCH_CASE(T, Name)                         \
  case c10::ScalarType::Name:                             \
    if constexpr (Set::contains(c10::ScalarType::Name)) { \
      return f.template operator()<T>();                  \
    } else {                                              \
      break;                                              \
    }
    LT_DISPATCH_CASE(std::uint8_t, Byte)
    LT_DISPATCH_CASE(std::int8_t, Char)
    LT_DISPATCH_CASE(std::int16_t, Short)
    LT_DISPATCH_CASE(std::int32_t, Int)
    LT_DISPATCH_CASE(std::int64_t, Long)
    LT_DISPATCH_CASE(std::uint16_t, UInt16)
    LT_DISPATCH_CASE(std::uint32_t, UInt32)
    LT_DISPATCH_CASE(std::uint64_t, UInt64)
    LT_DISPATCH_CASE(bool, Bool)
    LT_DISPATCH_CASE(c10::Half, Half)
    LT_DISPATCH_CASE(c10::BFloat16, BFloat16)
    LT_DISPATCH_CASE(float, Float)
    LT_DISPATCH_CASE(double, Double)
    LT_DISPATCH_CASE(c10::complex<c10::Half>, ComplexHalf)
    LT_DISPATCH_CASE(c10::complex<float>, ComplexFloat)
    LT_DISPATCH_CASE(c10::complex<double>, ComplexDouble)
    LT_DISPATCH_CASE(c10::Float8_e5m2, Float8_e5m2)
    LT_DISPATCH_CASE(c10::Float8_e4m3fn, Float8_e4m3fn)
#undef LT_DISPATCH_CASE
    default:
      break;
  }
  detail::dtype_not_supported(op, dtype, Bits);
}

} // namespace at
