// Sorting by keys: every element becomes an unsigned integer whose order is the order wanted, so that one set of
// integer sorts serves all dtypes. NaN is the largest value and all NaNs are equal, -0.0 equals 0.0; a descending order
// is the complement of the key, which keeps equal elements in their first order (a stable sort both ways).
//
// Keys of up to 32 bits are packed with the index into one 64-bit word: comparing words then breaks ties by index, and
// any sort of them is stable.
#pragma once

#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <type_traits>
#include <vector>

namespace at::native::sorting {

template <class T>
constexpr bool is_float_like =
    std::is_floating_point_v<T> || std::is_same_v<T, c10::Half> || std::is_same_v<T, c10::BFloat16>;

template <size_t Bytes>
using UnsignedOf = std::conditional_t<
    Bytes == 1,
    uint8_t,
    std::conditional_t<Bytes == 2, uint16_t, std::conditional_t<Bytes == 4, uint32_t, uint64_t>>>;

template <class T>
using Key = UnsignedOf<sizeof(T)>;

/// The ascending key of a value.
template <class T>
inline Key<T> key_of(T value) {
  using K = Key<T>;
  constexpr K kTop = static_cast<K>(K{1} << (8 * sizeof(K) - 1));
  K bits;
  std::memcpy(&bits, &value, sizeof(K));
  if constexpr (is_float_like<T>) {
    constexpr int kMantissa = std::is_same_v<T, c10::Half> ? 10
        : std::is_same_v<T, c10::BFloat16>                 ? 7
        : sizeof(T) == 4                                   ? 23
                                                           : 52;
    constexpr K kInfinity = static_cast<K>(static_cast<K>(kTop - 1) & ~static_cast<K>((K{1} << kMantissa) - 1));
    // Without a branch, which random signs would make miss: all bits of negative numbers are flipped, the sign of
    // others.
    const K magnitude = static_cast<K>(bits & static_cast<K>(~kTop));
    const K flips = static_cast<K>(static_cast<K>(-static_cast<K>(bits >> (8 * sizeof(K) - 1))) | kTop);
    const K number = magnitude == 0 ? kTop : static_cast<K>(bits ^ flips);
    return magnitude > kInfinity ? static_cast<K>(~K{0}) : number;
  } else if constexpr (std::is_signed_v<T>) {
    return static_cast<K>(bits ^ kTop);
  } else {
    return bits;
  }
}

/// The value of an integer's key.
template <class T>
inline T value_of(Key<T> key) {
  static_assert(std::is_integral_v<T>);
  return static_cast<T>(
      std::is_signed_v<T> ? static_cast<Key<T>>(key ^ static_cast<Key<T>>(Key<T>{1} << (8 * sizeof(T) - 1))) : key);
}

/// Whether the key stands for NaN.
template <class T>
inline bool is_nan_key(Key<T> key) {
  return is_float_like<T> && key == static_cast<Key<T>>(~Key<T>{0});
}

/// A key with its index in the row. Ordered by key, then by index.
template <class T, bool Packs = (sizeof(T) <= 4)>
class Entry {
 public:
  Entry() = default;
  Entry(Key<T> key, int64_t index) : word_(static_cast<uint64_t>(key) << 32 | static_cast<uint32_t>(index)) {}
  Key<T> key() const {
    return static_cast<Key<T>>(word_ >> 32);
  }
  int64_t index() const {
    return static_cast<int64_t>(static_cast<uint32_t>(word_));
  }
  friend bool operator<(Entry a, Entry b) {
    return a.word_ < b.word_;
  }

 private:
  uint64_t word_;
};

template <class T>
class Entry<T, false> {
 public:
  Entry() = default;
  Entry(Key<T> key, int64_t index) : key_(key), index_(index) {}
  Key<T> key() const {
    return key_;
  }
  int64_t index() const {
    return index_;
  }
  friend bool operator<(const Entry& a, const Entry& b) {
    return a.key_ != b.key_ ? a.key_ < b.key_ : a.index_ < b.index_;
  }

