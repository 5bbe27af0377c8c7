// Half, BFloat16 and the 8-bit formats against a plain reference that works on numbers, not on bits.

#include <c10/util/BFloat16-math.h>
#include <c10/util/BFloat16.h>
#include <c10/util/Float8_e4m3fn.h>
#include <c10/util/Float8_e4m3fnuz.h>
#include <c10/util/Float8_e5m2.h>
#include <c10/util/Float8_e5m2fnuz.h>
#include <c10/util/Float8_e8m0fnu.h>
#include <c10/util/Half.h>

#include <catch2/catch.hpp>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

namespace {

using namespace c10;

// The value of a code: sign, exponent field, mantissa field, by the definition of the format.
double value_of(uint32_t code, int exponent_bits, int mantissa_bits, int bias) {
  const uint32_t mantissa = code & ((1u << mantissa_bits) - 1);
  const uint32_t exponent = (code >> mantissa_bits) & ((1u << exponent_bits) - 1);
  const bool negative = (code >> (exponent_bits + mantissa_bits)) & 1u;
  const double magnitude = exponent == 0
      ? std::ldexp(static_cast<double>(mantissa), 1 - bias - mantissa_bits)
      : std::ldexp(1.0 + std::ldexp(static_cast<double>(mantissa), -mantissa_bits), static_cast<int>(exponent) - bias);
  return negative ? -magnitude : magnitude;
}

template <class T>
struct Format;
template <>
struct Format<Half> {
  static constexpr int exponent = 5, mantissa = 10, bias = 15;
  static constexpr uint32_t max_code = 0x7bff;
  static bool special(uint32_t code) {
    return (code & 0x7c00) == 0x7c00;
  }
};
template <>
struct Format<BFloat16> {
  static constexpr int exponent = 8, mantissa = 7, bias = 127;
  static constexpr uint32_t max_code = 0x7f7f;
  static bool special(uint32_t code) {
    return (code & 0x7f80) == 0x7f80;
  }
};
template <>
struct Format<Float8_e4m3fn> {
  static constexpr int exponent = 4, mantissa = 3, bias = 7;
  static constexpr uint32_t max_code = 0x7e;
  static bool special(uint32_t code) {
    return (code & 0x7f) == 0x7f;
  }
};
template <>
struct Format<Float8_e5m2> {
  static constexpr int exponent = 5, mantissa = 2, bias = 15;
  static constexpr uint32_t max_code = 0x7b;
  static bool special(uint32_t code) {
    return (code & 0x7c) == 0x7c;
  }
};
template <>
struct Format<Float8_e4m3fnuz> {
  static constexpr int exponent = 4, mantissa = 3, bias = 8;
  static constexpr uint32_t max_code = 0x7f;
  static bool special(uint32_t code) {
    return code == 0x80;
  }
};
template <>
struct Format<Float8_e5m2fnuz> {
  static constexpr int exponent = 5, mantissa = 2, bias = 16;
  static constexpr uint32_t max_code = 0x7f;
  static bool special(uint32_t code) {
    return code == 0x80;
  }
};

template <class T>
T from_code(uint32_t code) {
  return T(static_cast<decltype(T::x)>(code), T::from_bits());
}

template <class T>
constexpr uint32_t code_count() {
  return 1u << (8 * sizeof(T));
}

} // namespace

TEMPLATE_TEST_CASE(
    "every code of a reduced type has its value and survives float",
    "[c10][reduced_float]",
    Half,
    BFloat16,
    Float8_e4m3fn,
    Float8_e5m2,
    Float8_e4m3fnuz,
    Float8_e5m2fnuz) {
  using F = Format<TestType>;
  uint32_t wrong_value = 0, wrong_code = 0;
  for (uint32_t code = 0; code < code_count<TestType>(); ++code) {
    if (F::special(code)) {
      continue;
    }
    const float value = from_code<TestType>(code);
    wrong_value += static_cast<double>(value) != value_of(code, F::exponent, F::mantissa, F::bias);
    wrong_code += TestType(value).x != code;
  }
  CHECK(wrong_value == 0);
  CHECK(wrong_code == 0);
}

