// Random numbers that are functions of a key, for the host and for kernels: a key says seed and offset of a Philox
// 4x32-10 stream (Salmon et al., Parallel random numbers: as easy as 1, 2, 3, 2011), whose block n are the four words
// of counter offset + n.
#pragma once

#include <aten/core/OpMathType.h>
#include <aten/core/PhiloxRNGEngine.h>
#include <c10/macros/Macros.h>
#include <c10/util/TypeCast.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace at::native {

struct PhiloxBlock {
  std::uint32_t words[4];
  HOST_DEVICE std::uint32_t operator[](int i) const {
    return words[i];
  }
};

/// The words of block number `place`.
HOST_DEVICE inline PhiloxBlock philox_block(std::uint64_t seed, std::uint64_t place) {
  const std::uint32_t count[4] = {static_cast<std::uint32_t>(place), static_cast<std::uint32_t>(place >> 32), 0, 0};
  PhiloxBlock block;
  at::detail::philox_block(seed, count, block.words);
  return block;
}

/// The key of 128 bits that stands `number` blocks after another.
HOST_DEVICE inline void derive_philox_key(const std::uint64_t* key, std::uint64_t number, std::uint64_t* to) {
  const PhiloxBlock block = philox_block(key[0], key[1] + number);
  to[0] = std::uint64_t{block[1]} << 32 | block[0];
  to[1] = std::uint64_t{block[3]} << 32 | block[2];
}

/// 64-bit types take two words of a block for an element, all others one.
template <class T>
inline constexpr int kPhiloxElements = sizeof(T) == 8 ? 2 : 4;
template <class T>
using PhiloxWord = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;

template <class T>
HOST_DEVICE PhiloxWord<T> philox_word(const PhiloxBlock& block, int i) {
  if constexpr (sizeof(T) == 8) {
    return std::uint64_t{block[2 * i]} << 32 | block[2 * i + 1];
  } else {
    return block[i];
  }
}

// What makes n elements, at most kPhiloxElements, of a block.

template <class T>
struct PhiloxUniform {
  using W = opmath_type<T>;
  HOST_DEVICE void operator()(const PhiloxBlock& block, T* to, int n) const {
    constexpr int kDigits = std::numeric_limits<T>::digits;
    for (int i = 0; i < n; ++i) {
      const auto word = philox_word<T>(block, i);
      const W unit =
          static_cast<W>(word & ((PhiloxWord<T>{1} << kDigits) - 1)) / static_cast<W>(std::uint64_t{1} << kDigits);
      to[i] = static_cast<T>(unit * width + from);
    }
  }
  W from, width;
};

/// By Box and Muller's method; pairs of words give pairs of numbers.
template <class T>
struct PhiloxNormal {
  using W = opmath_type<T>;
  HOST_DEVICE void operator()(const PhiloxBlock& block, T* to, int n) const {
    constexpr W kWord = static_cast<W>(sizeof(T) == 8 ? 0x1p-64 : 0x1p-32);
    for (int i = 0; i < n; i += 2) {
      // Above 0, so that it has a logarithm.
      const W first = (static_cast<W>(philox_word<T>(block, i)) + 1) * kWord;
      const W angle = static_cast<W>(philox_word<T>(block, i + 1)) * kWord * static_cast<W>(6.28318530717958647693);
      const W radius = std::sqrt(-2 * std::log(first));
      to[i] = static_cast<T>(radius * std::cos(angle) * deviation + mean);
      if (i + 1 < n) {
        to[i + 1] = static_cast<T>(radius * std::sin(angle) * deviation + mean);
      }
    }
  }
  W mean, deviation;
};

/// from + word % range, or with `whole` the word's bits as they are.
template <class T>
struct PhiloxRandint {
  HOST_DEVICE void operator()(const PhiloxBlock& block, T* to, int n) const {
    for (int i = 0; i < n; ++i) {
      const PhiloxWord<T> word = philox_word<T>(block, i);
      to[i] = static_cast<T>(whole ? word : static_cast<PhiloxWord<T>>(word % range + from));
    }
  }
  PhiloxWord<T> range, from;
  bool whole;
};

} // namespace at::native
