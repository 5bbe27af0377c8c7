// at::vec::Vectorized<T>: VECTOR_WIDTH bytes of lanes of one dtype, which is what one step of a vector loop holds.
//
//   using Vec = at::vec::Vectorized<float>;
//   for (int64_t i = 0; i + Vec::size() <= n; i += Vec::size()) { (Vec::loadu(x + i) * Vec(2)).store(y + i); }
//
// All dtypes have all operations that their C++ types have. The lanes are a plain array and the operations are loops of
// a fixed length over it, which GCC and Clang turn into instructions of whatever instruction set they compile for.
#pragma once

#include <aten/native/pointwise/special.h>
#include <c10/core/ScalarType.h>
#include <c10/util/TypeCast.h>
#include <c10/util/complex.h>
#include <csrc/compat/aten/cpu/vec/isa.h>
#include <csrc/compat/c10/util/Load.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <ostream>
#include <tuple>
#include <type_traits>
#include <utility>

#if defined(__AVX__)
#include <immintrin.h>
#endif

namespace at::vec {
inline namespace CPU_CAPABILITY {
inline namespace AT_VEC_ISA {

template <class T>
constexpr bool is_reduced_floating_point_v = std::is_same_v<T, c10::Half> || std::is_same_v<T, c10::BFloat16>;
template <class T>
struct is_reduced_floating_point : std::bool_constant<is_reduced_floating_point_v<T>> {};
template <class T>
constexpr bool is_floating_point_v = std::is_floating_point_v<T> || is_reduced_floating_point_v<T>;
template <class T>
struct is_floating_point : std::bool_constant<is_floating_point_v<T>> {};
template <class T>
constexpr bool is_integer_v = std::is_integral_v<T>;
template <class T>
constexpr bool is_8bit_integer_v = std::is_same_v<T, unsigned char> || std::is_same_v<T, signed char>;

template <std::size_t bytes>
struct int_of_size;
template <>
struct int_of_size<1> {
  using type = int8_t;
};
template <>
struct int_of_size<2> {
  using type = int16_t;
};
template <>
struct int_of_size<4> {
  using type = int32_t;
};
template <>
struct int_of_size<8> {
  using type = int64_t;
};
/// The signed integer with as many bytes as T.
template <class T>
using int_same_size_t = typename int_of_size<sizeof(T)>::type;

namespace lanes {

/// Half and BFloat16 compute in float.
template <class T>
auto widen(T x) {
  if constexpr (is_reduced_floating_point_v<T>) {
    return static_cast<float>(x);
  } else {
    return x;
  }
}

/// Integers wrap around, as instructions do; int is not wide enough for a product of two 16-bit numbers.
template <class T, class Op>
T wrapping(T a, T b, Op op) {
  if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    using U = std::common_type_t<std::make_unsigned_t<T>, unsigned>;
    return static_cast<T>(op(static_cast<U>(a), static_cast<U>(b)));
  } else {
    return static_cast<T>(op(a, b));
  }
}

template <class T>
bool is_nan(const T& x) {
  if constexpr (c10::is_complex<T>::value) {
    return std::isnan(x.real()) || std::isnan(x.imag());
  } else if constexpr (is_floating_point_v<T>) {
    return widen(x) != widen(x);
  } else {
    return false;
  }
}
template <class T>
bool is_inf(const T& x) {
  if constexpr (c10::is_complex<T>::value) {
    return std::isinf(x.real()) || std::isinf(x.imag());
  } else if constexpr (is_floating_point_v<T>) {
    return std::isinf(widen(x));
  } else {
    return false;
  }
}

/// f of a real number, or of both parts of a complex one; integers are whole already.
template <class T, class F>
T rounded(const T& x, F f) {
  if constexpr (c10::is_complex<T>::value) {
    return T(f(x.real()), f(x.imag()));
  } else if constexpr (is_floating_point_v<T>) {
    return static_cast<T>(f(widen(x)));
  } else {
    return x;
  }
}

template <class T>
T absolute(const T& x) {
  if constexpr (c10::is_complex<T>::value || is_floating_point_v<T>) {
    return static_cast<T>(std::abs(widen(x)));
  } else if constexpr (std::is_signed_v<T>) {
    return x < 0 ? wrapping(T(0), x, [](auto a, auto b) { return a - b; }) : x;
  } else {
    return x;
  }
}

/// The machine's vector of T, where the flags allow one of VECTOR_WIDTH bytes.
template <class T>
struct register_for {
  struct type {};
};
#if VECTOR_WIDTH == 64 && defined(__AVX512F__)
using floats = __m512;
using doubles = __m512d;
using integers = __m512i;
#define AT_VEC_HAS_REGISTERS
#elif VECTOR_WIDTH == 32 && defined(__AVX__)
using floats = __m256;
using doubles = __m256d;
using integers = __m256i;
#define AT_VEC_HAS_REGISTERS
#endif
#ifdef AT_VEC_HAS_REGISTERS
#undef AT_VEC_HAS_REGISTERS
struct integer_register {
  using type = integers;
};
template <>
struct register_for<float> {
  using type = floats;
};
template <>
struct register_for<c10::complex<float>> : register_for<float> {};
template <>
struct register_for<double> {
  using type = doubles;
};
template <>
struct register_for<c10::complex<double>> : register_for<double> {};
template <>
struct register_for<uint8_t> : integer_register {};
template <>
struct register_for<int8_t> : integer_register {};
template <>
struct register_for<int16_t> : integer_register {};
template <>
struct register_for<int32_t> : integer_register {};
template <>
struct register_for<int64_t> : integer_register {};
template <>
struct register_for<c10::Half> : integer_register {};
template <>
struct register_for<c10::BFloat16> : integer_register {};
#endif

} // namespace lanes

template <class T>
struct Vectorized {
  using value_type = T;
  using size_type = int;
  static constexpr size_type kSize = VECTOR_WIDTH / sizeof(T);
  static constexpr size_type size() {
    return kSize;
  }

  /// All lanes 0.
  Vectorized() : values_{} {}
  /// All lanes `value`.
  Vectorized(T value) {
    std::fill_n(values_, kSize, value);
  }
  /// One value a lane.
  template <class... Args, class = std::enable_if_t<(sizeof...(Args) == kSize)>>
  Vectorized(Args... values) : values_{static_cast<T>(values)...} {}
  Vectorized(const T (&values)[kSize]) {
    std::copy_n(values, kSize, values_);
  }

  /// To and from the machine's vectors (__m256 and so on), where the flags allow them.
  Vectorized(typename lanes::register_for<T>::type bits) {
    std::memcpy(values_, &bits, sizeof(bits));
  }
  operator typename lanes::register_for<T>::type() const {
    typename lanes::register_for<T>::type bits;
    std::memcpy(&bits, values_, sizeof(bits));
    return bits;
  }

  operator const T*() const {
    return values_;
  }
  operator T*() {
    return values_;
  }
  // Of any type of index, because the conversions to pointers would be as near to one that is not exact.
  template <class Index, std::enable_if_t<std::is_integral_v<Index>, int> = 0>
  const T& operator[](Index lane) const {
    return values_[lane];
  }
  template <class Index, std::enable_if_t<std::is_integral_v<Index>, int> = 0>
  T& operator[](Index lane) {
    return values_[lane];
  }
  const char* as_bytes() const {
    return reinterpret_cast<const char*>(values_);
  }

  /// From memory of any alignment.
  static Vectorized loadu(const void* from) {
    Vectorized result;
    std::memcpy(result.values_, from, VECTOR_WIDTH);
    return result;
  }
  /// The first `count` lanes from memory, the others 0.
  static Vectorized loadu(const void* from, int64_t count) {
    Vectorized result;
    std::memcpy(result.values_, from, clipped(count) * sizeof(T));
    return result;
  }
  static Vectorized loadu_one_fourth(const void* from) {
    static_assert(is_8bit_integer_v<T>, "loadu_one_fourth is for bytes");
    return loadu(from, 8);
  }
  /// The first `count` lanes to memory of any alignment.
  void store(void* to, int count = kSize) const {
    std::memcpy(to, values_, clipped(count) * sizeof(T));
  }

  /// Lane i from b where bit i of the mask is set, else from a.
  template <int64_t mask>
  static Vectorized blend(const Vectorized& a, const Vectorized& b) {
    return make([&](int i) { return (mask >> i & 1) != 0 ? b.values_[i] : a.values_[i]; });
  }
  /// Lanes from b where `mask` has all bits set, as comparisons give it, and from a where it has none.
  static Vectorized blendv(const Vectorized& a, const Vectorized& b, const Vectorized& mask) {
    Bits from[kParts * kSize];
    Bits other[kParts * kSize];
    Bits chosen[kParts * kSize];
    std::memcpy(from, a.values_, VECTOR_WIDTH);
    std::memcpy(other, b.values_, VECTOR_WIDTH);
    std::memcpy(chosen, mask.values_, VECTOR_WIDTH);
    for (int i = 0; i < kParts * kSize; ++i) {
      from[i] = (chosen[i] & 1) != 0 ? other[i] : from[i];
    }
    return loadu(from);
  }
  /// base, base + step, ...
  template <class Step = T>
  static Vectorized arange(T base = static_cast<T>(0), Step step = static_cast<Step>(1)) {
    return make([&](int i) { return static_cast<T>(base + static_cast<Step>(i) * step); });
  }
  /// The first `count` lanes of b, the others of a.
  static Vectorized set(const Vectorized& a, const Vectorized& b, int64_t count = kSize) {
    return make([&](int i) { return i < count ? b.values_[i] : a.values_[i]; });
  }

  /// Bit i tells whether lane i is 0.
  int zero_mask() const {
    uint32_t mask = 0;
    for (int i = 0; i < std::min(kSize, 32); ++i) {
      mask |= static_cast<uint32_t>(values_[i] == static_cast<T>(0)) << i;
    }
    return static_cast<int>(mask);
  }
  /// All bits of a lane, or none.
  Vectorized isnan() const {
    return make_mask([this](int i) { return lanes::is_nan(values_[i]); });
  }
  bool has_inf_nan() const {
    bool found = false;
    for (int i = 0; i < kSize; ++i) {
      found |= lanes::is_nan(values_[i]) || lanes::is_inf(values_[i]);
    }
    return found;
  }

  /// f of each lane.
  Vectorized map(T (*f)(T)) const {
    return make([&](int i) { return f(values_[i]); });
  }
  Vectorized map(T (*f)(const T&)) const {
    return make([&](int i) { return f(values_[i]); });
  }
  template <class F>
  Vectorized map(F f) const {
    return make([&](int i) { return static_cast<T>(f(values_[i])); });
  }
  /// op over all lanes, from the first on.
  template <class Op>
  T reduce(Op op) const {
    T result = values_[0];
    for (int i = 1; i < kSize; ++i) {
      result = op(result, values_[i]);
    }
    return result;
  }
  T reduce_add() const {
    return reduce([](T a, T b) { return lanes::wrapping(a, b, [](auto x, auto y) { return x + y; }); });
  }
  T reduce_max() const {
    return reduce([](T a, T b) { return lanes::is_nan(a) || a > b ? a : b; });
  }

  Vectorized abs() const {
    return map(lanes::absolute<T>);
  }
  Vectorized neg() const {
    return map([](T x) {
      if constexpr (std::is_integral_v<T>) {
        return lanes::wrapping(T(0), x, [](auto a, auto b) { return a - b; });
      } else {
        return -x;
      }
    });
  }
  /// x / |x|, and 0 for 0.
  Vectorized sgn() const {
    static_assert(c10::is_complex<T>::value, "sgn is for complex numbers");
    return map([](T x) { return x == T(0) ? T(0) : x / static_cast<T>(std::abs(x)); });
  }
  /// Of a real number 0 or pi.
  Vectorized angle() const {
    return map([](T x) {
      if constexpr (c10::is_complex<T>::value) {
        return static_cast<T>(std::arg(x));
      } else {
        return lanes::is_nan(x) ? x : x < T(0) ? static_cast<T>(3.141592653589793238463) : T(0);
      }
    });
  }
  Vectorized real() const {
    if constexpr (c10::is_complex<T>::value) {
      return map([](T x) { return T(x.real()); });
    } else {
      return *this;
    }
  }
  Vectorized imag() const {
    if constexpr (c10::is_complex<T>::value) {
      return map([](T x) { return T(x.imag()); });
    } else {
      return Vectorized(T(0));
    }
  }
  Vectorized conj() const {
    if constexpr (c10::is_complex<T>::value) {
      return map([](T x) { return T(x.real(), -x.imag()); });
    } else {
      return *this;
    }
  }

  Vectorized ceil() const {
    return map([](T x) { return lanes::rounded(x, [](auto r) { return std::ceil(r); }); });
  }
  Vectorized floor() const {
    return map([](T x) { return lanes::rounded(x, [](auto r) { return std::floor(r); }); });
  }
  /// Halves go to the even neighbour.
  Vectorized round() const {
    return map([](T x) { return lanes::rounded(x, [](auto r) { return std::nearbyint(r); }); });
  }
  Vectorized trunc() const {
    return map([](T x) { return lanes::rounded(x, [](auto r) { return std::trunc(r); }); });
  }
  Vectorized frac() const {
    return *this - trunc();
  }

  Vectorized reciprocal() const {
    return wide([](auto x) { return decltype(x)(1) / x; });
  }
  Vectorized sqrt() const {
    return wide([](auto x) { return std::sqrt(x); });
  }
  Vectorized rsqrt() const {
    return wide([](auto x) { return decltype(x)(1) / std::sqrt(x); });
  }
  Vectorized exp() const {
    return wide([](auto x) { return std::exp(x); });
  }
  /// As exp: libtorch's may be off by 20 units in the last place.
  Vectorized exp_u20() const {
    return exp();
  }
  Vectorized fexp_u20() const {
    return exp();
  }
  Vectorized exp2() const {
    return wide([](auto x) {
      if constexpr (c10::is_complex<T>::value) {
        return std::exp(x * typename T::value_type(0.693147180559945309417));
      } else {
        return std::exp2(x);
      }
    });
  }
  Vectorized expm1() const {
    return wide([](auto x) { return std::expm1(x); });
  }
  Vectorized log() const {
    return wide([](auto x) { return std::log(x); });
  }
  Vectorized log2() const {
    return wide([](auto x) { return std::log2(x); });
  }
  Vectorized log10() const {
    return wide([](auto x) { return std::log10(x); });
  }
  Vectorized log1p() const {
    return wide([](auto x) { return std::log1p(x); });
  }
  Vectorized sin() const {
    return wide([](auto x) { return std::sin(x); });
  }
  Vectorized cos() const {
    return wide([](auto x) { return std::cos(x); });
  }
  Vectorized tan() const {
    return wide([](auto x) { return std::tan(x); });
  }
  Vectorized asin() const {
    return wide([](auto x) { return std::asin(x); });
  }
  Vectorized acos() const {
    return wide([](auto x) { return std::acos(x); });
  }
  Vectorized atan() const {
    return wide([](auto x) { return std::atan(x); });
  }
  Vectorized sinh() const {
    return wide([](auto x) { return std::sinh(x); });
  }
  Vectorized cosh() const {
    return wide([](auto x) { return std::cosh(x); });
  }
  Vectorized tanh() const {
    return wide([](auto x) { return std::tanh(x); });
  }
  Vectorized asinh() const {
    return wide([](auto x) { return std::asinh(x); });
  }
  Vectorized acosh() const {
    return wide([](auto x) { return std::acosh(x); });
  }
  Vectorized atanh() const {
    return wide([](auto x) { return std::atanh(x); });
  }
  Vectorized erf() const {
    return wide([](auto x) { return std::erf(x); });
  }
  Vectorized erfc() const {
    return wide([](auto x) { return std::erfc(x); });
  }
  Vectorized erfinv() const {
    return wide([](auto x) { return native::pointwise::erfinv(x); });
  }
  Vectorized lgamma() const {
    return wide([](auto x) { return std::lgamma(x); });
  }

  Vectorized pow(const Vectorized& exponent) const {
    return wide(exponent, [](auto x, auto y) { return std::pow(x, y); });
  }
  Vectorized atan2(const Vectorized& x) const {
    return wide(x, [](auto y, auto x) { return std::atan2(y, x); });
  }
  Vectorized fmod(const Vectorized& divisor) const {
    return wide(divisor, [](auto x, auto y) { return std::fmod(x, y); });
  }
  Vectorized hypot(const Vectorized& other) const {
    return wide(other, [](auto x, auto y) { return std::hypot(x, y); });
  }
  Vectorized copysign(const Vectorized& sign) const {
    return wide(sign, [](auto x, auto y) { return std::copysign(x, y); });
  }
  /// The next number of this dtype in the direction of `other`.
  Vectorized nextafter(const Vectorized& other) const {
    return make([&](int i) { return std::nextafter(values_[i], other.values_[i]); });
  }

  // All bits of a lane where the claim holds, and none where it does not.
  Vectorized operator==(const Vectorized& other) const {
    return make_mask([&](int i) { return values_[i] == other.values_[i]; });
  }
  Vectorized operator!=(const Vectorized& other) const {
    return make_mask([&](int i) { return values_[i] != other.values_[i]; });
  }
  Vectorized operator<(const Vectorized& other) const {
    return make_mask([&](int i) { return values_[i] < other.values_[i]; });
  }
  Vectorized operator<=(const Vectorized& other) const {
    return make_mask([&](int i) { return values_[i] <= other.values_[i]; });
  }
  Vectorized operator>(const Vectorized& other) const {
    return make_mask([&](int i) { return values_[i] > other.values_[i]; });
  }
  Vectorized operator>=(const Vectorized& other) const {
    return make_mask([&](int i) { return values_[i] >= other.values_[i]; });
  }

  // The number 1 where the claim holds, else 0.
  Vectorized eq(const Vectorized& other) const {
    return make([&](int i) { return static_cast<T>(values_[i] == other.values_[i]); });
  }
  Vectorized ne(const Vectorized& other) const {
    return make([&](int i) { return static_cast<T>(values_[i] != other.values_[i]); });
  }
  Vectorized lt(const Vectorized& other) const {
    return make([&](int i) { return static_cast<T>(values_[i] < other.values_[i]); });
  }
  Vectorized le(const Vectorized& other) const {
    return make([&](int i) { return static_cast<T>(values_[i] <= other.values_[i]); });
  }
  Vectorized gt(const Vectorized& other) const {
    return make([&](int i) { return static_cast<T>(values_[i] > other.values_[i]); });
  }
  Vectorized ge(const Vectorized& other) const {
    return make([&](int i) { return static_cast<T>(values_[i] >= other.values_[i]); });
  }

  /// Lane i is f(i).
  template <class F>
  static Vectorized make(F f) {
    Vectorized result;
    for (int i = 0; i < kSize; ++i) {
      result.values_[i] = f(i);
    }
    return result;
  }
  /// All bits of lane i where f(i).
  template <class F>
  static Vectorized make_mask(F f) {
    Bits bits[kParts * kSize];
    for (int i = 0; i < kParts * kSize; ++i) {
      bits[i] = f(i / kParts) ? static_cast<Bits>(-1) : static_cast<Bits>(0);
    }
    return loadu(bits);
  }

 private:
  static constexpr int kParts = sizeof(T) > 8 ? 2 : 1; // integers that a lane's bits take
  using Bits = typename int_of_size<sizeof(T) / kParts>::type;

  static std::size_t clipped(int64_t count) {
    return static_cast<std::size_t>(std::clamp<int64_t>(count, 0, kSize));
  }
  template <class F>
  Vectorized wide(F f) const {
    return make([&](int i) { return static_cast<T>(f(lanes::widen(values_[i]))); });
  }
  template <class F>
  Vectorized wide(const Vectorized& other, F f) const {
    return make([&](int i) { return static_cast<T>(f(lanes::widen(values_[i]), lanes::widen(other.values_[i]))); });
  }

  __at_align__ T values_[kSize];
};

} // namespace AT_VEC_ISA
} // namespace CPU_CAPABILITY
} // namespace at::vec

#include <csrc/compat/aten/cpu/vec/vec_operators.h>
#include <csrc/compat/aten/cpu/vec/vec_convert.h>
