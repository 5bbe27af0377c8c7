#include <csrc/utils/crc32.h>

#include <array>
#include <cstring>

namespace torch::utils {

namespace {

constexpr size_t kSlices = 16;

// tables[k][b]: what byte b contributes when k more bytes follow it. Sixteen bytes are then sixteen independent
// look-ups.
using Tables = std::array<std::array<uint32_t, 256>, kSlices>;

constexpr Tables make_tables(uint32_t polynomial) {
  Tables tables{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) {
      crc = (crc >> 1) ^ ((crc & 1) ? polynomial : 0);
    }
    tables[0][byte] = crc;
  }
  for (size_t slice = 1; slice < kSlices; ++slice) {
    for (size_t byte = 0; byte < 256; ++byte) {
      const uint32_t before = tables[slice - 1][byte];
      tables[slice][byte] = (before >> 8) ^ tables[0][before & 0xff];
    }
  }
  return tables;
}

template <uint32_t kReversedPolynomial>
uint32_t check(const void* data, size_t size, uint32_t crc) {
  static constexpr Tables kTables = make_tables(kReversedPolynomial);
  const auto* bytes = static_cast<const uint8_t*>(data);
  crc = ~crc;
  for (; size >= kSlices; size -= kSlices, bytes += kSlices) {
    uint8_t block[kSlices];
    std::memcpy(block, bytes, kSlices);
    for (int i = 0; i < 4; ++i) {
      block[i] ^= static_cast<uint8_t>(crc >> (8 * i));
    }
    crc = 0;
    for (size_t i = 0; i < kSlices; ++i) {
      crc ^= kTables[kSlices - 1 - i][block[i]];
    }
  }
  for (; size > 0; --size, ++bytes) {
    crc = (crc >> 8) ^ kTables[0][(crc ^ *bytes) & 0xff];
  }
  return ~crc;
}

} // namespace

uint32_t crc32(const void* data, size_t size, uint32_t crc) {
  return check<0xEDB88320>(data, size, crc);
}

uint32_t crc32c(const void* data, size_t size) {
  return check<0x82F63B78>(data, size, 0);
}

} // namespace torch::utils