 private:
  Key<T> key_;
  int64_t index_;
};

/// Longest row whose indices fit an Entry<T>.
template <class T>
constexpr int64_t kLongestRow = sizeof(T) <= 4 ? (int64_t{1} << 32) - 1 : INT64_MAX;

/// Fills `entries` with a row's keys; `flip` complements them for a descending order.
template <class T>
void load_entries(const T* row, int64_t count, int64_t stride, bool flip, Entry<T>* entries) {
  const Key<T> mask = flip ? static_cast<Key<T>>(~Key<T>{0}) : Key<T>{0};
  for (int64_t i = 0; i < count; ++i) {
    entries[i] = Entry<T>(static_cast<Key<T>>(key_of(row[i * stride]) ^ mask), i);
  }
}

/// Least significant digit first, `digits` of 8 bits of key(entry), skipping those that are the same everywhere.
/// Stable.
template <class E, class KeyFunction>
void radix_sort(E* entries, int64_t count, E* scratch, int digits, const KeyFunction& key) {
  E* from = entries;
  E* to = scratch;
  for (int d = 0; d < digits; ++d) {
    const auto digit = [&key, d](const E& e) { return static_cast<uint8_t>(key(e) >> (8 * d)); };
    std::array<int64_t, 256> places{};
    for (int64_t i = 0; i < count; ++i) {
      ++places[digit(from[i])];
    }
    if (places[digit(from[0])] == count) {
      continue;
    }
    int64_t sum = 0;
    for (auto& place : places) {
      const int64_t here = place;
      place = sum;
      sum += here;
    }
    for (int64_t i = 0; i < count; ++i) {
      to[places[digit(from[i])]++] = from[i];
    }
    std::swap(from, to);
  }
  if (from != entries) {
    std::copy(from, from + count, entries);
  }
}

/// Entries from which a radix sort is worth its tables.
constexpr int64_t radix_from(int digits) {
  return 64 * static_cast<int64_t>(digits);
}

/// Sorts entries; `scratch` has room for as many.
template <class T>
void sort_entries(Entry<T>* entries, int64_t count, Entry<T>* scratch) {
  constexpr int kDigits = static_cast<int>(sizeof(Key<T>));
  if (count >= radix_from(kDigits)) {
    radix_sort(entries, count, scratch, kDigits, [](const Entry<T>& e) { return e.key(); });
  } else {
    std::sort(entries, entries + count);
  }
}

/// Keys of 64 bits beside their places in one word: those of a row mostly lie in a range that leaves room for it.
struct WordPacking {
  uint64_t least;
  int key_bits;
  int index_bits;

  uint64_t word(uint64_t key, int64_t index) const {
    return (key - least) << index_bits | static_cast<uint64_t>(index);
  }
  uint64_t key(uint64_t word) const {
    return (word >> index_bits) + least;
  }
  int64_t index(uint64_t word) const {
    return static_cast<int64_t>(word & ((uint64_t{1} << index_bits) - 1));
  }
};

/// How the keys of a row, xored with `mask`, fit into words; nothing where they do not.
template <class T>
std::optional<WordPacking> pack_words(const T* row, int64_t count, int64_t stride, uint64_t mask) {
  uint64_t least = ~uint64_t{0};
  uint64_t largest = 0;
  for (int64_t i = 0; i < count; ++i) {
    const uint64_t key = key_of(row[i * stride]) ^ mask;
    least = std::min(least, key);
    largest = std::max(largest, key);
  }
  const int key_bits = std::bit_width(largest - least);
  const int index_bits = std::bit_width(static_cast<uint64_t>(count - 1));
  return key_bits + index_bits <= 64 ? std::optional(WordPacking{least, key_bits, index_bits}) : std::nullopt;
}

inline void sort_words(uint64_t* words, int64_t count, uint64_t* scratch, const WordPacking& packing) {
  const int digits = (packing.key_bits + 7) / 8;
  if (count >= radix_from(digits)) {
    radix_sort(words, count, scratch, digits, [shift = packing.index_bits](uint64_t word) { return word >> shift; });
  } else {
    std::sort(words, words + count);
  }
}

} // namespace at::native::sorting
