#include <c10/core/Scalar.h>

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>
#include <stdexcept>

using namespace c10;
using Catch::Matchers::Contains;

TEST_CASE("a Scalar remembers the kind of number it was made from", "[c10][scalar]") {
  CHECK(Scalar(3).type() == kLong);
  CHECK(Scalar(int8_t{-3}).type() == kLong);
  CHECK(Scalar(2.5f).type() == kDouble);
  CHECK(Scalar(Half(2.5f)).isFloatingPoint());
  CHECK(Scalar(true).type() == kBool);
  CHECK(Scalar(complex<float>(1, 2)).type() == kComplexDouble);
  CHECK(Scalar(uint64_t{5}).type() == kLong);
  CHECK(Scalar(std::numeric_limits<uint64_t>::max()).type() == kUInt64);
  CHECK(Scalar(size_t{7}).toLong() == 7);
  CHECK(Scalar(7LL).toLong() == 7);
  CHECK(Scalar().toLong() == 0);
  CHECK(Scalar(true).isIntegral(/*includeBool=*/true));
  CHECK_FALSE(Scalar(true).isIntegral(/*includeBool=*/false));
}

TEST_CASE("numbers convert when they fit", "[c10][scalar]") {
  CHECK(Scalar(3).to<double>() == 3.0);
  CHECK(Scalar(2.75).to<int>() == 2);
  CHECK(Scalar(-0.5).to<uint8_t>() == 0);
  CHECK(Scalar(2.5).toHalf() == Half(2.5f));
  CHECK(Scalar(2.5).toBool());
  CHECK(Scalar(true).toDouble() == 1.0);
  CHECK(Scalar(complex<double>(2, 0)).toLong() == 2);
  CHECK(Scalar(complex<double>(0, 1)).toBool());
  CHECK(Scalar(3).toComplexFloat() == complex<float>(3, 0));
  CHECK(Scalar(-1).toByte() == 255);
  CHECK(std::isinf(Scalar(std::numeric_limits<double>::infinity()).toFloat()));
  CHECK(std::isnan(Scalar(std::numeric_limits<double>::quiet_NaN()).toHalf()));
  CHECK(Scalar(std::numeric_limits<uint64_t>::max()).toUInt64() == std::numeric_limits<uint64_t>::max());
}

TEST_CASE("numbers that do not fit throw", "[c10][scalar]") {
  CHECK_THROWS_WITH(Scalar(300).toByte(), Contains("value cannot be converted to type uint8_t without overflow"));
  CHECK_THROWS_AS(Scalar(-300).toByte(), std::runtime_error);
  CHECK_THROWS_AS(Scalar(128).toChar(), std::runtime_error);
  CHECK_THROWS_AS(Scalar(int64_t{1} << 40).toInt(), std::runtime_error);
  CHECK_THROWS_WITH(Scalar(1e300).toFloat(), Contains("type float without overflow"));
  CHECK_THROWS_WITH(Scalar(70000).toHalf(), "value cannot be converted to type c10::Half without overflow");
  CHECK_THROWS_WITH(Scalar(complex<double>(1, 2)).toDouble(), Contains("type double without overflow"));
  CHECK_THROWS_AS(Scalar(std::numeric_limits<double>::quiet_NaN()).toLong(), std::runtime_error);
  CHECK_THROWS_AS(Scalar(std::numeric_limits<double>::infinity()).toInt(), std::runtime_error);
  CHECK_THROWS_AS(Scalar(9223372036854775808.0).toLong(), std::runtime_error);
  CHECK(Scalar(-9223372036854775808.0).toLong() == INT64_MIN);
  CHECK_THROWS_AS(Scalar(std::numeric_limits<uint64_t>::max()).toLong(), std::runtime_error);
}

TEST_CASE("equal compares values, and bools only with bools", "[c10][scalar]") {
  CHECK(Scalar(1).equal(1.0));
  CHECK(Scalar(1.0).equal(1));
  CHECK(Scalar(complex<double>(1, 0)).equal(1));
  CHECK(Scalar(1).equal(complex<float>(1, 0)));
  CHECK_FALSE(Scalar(1.5).equal(1));
  CHECK(Scalar(true).equal(true));
  CHECK_FALSE(Scalar(true).equal(1));
  CHECK_FALSE(Scalar(1).equal(true));
  CHECK_FALSE(Scalar(-1).equal(uint64_t(-1)));
  CHECK_FALSE(Scalar(1e300).equal(1));
}

TEST_CASE("negation, conjugate and logarithm", "[c10][scalar]") {
  CHECK((-Scalar(3)).toLong() == -3);
  CHECK((-Scalar(2.5)).toDouble() == -2.5);
  CHECK((-Scalar(INT64_MIN)).toLong() == INT64_MIN);
  CHECK_THROWS_WITH(-Scalar(true), Contains("torch boolean negative, the `-` operator, is not supported."));
  CHECK(Scalar(complex<double>(1, 2)).conj().toComplexDouble() == complex<double>(1, -2));
  CHECK(Scalar(2).conj().toLong() == 2);
  CHECK(Scalar(1).log().toDouble() == 0.0);
}

TEST_CASE("scalars print as numbers", "[c10][scalar]") {
  CHECK(str(Scalar(3), ' ', Scalar(2.5), ' ', Scalar(true), ' ', Scalar(complex<double>(1, 2))) == "3 2.5 true (1,2)");
}

TEST_CASE("a Scalar carries a SymInt", "[c10][scalar]") {
  const Scalar plain(SymInt(5));
  CHECK_FALSE(plain.isSymbolic());
  CHECK(plain.toLong() == 5);
  CHECK(plain.toSymInt() == SymInt(5));
  const Scalar big(SymInt(INT64_MIN + 1)); // too negative for the inline form of SymInt
  CHECK(big.toLong() == INT64_MIN + 1);
  const Scalar copy = big;
  CHECK(copy.toSymInt().guard_int(__FILE__, __LINE__) == INT64_MIN + 1);
}
