// nextafter and nan_to_num: pointwise operators whose parameters depend on the dtype itself.
#include <aten/core/OpMathType.h>
#include <aten/core/dtype_dispatch.h>
#include <aten/iterator/TensorIterator.h>
#include <aten/iterator/pointwise_run.h>
#include <aten/parallel/Parallel.h>

#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <type_traits>

namespace at::native {
inline namespace CPU_CAPABILITY {

namespace {

template <class T>
struct NanToNum {
  T nan, high, low;
  T real(T x) const {
    return x != x                                  ? nan
        : x == std::numeric_limits<T>::infinity()  ? high
        : x == -std::numeric_limits<T>::infinity() ? low
                                                   : x;
  }
};

template <class T, class Real>
void replace_nan(const BlockContext& context, char* out, const char* const* in, std::int64_t n) {
  // A complex number is two reals here.
  const auto f = *static_cast<const NanToNum<opmath_type<Real>>*>(context.functor);
  Real* to = reinterpret_cast<Real*>(out);
  const Real* from = reinterpret_cast<const Real*>(in[0]);
  const std::int64_t count = n * static_cast<std::int64_t>(sizeof(T) / sizeof(Real));
#pragma GCC ivdep
  for (std::int64_t i = 0; i < count; ++i) {
    to[i] = static_cast<Real>(f.real(static_cast<opmath_type<Real>>(from[i])));
  }
}

// std::nextafter without branches, for the compiler to vectorise. Bit patterns are ordered like sign and magnitude, so
// that a neighbour's is one more or less; numbers of 16 bits are compared as floats.
template <class T>
T next_of(T from, T to) {
  using Bits = std::conditional_t<
      sizeof(T) == 2, std::uint16_t, std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>;
  const auto x = static_cast<opmath_type<T>>(from), y = static_cast<opmath_type<T>>(to);
  const Bits up = (x < y) == (x > 0) ? Bits(1) : static_cast<Bits>(~Bits(0));
  const auto sign = static_cast<Bits>(Bits(1) << (8 * sizeof(T) - 1));
  const auto least = static_cast<Bits>((__builtin_bit_cast(Bits, to) & sign) | 1);
  const auto next = __builtin_bit_cast(
      T, x == 0 ? least : static_cast<Bits>(__builtin_bit_cast(Bits, from) + up)); // wraps for some NaN
  const T moved = x == y ? to : next;
  return x != x || y != y ? static_cast<T>(x + y) : moved;
}

template <class T>
void next_after(const BlockContext&, char* out, const char* const* in, std::int64_t n) {
  T* to = reinterpret_cast<T*>(out);
  const T* a = reinterpret_cast<const T*>(in[0]);
  const T* b = reinterpret_cast<const T*>(in[1]);
  for (std::int64_t i = 0; i < n; ++i) {
    to[i] = next_of(a[i], b[i]);
  }
}

template <class T>
struct RealOf {
  using type = T;
};
template <class T>
struct RealOf<c10::complex<T>> {
  using type = T;
};

} // namespace

void nextafter_kernel(TensorIteratorBase& iter) {
  dispatch("nextafter", iter.common_dtype(), kFloating, [&]<class T> { run_pointwise(iter, next_after<T>, {}); });
  iter.cast_outputs();
}

void nan_to_num_kernel(
    TensorIteratorBase& iter, std::optional<double> nan, std::optional<double> posinf, std::optional<double> neginf) {
  dispatch("nan_to_num", iter.dtype(0), kAll | kUnsigned, [&]<class T> {
    using Real = typename RealOf<T>::type;
    if constexpr (std::is_integral_v<T>) {
      // Nothing to replace: a copy of the bytes.
      run_pointwise(
          iter,
          [](const BlockContext&, char* out, const char* const* in, std::int64_t n) {
            std::memmove(out, in[0], n * sizeof(T));
          },
          {});
    } else {
      using Math = opmath_type<Real>;
      const NanToNum<Math> f{
          static_cast<Math>(nan.value_or(0.0)),
          posinf ? static_cast<Math>(*posinf) : static_cast<Math>(std::numeric_limits<Real>::max()),
          neginf ? static_cast<Math>(*neginf) : static_cast<Math>(std::numeric_limits<Real>::lowest())};
      run_pointwise(iter, replace_nan<T, Real>, {&f, sizeof(f)});
    }
  });
  iter.cast_outputs();
}

} // namespace CPU_CAPABILITY
} // namespace at::native