TEMPLATE_TEST_CASE(
    "floats round to the nearest number of a reduced type, ties to even",
    "[c10][reduced_float]",
    Half,
    BFloat16,
    Float8_e4m3fn,
    Float8_e5m2,
    Float8_e4m3fnuz,
    Float8_e5m2fnuz) {
  using F = Format<TestType>;
  uint32_t wrong = 0;
  // Between each pair of neighbours: just above the lower, just below, at, and just above the middle, just below the
  // upper.
  for (uint32_t code = 0; code < F::max_code; ++code) {
    const double low = value_of(code, F::exponent, F::mantissa, F::bias);
    const double high = value_of(code + 1, F::exponent, F::mantissa, F::bias);
    const auto middle = static_cast<float>((low + high) / 2);
    if (static_cast<double>(middle) != (low + high) / 2) {
      continue; // the subnormals of bfloat16 have no float between them
    }
    const uint32_t even = code % 2 == 0 ? code : code + 1;
    const float infinity = std::numeric_limits<float>::infinity();
    wrong += TestType(middle).x != even;
    wrong += TestType(std::nextafter(middle, 0.0f)).x != code;
    wrong += TestType(std::nextafter(middle, infinity)).x != code + 1;
    wrong += TestType(std::nextafter(static_cast<float>(low), infinity)).x != code;
    wrong += TestType(std::nextafter(static_cast<float>(high), 0.0f)).x != code + 1;
    if (even != 0) {
      const uint32_t sign = 1u << (F::exponent + F::mantissa);
      wrong += TestType(-middle).x != (even | sign);
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("reduced types overflow to infinity where they have one, else to NaN", "[c10][reduced_float]") {
  const float infinity = std::numeric_limits<float>::infinity();
  CHECK(static_cast<float>(Half(65504.0f)) == 65504.0f);
  CHECK(static_cast<float>(Half(65519.0f)) == 65504.0f);
  CHECK(static_cast<float>(Half(65520.0f)) == infinity);
  CHECK(static_cast<float>(Half(-1e30f)) == -infinity);
  CHECK(static_cast<float>(BFloat16(3.4e38f)) == infinity);
  CHECK(static_cast<float>(Float8_e5m2(57344.0f)) == 57344.0f);
  CHECK(static_cast<float>(Float8_e5m2(61440.0f)) == infinity);
  CHECK(static_cast<float>(Float8_e4m3fn(464.0f)) == 448.0f);
  CHECK(std::isnan(static_cast<float>(Float8_e4m3fn(465.0f))));
  CHECK(std::isnan(static_cast<float>(Float8_e4m3fn(infinity))));
  CHECK(Float8_e4m3fnuz(1e6f).x == 0x80);
  CHECK(Float8_e5m2fnuz(-infinity).x == 0x80);
}

TEMPLATE_TEST_CASE(
    "NaN stays NaN",
    "[c10][reduced_float]",
    Half,
    BFloat16,
    Float8_e4m3fn,
    Float8_e5m2,
    Float8_e4m3fnuz,
    Float8_e5m2fnuz,
    Float8_e8m0fnu) {
  for (const uint32_t bits : {0x7fc00000u, 0x7f800001u, 0xffc00000u, 0x7fffffffu}) {
    float nan;
    std::memcpy(&nan, &bits, sizeof(nan));
    CHECK(std::isnan(static_cast<float>(TestType(nan))));
  }
  CHECK(std::isnan(static_cast<float>(std::numeric_limits<TestType>::quiet_NaN())));
}

TEST_CASE("the unsigned-zero formats have no minus zero", "[c10][reduced_float]") {
  CHECK(Float8_e4m3fnuz(-0.0f).x == 0);
  CHECK(Float8_e5m2fnuz(-1e-20f).x == 0);
  CHECK(Half(-0.0f).x == 0x8000);
  CHECK(Float8_e4m3fn(-0.0f).x == 0x80);
}

TEST_CASE("random floats round like the double-precision reference", "[c10][reduced_float]") {
  std::mt19937 engine(1);
  uint32_t wrong = 0;
  for (int i = 0; i < 200000; ++i) {
    const auto bits = static_cast<uint32_t>(engine());
    float value;
    std::memcpy(&value, &bits, sizeof(value));
    if (!std::isfinite(value) || std::fabs(value) > 60000.0f) {
      continue;
    }
    // The spacing of halves around the value, then the nearest multiple of it.
    int exponent;
    std::frexp(value, &exponent);
    const double spacing = std::ldexp(1.0, std::max(exponent - 11, -24));
    const double expected = std::nearbyint(static_cast<double>(value) / spacing) * spacing;
    wrong += static_cast<double>(static_cast<float>(Half(value))) != expected;
  }
  CHECK(wrong == 0);
}

TEMPLATE_TEST_CASE(
    "numeric_limits name the right numbers",
    "[c10][reduced_float]",
    Half,
    BFloat16,
    Float8_e4m3fn,
    Float8_e5m2,
    Float8_e4m3fnuz,
    Float8_e5m2fnuz) {
  using F = Format<TestType>;
  using Limits = std::numeric_limits<TestType>;
  CHECK(Limits::max().x == F::max_code);
  CHECK(static_cast<float>(Limits::lowest()) == -static_cast<float>(Limits::max()));
  CHECK(static_cast<double>(static_cast<float>(Limits::min())) == std::ldexp(1.0, 1 - F::bias));
  CHECK(static_cast<double>(static_cast<float>(Limits::denorm_min())) == std::ldexp(1.0, 1 - F::bias - F::mantissa));
  CHECK(static_cast<double>(static_cast<float>(Limits::epsilon())) == std::ldexp(1.0, -F::mantissa));
  CHECK(Limits::digits == F::mantissa + 1);
  STATIC_REQUIRE(std::is_same_v<decltype(Limits::has_denorm), decltype(std::numeric_limits<float>::has_denorm)>);
  STATIC_REQUIRE(Limits::has_denorm == std::denorm_present);
  STATIC_REQUIRE(Limits::has_denorm_loss == std::numeric_limits<float>::has_denorm_loss);
}

TEST_CASE("arithmetic computes in float and rounds once", "[c10][reduced_float]") {
  CHECK(static_cast<float>(Half(2048.0f) + Half(1.0f)) == 2048.0f);
  CHECK(static_cast<float>(Half(2048.0f) + Half(3.0f)) == 2052.0f);
  CHECK(Half(2048.0f) + 1.0f == 2049.0f);
  CHECK(static_cast<float>(Half(3.0f) * 2) == 6.0f);
  CHECK(static_cast<float>(-BFloat16(1.5f)) == -1.5f);
  BFloat16 sum = 256.0f;
  sum += BFloat16(1.0f);
  CHECK(static_cast<float>(sum) == 256.0f);
  CHECK(Half(1.0f) < Half(2.0f));
  CHECK(std::sqrt(Half(4.0f)) == Half(2.0f));
}

TEST_CASE("nextafter steps through all halves", "[c10][reduced_float]") {
  Half value = std::numeric_limits<Half>::lowest();
  const Half top = std::numeric_limits<Half>::max();
  int steps = 0;
  while (value != top) {
    const Half next = std::nextafter(value, top);
    REQUIRE(static_cast<float>(next) > static_cast<float>(value));
    value = next;
    ++steps;
  }
  CHECK(steps == 2 * 0x7bff);
}

TEST_CASE("e8m0 holds the nearest power of two", "[c10][reduced_float]") {
  CHECK(static_cast<float>(Float8_e8m0fnu(1.0f)) == 1.0f);
  CHECK(static_cast<float>(Float8_e8m0fnu(1.4f)) == 1.0f);
  CHECK(static_cast<float>(Float8_e8m0fnu(1.6f)) == 2.0f);
  CHECK(static_cast<float>(Float8_e8m0fnu(0.25f)) == 0.25f);
  for (uint32_t code = 0; code < 255; ++code) {
    CHECK(Float8_e8m0fnu(static_cast<float>(from_code<Float8_e8m0fnu>(code))).x == code);
  }
}
