// Loops of at::native::convert_elements. The dtypes that programs mix have a loop for each pair; the rare ones go
// through a buffer of an integer or a double that holds all their values.
#include <aten/core/dtype_dispatch.h>
#include <aten/native/vec/Vec.h>
#include <c10/util/BFloat16.h>
#include <c10/util/Float8_e4m3fn.h>
#include <c10/util/Float8_e5m2.h>
#include <c10/util/Half.h>
#include <c10/util/complex.h>

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace at::native {
inline namespace CPU_CAPABILITY {

namespace {

template <class T>
inline constexpr bool is_complex_v = false;
template <class T>
inline constexpr bool is_complex_v<c10::complex<T>> = true;

template <class T>
inline constexpr bool is_reduced_v = std::is_same_v<T, c10::Half> || std::is_same_v<T, c10::BFloat16> ||
    std::is_same_v<T, c10::Float8_e5m2> || std::is_same_v<T, c10::Float8_e4m3fn>;

// A 16-bit type and float: compilers do not vectorise these conversions.
template <class Narrow, class Wide>
inline constexpr bool is_widened =
    std::is_same_v<Wide, float> && (std::is_same_v<Narrow, c10::Half> || std::is_same_v<Narrow, c10::BFloat16>);

template <class To, class From>
inline __attribute__((always_inline)) To cast(From x) {
  if constexpr (std::is_same_v<To, From>) {
    return x;
  } else if constexpr (is_complex_v<From>) {
    if constexpr (is_complex_v<To>) {
      using Part = typename To::value_type;
      return To(cast<Part>(x.real()), cast<Part>(x.imag()));
    } else if constexpr (std::is_same_v<To, bool>) {
      return cast<bool>(x.real()) || cast<bool>(x.imag());
    } else {
      return cast<To>(x.real());
    }
  } else if constexpr (is_complex_v<To>) {
    using Part = typename To::value_type;
    return To(cast<Part>(x), Part(0));
  } else if constexpr (is_reduced_v<From>) {
    return cast<To>(static_cast<float>(x));
  } else if constexpr (is_reduced_v<To>) {
    return To(static_cast<float>(x));
  } else if constexpr (std::is_same_v<To, bool>) {
    return x != From(0);
  } else if constexpr (std::is_floating_point_v<From> && std::is_same_v<To, std::uint64_t>) {
    // Negative values wrap like the smaller unsigned types do.
    return x < 0 ? static_cast<std::uint64_t>(static_cast<std::int64_t>(x)) : static_cast<std::uint64_t>(x);
  } else if constexpr (std::is_floating_point_v<From> && std::is_unsigned_v<To>) {
    return static_cast<To>(static_cast<std::int64_t>(x));
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To> && sizeof(To) < 4) {
    return static_cast<To>(static_cast<std::int32_t>(x));
  } else {
    return static_cast<To>(x);
  }
}

/// Any byte but zero is true: a view may have made bools of other numbers.
template <class T>
T read(const T* from) {
  if constexpr (std::is_same_v<T, bool>) {
    return *reinterpret_cast<const std::uint8_t*>(from) != 0;
  } else {
    return *from;
  }
}

template <class To, class From>
__ubsan_ignore_float_cast_overflow__ void loop(
    void* dst, std::int64_t dst_stride, const void* src, std::int64_t src_stride, std::int64_t n) {
  if (dst_stride == sizeof(To) && src_stride == sizeof(From)) {
    To* to = static_cast<To*>(dst);
    const From* from = static_cast<const From*>(src);
    std::int64_t i = 0;
    if constexpr (is_widened<From, To> || is_widened<To, From>) {
      using V = vec::VecFloat;
      for (; i + V::size() <= n; i += V::size()) {
        vec::store_float(vec::load_float(from + i), to + i);
      }
    }
    for (; i < n; ++i) {
      to[i] = cast<To>(read(from + i));
    }
    return;
  }
  char* to = static_cast<char*>(dst);
  const char* from = static_cast<const char*>(src);
  for (std::int64_t i = 0; i < n; ++i, to += dst_stride, from += src_stride) {
    *reinterpret_cast<To*>(to) = cast<To>(read(reinterpret_cast<const From*>(from)));
  }
}

constexpr auto kPairs = dtype_set<
    c10::ScalarType::Bool,
    c10::ScalarType::Byte,
    c10::ScalarType::Int,
    c10::ScalarType::Long,
    c10::ScalarType::Half,
    c10::ScalarType::BFloat16,
    c10::ScalarType::Float,
    c10::ScalarType::Double>;
constexpr auto kEvery = kAll | kUnsigned | kComplexHalves | kFloat8;

// Holds every value of its dtypes: int64 also the bits of uint64, which are asked for by the other side's signedness.
enum class Middle { Integer, Unsigned, Double, Complex };

Middle middle_of(c10::ScalarType dtype) {
  if (c10::isComplexType(dtype)) {
    return Middle::Complex;
  }
  if (dtype == c10::ScalarType::UInt64) {
    return Middle::Unsigned;
  }
  return c10::isFloatingType(dtype) ? Middle::Double : Middle::Integer;
}

template <class M>
void through(
    c10::ScalarType dst_dtype,
    void* dst,
    std::int64_t dst_stride,
    c10::ScalarType src_dtype,
    const void* src,
    std::int64_t src_stride,
    std::int64_t n) {
  constexpr std::int64_t kBlock = 256;
  M buffer[kBlock];
  for (std::int64_t done = 0; done < n; done += kBlock) {
    const std::int64_t count = std::min(kBlock, n - done);
    dispatch("copy_", src_dtype, kEvery, [&]<class From> {
      loop<M, From>(buffer, sizeof(M), static_cast<const char*>(src) + done * src_stride, src_stride, count);
    });
    dispatch("copy_", dst_dtype, kEvery, [&]<class To> {
      loop<To, M>(static_cast<char*>(dst) + done * dst_stride, dst_stride, buffer, sizeof(M), count);
    });
  }
}

// n copies of an element, side by side.
void repeat(void* dst, const void* element, std::int64_t size, std::int64_t n) {
  const auto fill = [&](auto word) {
    std::memcpy(&word, element, sizeof(word));
    std::fill_n(static_cast<decltype(word)*>(dst), n, word);
  };
  switch (size) {
    case 1:
      return fill(std::uint8_t{});
    case 2:
      return fill(std::uint16_t{});
    case 4:
      return fill(std::uint32_t{});
    case 8:
      return fill(std::uint64_t{});
    default:
      return fill(c10::complex<double>{});
  }
}

} // namespace

void convert_loop(
    c10::ScalarType dst_dtype,
    void* dst,
    std::int64_t dst_stride,
    c10::ScalarType src_dtype,
    const void* src,
    std::int64_t src_stride,
    std::int64_t n) {
  if (n == 0) {
    return; // the pointers may be null
  }
  // Signed bytes are unsigned ones where only their bits, or whether they are zero, matter.
  if (src_dtype == c10::ScalarType::Char &&
      (dst_dtype == c10::ScalarType::Byte || dst_dtype == c10::ScalarType::Bool)) {
    src_dtype = c10::ScalarType::Byte;
  } else if (dst_dtype == c10::ScalarType::Char && src_dtype == c10::ScalarType::Byte) {
    dst_dtype = c10::ScalarType::Byte;
  }
  if (dst_dtype == src_dtype &&
      (n == 1 || (dst_stride == src_stride && dst_stride == static_cast<std::int64_t>(c10::elementSize(src_dtype))))) {
    std::memmove(dst, src, n * c10::elementSize(src_dtype));
    return;
  }
  const auto dst_size = static_cast<std::int64_t>(c10::elementSize(dst_dtype));
  if (src_stride == 0 && dst_stride == dst_size && n > 1) {
    alignas(16) char element[16];
    convert_loop(dst_dtype, element, 0, src_dtype, src, 0, 1);
    return repeat(dst, element, dst_size, n);
  }
  if (kPairs.contains(dst_dtype) && kPairs.contains(src_dtype)) {
    dispatch("copy_", dst_dtype, kPairs, [&]<class To> {
      dispatch("copy_", src_dtype, kPairs, [&]<class From> { loop<To, From>(dst, dst_stride, src, src_stride, n); });
    });
    return;
  }
  switch (middle_of(src_dtype)) {
    case Middle::Integer:
      return through<std::int64_t>(dst_dtype, dst, dst_stride, src_dtype, src, src_stride, n);
    case Middle::Unsigned:
      return through<std::uint64_t>(dst_dtype, dst, dst_stride, src_dtype, src, src_stride, n);
    case Middle::Double:
      return through<double>(dst_dtype, dst, dst_stride, src_dtype, src, src_stride, n);
    case Middle::Complex:
      return through<c10::complex<double>>(dst_dtype, dst, dst_stride, src_dtype, src, src_stride, n);
  }
}

} // namespace CPU_CAPABILITY
} // namespace at::native
