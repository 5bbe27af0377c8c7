#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace c10::impl {

/// The hash of an operator's name in OperatorNameTable; the compiler works it out for the library's own operators.
class OperatorNameHash {
 public:
  static constexpr uint32_t of(std::string_view name, std::string_view overload_name) {
    const uint64_t h = mix(mix(name.size(), name), overload_name);
    return static_cast<uint32_t>(h ^ (h >> 32));
  }

 private:
  // Compiles to one load.
  template <size_t bytes>
  static constexpr uint64_t word_at(const char* at) {
    uint64_t word = 0;
    for (size_t i = 0; i < bytes; ++i) {
      word |= uint64_t{static_cast<unsigned char>(at[i])} << (8 * i);
    }
    return word;
  }
  static constexpr uint64_t add(uint64_t h, uint64_t word) {
    h = (h ^ word) * 0x9e3779b97f4a7c15ULL;
    return h ^ (h >> 29);
  }
  // Eight characters at a time.
  static constexpr uint64_t mix(uint64_t h, std::string_view text) {
    const char* p = text.data();
    const char* const end = p + text.size();
    uint64_t rest = 0;
    if (text.size() >= 8) {
      for (; end - p > 8; p += 8) {
        h = add(h, word_at<8>(p));
      }
      rest = word_at<8>(end - 8); // may overlap the one before
    } else if (text.size() >= 4) {
      rest = word_at<4>(p) << 32 | word_at<4>(end - 4); // the same
    } else {
      while (p != end) {
        rest = (rest << 8) | static_cast<unsigned char>(*p++);
      }
    }
    return add(h, rest);
  }
};

} // namespace c10::impl
