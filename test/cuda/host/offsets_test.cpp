// Index arithmetic of CUDA kernels, which is the same on the host.
#include <aten/native/cuda/OffsetCalculator.h>

#include <catch2/catch.hpp>

#include <cstdint>
#include <random>
#include <vector>

using at::native::cuda::FastDivider;
using at::native::cuda::OffsetCalculator;

TEST_CASE("FastDivider divides as the processor does", "[cuda]") {
  std::mt19937 random(1);
  std::vector<std::uint32_t> divisors = {1,        2, 3, 5, 7, 10, 255, 256, 257, 65535, 65536, 1u << 30, INT32_MAX - 1,
                                         INT32_MAX};
  for (int i = 0; i < 200; ++i) {
    divisors.push_back(1 + random() % INT32_MAX);
  }
  for (const std::uint32_t d : divisors) {
    const FastDivider divider(d);
    for (const std::uint32_t n : {0u, 1u, d - 1, d, d + 1, 2 * d - 1, 2 * d, std::uint32_t{INT32_MAX}}) {
      if (n <= INT32_MAX) {
        CHECK(divider.divide(n) == n / d);
      }
    }
    for (int i = 0; i < 200; ++i) {
      const std::uint32_t n = random() % INT32_MAX;
      REQUIRE(divider.divide(n) == n / d);
    }
  }
}

TEST_CASE("OffsetCalculator finds each element of each operand", "[cuda]") {
  const std::vector<std::int64_t> sizes = {3, 5, 2};
  const std::int64_t strides[3][2] = {{4, 0}, {12, 8}, {60, 1000}};
  const OffsetCalculator<2> places(3, sizes, [&](int dim, int operand) { return strides[dim][operand]; });
  std::uint32_t index = 0;
  for (std::uint32_t k = 0; k < 2; ++k) {
    for (std::uint32_t j = 0; j < 5; ++j) {
      for (std::uint32_t i = 0; i < 3; ++i, ++index) {
        const auto place = places.get(index);
        CHECK(place.of[0] == 4 * i + 12 * j + 60 * k);
        CHECK(place.of[1] == 8 * j + 1000 * k);
      }
    }
  }
}
