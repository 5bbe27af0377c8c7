#include <csrc/utils/crc32.h>

#include <array>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

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

#if defined(__x86_64__)
constexpr size_t kFolded = 64;

// Adds to the rest of `high * x^distance` what follows; `powers` are the remainders of x^distance that its halves take.
[[gnu::target("pclmul,sse4.1")]] inline __m128i fold(__m128i high, __m128i powers, __m128i low) {
  return _mm_xor_si128(
      _mm_xor_si128(_mm_clmulepi64_si128(high, powers, 0x00), _mm_clmulepi64_si128(high, powers, 0x11)), low);
}

// Products of polynomials without carries take 64 bytes at a time; `size` is a multiple of 16 and at least 64. The
// numbers are remainders of powers of x modulo the polynomial, bits reversed.
[[gnu::target("pclmul,sse4.1")]] uint32_t crc32_by_products(const uint8_t* bytes, size_t size, uint32_t crc) {
  const auto load = [](const uint8_t* from) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from)); };
  __m128i parts[4] = {load(bytes), load(bytes + 16), load(bytes + 32), load(bytes + 48)};
  parts[0] = _mm_xor_si128(parts[0], _mm_cvtsi32_si128(static_cast<int>(crc)));
  const __m128i by_512 = _mm_set_epi64x(0x01c6e41596, 0x0154442bd4);
  for (bytes += kFolded, size -= kFolded; size >= kFolded; bytes += kFolded, size -= kFolded) {
    for (int i = 0; i < 4; ++i) {
      parts[i] = fold(parts[i], by_512, load(bytes + 16 * i));
    }
  }
  const __m128i by_128 = _mm_set_epi64x(0x00ccaa009e, 0x01751997d0);
  __m128i rest = fold(fold(fold(parts[0], by_128, parts[1]), by_128, parts[2]), by_128, parts[3]);
  for (; size >= 16; bytes += 16, size -= 16) {
    rest = fold(rest, by_128, load(bytes));
  }
  // From 128 bits to 64, then to 32 by Barrett's division.
  const __m128i low_words = _mm_setr_epi32(~0, 0, ~0, 0);
  rest = _mm_xor_si128(_mm_srli_si128(rest, 8), _mm_clmulepi64_si128(rest, by_128, 0x10));
  const __m128i by_64 = _mm_set_epi64x(0, 0x0163cd6124);
  rest = _mm_xor_si128(_mm_srli_si128(rest, 4), _mm_clmulepi64_si128(_mm_and_si128(rest, low_words), by_64, 0x00));
  const __m128i polynomial = _mm_set_epi64x(0x01f7011641, 0x01db710641);
  __m128i quotient = _mm_clmulepi64_si128(_mm_and_si128(rest, low_words), polynomial, 0x10);
  quotient = _mm_clmulepi64_si128(_mm_and_si128(quotient, low_words), polynomial, 0x00);
  return static_cast<uint32_t>(_mm_extract_epi32(_mm_xor_si128(rest, quotient), 1));
}
#endif

} // namespace

uint32_t crc32(const void* data, size_t size, uint32_t crc) {
#if defined(__x86_64__)
  static const bool has_products = __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("sse4.1");
  if (has_products && size >= kFolded) {
    const size_t folded = size / 16 * 16;
    crc = ~crc32_by_products(static_cast<const uint8_t*>(data), folded, ~crc);
    return check<0xEDB88320>(static_cast<const uint8_t*>(data) + folded, size - folded, crc);
  }
#endif
  return check<0xEDB88320>(data, size, crc);
}

uint32_t crc32c(const void* data, size_t size) {
  return check<0x82F63B78>(data, size, 0);
}

} // namespace torch::utils
