#include <csrc/llm/gguf/blocks.h>

#include <c10/util/Exception.h>
#include <c10/util/Half.h>

#include <array>
#include <cstring>

namespace torch::llm {

namespace {

float half_at(const uint8_t* bytes) {
  uint16_t bits = 0;
  std::memcpy(&bits, bytes, sizeof bits);
  return static_cast<float>(c10::Half(bits, c10::Half::from_bits()));
}

uint32_t word_at(const uint8_t* bytes) {
  uint32_t word = 0;
  std::memcpy(&word, bytes, sizeof word);
  return word;
}

void unpack_q8_0(const uint8_t* block, int8_t* codes, float* scales, float* /*offsets*/) {
  scales[0] = half_at(block);
  std::memcpy(codes, block + 2, 32);
}

/// Formats of 32 elements: a scale, perhaps a minimum, perhaps a word of fifth bits, 16 bytes of low and high halves.
template <bool kMinimum, bool kFifthBit>
void unpack_small(const uint8_t* block, int8_t* codes, float* scales, float* offsets) {
  scales[0] = half_at(block);
  if (kMinimum) {
    offsets[0] = half_at(block + 2);
  }
  const uint8_t* const after = block + (kMinimum ? 4 : 2);
  const uint32_t high = kFifthBit ? word_at(after) : 0;
  const uint8_t* const pairs = after + (kFifthBit ? 4 : 0);
  constexpr int kZero = kMinimum ? 0 : kFifthBit ? 16 : 8;
  for (size_t i = 0; i < 32; ++i) {
    const int low = i < 16 ? pairs[i] & 15 : pairs[i - 16] >> 4;
    const int code = low | static_cast<int>(high >> i & 1) << 4;
    codes[i] = static_cast<int8_t>(code - kZero);
  }
}

/// Scale and minimum of 6 bits each for 8 groups, in 12 bytes.
void unpack_group_scales(const uint8_t* block, float* scales, float* offsets) {
  const float scale = half_at(block), minimum = half_at(block + 2);
  const uint8_t* const packed = block + 4;
  for (size_t group = 0; group < 8; ++group) {
    const size_t i = group % 4;
    const int low = group < 4 ? packed[i] & 63 : (packed[8 + i] & 15) | (packed[i] >> 6 << 4);
    const int high = group < 4 ? packed[4 + i] & 63 : packed[8 + i] >> 4 | (packed[4 + i] >> 6 << 4);
    scales[group] = scale * static_cast<float>(low);
    offsets[group] = -(minimum * static_cast<float>(high));
  }
}

/// 256 elements in 8 groups; two groups share 32 bytes of low and high halves.
template <bool kFifthBit>
void unpack_grouped(const uint8_t* block, int8_t* codes, float* scales, float* offsets) {
  unpack_group_scales(block, scales, offsets);
  const uint8_t *const high = block + 16, *const pairs = block + (kFifthBit ? 48 : 16);
  for (size_t group = 0; group < 8; ++group) {
    for (size_t i = 0; i < 32; ++i) {
      const uint8_t pair = pairs[group / 2 * 32 + i];
      const int low = group % 2 == 0 ? pair & 15 : pair >> 4;
      codes[group * 32 + i] = static_cast<int8_t>(kFifthBit ? low | (high[i] >> group & 1) << 4 : low);
    }
  }
}

/// 256 elements in 16 groups with scales of 8 bits: 4 low bits in 128 bytes, 2 high bits in 64.
void unpack_q6_k(const uint8_t* block, int8_t* codes, float* scales, float* /*offsets*/) {
  const float scale = half_at(block + 208);
  for (size_t group = 0; group < 16; ++group) {
    scales[group] = scale * static_cast<float>(static_cast<int8_t>(block[192 + group]));
  }
  for (size_t i = 0; i < 256; ++i) {
    const size_t half = i / 128, quarter = i % 128 / 32, lane = i % 32;
    const uint8_t low = block[half * 64 + quarter % 2 * 32 + lane];
    const uint8_t high = block[128 + half * 32 + lane];
    const int code = (quarter < 2 ? low & 15 : low >> 4) | (high >> (2 * quarter) & 3) << 4;
    codes[i] = static_cast<int8_t>(code - 32);
  }
}

struct BlockFormat {
  GgufType type;
  const char* name;
  GgufBlock block;
  GgufCodeFormat codes;
  void (*unpack)(const uint8_t* block, int8_t* codes, float* scales, float* offsets);
};

constexpr GgufCodeFormat kPlain{0, 0, false};

constexpr BlockFormat kFormats[] = {
    {GgufType::F32, "F32", {1, 4}, kPlain, nullptr},
    {GgufType::F16, "F16", {1, 2}, kPlain, nullptr},
    {GgufType::BF16, "BF16", {1, 2}, kPlain, nullptr},
    {GgufType::Q4_0, "Q4_0", {32, 18}, {4, 32, false}, unpack_small<false, false>},
    {GgufType::Q4_1, "Q4_1", {32, 20}, {4, 32, true}, unpack_small<true, false>},
    {GgufType::Q5_0, "Q5_0", {32, 22}, {8, 32, false}, unpack_small<false, true>},
    {GgufType::Q5_1, "Q5_1", {32, 24}, {8, 32, true}, unpack_small<true, true>},
    {GgufType::Q8_0, "Q8_0", {32, 34}, {8, 32, false}, unpack_q8_0},
    {GgufType::Q4_K, "Q4_K", {256, 144}, {4, 32, true}, unpack_grouped<false>},
    {GgufType::Q5_K, "Q5_K", {256, 176}, {8, 32, true}, unpack_grouped<true>},
    {GgufType::Q6_K, "Q6_K", {256, 210}, {8, 16, false}, unpack_q6_k}};

const BlockFormat* find_format(GgufType type) {
  for (const BlockFormat& format : kFormats) {
    if (format.type == type) {
      return &format;
    }
  }
  return nullptr;
}

float plain_at(GgufType type, const uint8_t* element) {
  if (type == GgufType::F16) {
    return half_at(element);
  }
  float value = 0;
  if (type == GgufType::F32) {
    std::memcpy(&value, element, sizeof value);
  } else {
    const uint32_t bits = static_cast<uint32_t>(element[0]) << 16 | static_cast<uint32_t>(element[1]) << 24;
    std::memcpy(&value, &bits, sizeof bits);
  }
  return value;
}

constexpr size_t kMostElements = 256; // of a block

} // namespace

GgufBlock gguf_block(GgufType type) {
  const BlockFormat* const format = find_format(type);
  return format ? format->block : GgufBlock{0, 0};
}

GgufCodeFormat gguf_codes(GgufType type) {
  const BlockFormat* const format = find_format(type);
  return format ? format->codes : kPlain;
}

const char* gguf_type_name(GgufType type) {
  const BlockFormat* const format = find_format(type);
  return format ? format->name : "unknown";
}

void unpack_blocks(GgufType type, const uint8_t* blocks, size_t count, int8_t* codes, float* scales, float* offsets) {
  const BlockFormat* const format = find_format(type);
  TORCH_CHECK(format && format->unpack, "GGUF: type ", static_cast<uint32_t>(type), " is no format of blocks");
  const size_t groups = format->block.elements / format->codes.group;
  for (size_t i = 0; i < count; ++i) {
    format->unpack(
        blocks + i * format->block.bytes, codes + i * format->block.elements, scales + i * groups,
        format->codes.has_offsets ? offsets + i * groups : nullptr);
  }
}

void dequantize_blocks(GgufType type, const uint8_t* blocks, size_t count, float* out) {
  const BlockFormat* const format = find_format(type);
  TORCH_CHECK(format, "GGUF: tensors of type ", static_cast<uint32_t>(type), " are not supported");
  std::array<int8_t, kMostElements> codes;
  std::array<float, kMostElements / 16> scales, offsets{};
  for (size_t i = 0; i < count; ++i) {
    const uint8_t* const block = blocks + i * format->block.bytes;
    if (!format->unpack) {
      *out++ = plain_at(type, block);
      continue;
    }
    format->unpack(block, codes.data(), scales.data(), offsets.data());
    for (size_t element = 0; element < format->block.elements; ++element) {
      const size_t group = element / format->codes.group;
      // Two roundings, as the formats' own code has them.
      const float scaled = scales[group] * static_cast<float>(codes[element]);
      *out++ = format->codes.has_offsets ? scaled + offsets[group] : scaled;
    }
  }
}

} // namespace torch::llm
