// Strings with numbers, looked up by hash.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace torch::llm {

/// A hash of bytes, eight at a time (the mixing step of MurmurHash2).
inline uint64_t hash_bytes(std::string_view text) {
  constexpr uint64_t kFactor = 0xc6a4a7935bd1e995;
  uint64_t hash = text.size() * kFactor;
  const auto mix = [&hash](uint64_t word) {
    word *= kFactor;
    word ^= word >> 47;
    hash = (hash ^ (word * kFactor)) * kFactor;
  };
  size_t i = 0;
  for (; i + 8 <= text.size(); i += 8) {
    uint64_t word = 0;
    std::memcpy(&word, text.data() + i, 8);
    mix(word);
  }
  if (i < text.size()) {
    uint64_t word = 0;
    std::memcpy(&word, text.data() + i, text.size() - i);
    mix(word);
  }
  return hash ^ hash >> 29;
}

/// Maps strings to numbers from 0 to 2^31 - 1. Looking up from several threads is safe.
class StringTable {
 public:
  static constexpr int32_t kNone = -1;

  /// The number of a string; kNone when it has none.
  int32_t find(std::string_view key) const;
  /// Gives the string a number, or another one.
  void set(std::string_view key, int32_t number);
  size_t size() const {
    return entries_.size();
  }
  /// Calls visit(key, number), in the order of insertion.
  template <class Visit>
  void for_each(Visit&& visit) const {
    for (const Entry& entry : entries_) {
      visit(std::string_view(bytes_).substr(entry.offset, entry.length), entry.number);
    }
  }

 private:
  struct Entry {
    uint64_t hash;
    size_t offset;
    uint32_t length;
    int32_t number;
  };
  size_t slot_of(std::string_view key, uint64_t hash) const;
  void grow();

  std::string bytes_;
  std::vector<Entry> entries_;
  std::vector<int32_t> slots_; // indices of entries, kNone where free; a power of two, at most half full
};

} // namespace torch::llm
