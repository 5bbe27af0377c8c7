// Philox4x32, a random generator that counts: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3"
// (2011).
#pragma once

#include <c10/macros/Macros.h>

#include <array>
#include <cmath>
#include <cstdint>

namespace at {

namespace detail {

/// The four words that a seed gives for a count of 128 bits, lowest word first.
C10_HOST_DEVICE inline void philox_block(
    uint64_t seed, const uint32_t (&count)[4], uint32_t (&words)[4], int32_t n_rounds = 10) {
  uint32_t c0 = count[0], c1 = count[1], c2 = count[2], c3 = count[3];
  uint32_t k0 = static_cast<uint32_t>(seed), k1 = static_cast<uint32_t>(seed >> 32);
  for (int32_t round = 0; round < n_rounds; ++round) {
    const uint64_t a = uint64_t{0xD2511F53} * c0, b = uint64_t{0xCD9E8D57} * c2;
    c0 = static_cast<uint32_t>(b >> 32) ^ c1 ^ k0;
    c2 = static_cast<uint32_t>(a >> 32) ^ c3 ^ k1;
    c1 = static_cast<uint32_t>(b);
    c3 = static_cast<uint32_t>(a);
    k0 += 0x9E3779B9;
    k1 += 0xBB67AE85;
  }
  words[0] = c0;
  words[1] = c1;
  words[2] = c2;
  words[3] = c3;
}

} // namespace detail

/// Number i of a subsequence depends on the seed, the subsequence and i alone. Four numbers come from each count.
class philox_engine {
 public:
  C10_HOST_DEVICE explicit philox_engine(
      uint64_t seed = 67280421310721, uint64_t subsequence = 0, uint64_t offset = 0) {
    reset_state(seed, subsequence);
    incr_n(offset);
  }

  C10_HOST_DEVICE void reset_state(uint64_t seed = 67280421310721, uint64_t subsequence = 0) {
    seed_ = seed;
    offset_ = 0;
    subsequence_ = subsequence;
    used_ = 0;
  }

  /// The count, which is a quarter of the numbers drawn.
  C10_HOST_DEVICE void set_offset(uint64_t offset) {
    offset_ = offset;
  }
  C10_HOST_DEVICE uint64_t get_offset() const {
    return offset_;
  }

  /// 32 random bits.
  C10_HOST_DEVICE uint32_t operator()(int32_t n_rounds = 10) {
    if (used_ == 0) {
      refill(n_rounds);
    }
    const uint32_t result = output_[used_];
    used_ = (used_ + 1) & 3;
    return result;
  }

  /// A normal number by Box and Muller's method, from the first two numbers of the present count.
  float randn(uint32_t n_rounds) {
    if (used_ == 0) {
      refill(static_cast<int32_t>(n_rounds));
    }
    constexpr double kTwoPi = 6.283185307179586476925;
    const float u1 = 1 - uniform(output_[0]), u2 = 1 - uniform(output_[1]);
    return static_cast<float>(std::sqrt(-2.0 * std::log(u1)) * std::cos(kTwoPi * u2));
  }

  /// Skips 4 * n numbers; the count runs over into the subsequence.
  C10_HOST_DEVICE void incr_n(uint64_t n) {
    offset_ += n;
    subsequence_ += offset_ < n ? 1 : 0;
  }
  C10_HOST_DEVICE void incr() {
    incr_n(1);
  }

 private:
  C10_HOST_DEVICE static float uniform(uint32_t bits) {
    return static_cast<float>(bits & 0x7FFFFFFF) * 4.6566127342e-10f;
  }

  C10_HOST_DEVICE void refill(int32_t n_rounds) {
    const uint32_t count[4] = {
        static_cast<uint32_t>(offset_), static_cast<uint32_t>(offset_ >> 32), static_cast<uint32_t>(subsequence_),
        static_cast<uint32_t>(subsequence_ >> 32)};
    detail::philox_block(seed_, count, output_, n_rounds);
    incr();
  }

  uint64_t seed_, offset_, subsequence_;
  uint32_t output_[4];
  uint32_t used_;
};

using Philox4_32 = philox_engine;

} // namespace at
