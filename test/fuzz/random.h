// Random choices that a seed and a case number repeat on every machine.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fuzz {

/// splitmix64.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  Random(uint64_t seed, uint64_t index) : state_(Random(seed * 0x9E3779B97F4A7C15ULL + index).next()) {}

  uint64_t next() {
    uint64_t z = state_ += 0x9E3779B97F4A7C15ULL;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
  }
  /// 0 <= result < n, and 0 for n = 0.
  size_t below(size_t n) {
    return n == 0 ? 0 : next() % n;
  }
  /// Both ends included.
  int64_t between(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(below(static_cast<size_t>(high - low + 1)));
  }
  bool chance(double percent) {
    return static_cast<double>(next() >> 11) * 0x1p-53 * 100 < percent;
  }
  double uniform(double low, double high) {
    return low + static_cast<double>(next() >> 11) * 0x1p-53 * (high - low);
  }
  template <class List>
  const auto& pick(const List& list) {
    return list[below(std::size(list))];
  }

 private:
  uint64_t state_;
};

} // namespace fuzz
