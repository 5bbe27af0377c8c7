// Makers of tensors for tests: from a function of the position, or random from a printed seed.
#pragma once

#include <ATen/core/Tensor.h>

#include <complex>
#include <cstdint>
#include <functional>
#include <random>
#include <vector>

namespace test {

/// A contiguous CPU tensor whose element at row-major position i is `value(i)`, rounded to `dtype`.
at::Tensor tensor_of(
    c10::ScalarType dtype,
    const std::vector<int64_t>& sizes,
    const std::function<std::complex<double>(int64_t)>& value);

/// The seed of all random test data: TENSOR_TEST_SEED, or 1. The first call prints it to stderr.
uint64_t seed();

/// Random numbers for tests; two objects made with the same stream number give the same ones.
class Random {
 public:
  explicit Random(uint64_t stream = 0) : engine_(seed() * 0x9E3779B97F4A7C15ULL + stream) {}

  double uniform(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(engine_);
  }
  /// Both ends included.
  int64_t integer(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(engine_);
  }

  /// Elements between `low` and `high`: whole numbers for integer dtypes (no negative ones for unsigned), 0 or 1 for
  /// bool, both parts of complex numbers.
  at::Tensor tensor(c10::ScalarType dtype, const std::vector<int64_t>& sizes, double low = -2, double high = 2);
  /// Elements with no two alike and none near another, in random order: safe for max, sort, median and the like.
  at::Tensor distinct(c10::ScalarType dtype, const std::vector<int64_t>& sizes);
  /// int64 elements in [0, bound).
  at::Tensor indices(const std::vector<int64_t>& sizes, int64_t bound);

 private:
  std::mt19937_64 engine_;
};

} // namespace test
