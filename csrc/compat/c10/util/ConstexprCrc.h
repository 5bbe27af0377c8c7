#pragma once

#include <csrc/compat/c10/util/IdWrapper.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace c10::util {

namespace detail {

// What each byte adds to the remainder, for the polynomial of Jones with its bits reversed.
constexpr std::array<uint64_t, 256> make_crc64_table() {
  constexpr uint64_t polynomial = 0x95ac9329ac4bc9b5;
  std::array<uint64_t, 256> table{};
  for (uint64_t byte = 0; byte < table.size(); ++byte) {
    uint64_t rest = byte;
    for (int bit = 0; bit < 8; ++bit) {
      rest = (rest >> 1) ^ ((rest & 1) != 0 ? polynomial : 0);
    }
    table[byte] = rest;
  }
  return table;
}
inline constexpr std::array<uint64_t, 256> crc64_table = make_crc64_table();

} // namespace detail

struct crc64_t final : IdWrapper<crc64_t, uint64_t> {
  constexpr crc64_t(uint64_t checksum) : IdWrapper(checksum) {}
  constexpr uint64_t checksum() const {
    return this->underlyingId();
  }
};

/// CRC-64 of Jones with initial value 0: a hash that the compiler computes.
constexpr crc64_t crc64(const char* str, size_t size) {
  uint64_t rest = 0;
  for (size_t i = 0; i < size; ++i) {
    rest = detail::crc64_table[(rest ^ static_cast<unsigned char>(str[i])) & 0xff] ^ (rest >> 8);
  }
  return crc64_t(rest);
}
constexpr crc64_t crc64(std::string_view str) {
  return crc64(str.data(), str.size());
}

} // namespace c10::util

C10_DEFINE_HASH_FOR_IDWRAPPER(c10::util::crc64_t)
