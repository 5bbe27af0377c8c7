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

void dequantize_f32(const uint8_t* block, float* out) {
  std::memcpy(out, block, sizeof(float));
}

void dequantize_f16(const uint8_t* block, float* out) {
  *out = half_at(block);
}

void dequantize_bf16(const uint8_t* block, float* out) {
  const uint32_t bits = static_cast<uint32_t>(block[0]) << 16 | static_cast<uint32_t>(block[1]) << 24;
  std::memcpy(out, &bits, sizeof bits);
}

void dequantize_q8_0(const uint8_t* block, float* out) {
  const float scale = half_at(block);
  for (size_t i = 0; i < 32; ++i) {
    out[i] = scale * static_cast<float>(static_cast<int8_t>(block[2 + i]));
  }
}

/// Formats of 32 elements: a scale, perhaps a minimum, perhaps a word of fifth bits, 16 bytes of low and high halves.
template <bool kMinimum, bool kFifthBit>
void dequantize_small(const uint8_t* block, float* out) {
  const float scale = half_at(block), minimum = kMinimum ? half_at(block + 2) : 0;
  const uint8_t* const after = block + (kMinimum ? 4 : 2);
  const uint32_t high = kFifthBit ? word_at(after) : 0;
  const uint8_t* const codes = after + (kFifthBit ? 4 : 0);
  constexpr int kOffset = kMinimum ? 0 : kFifthBit ? 16 : 8;
  for (size_t i = 0; i < 32; ++i) {
    const int low = i < 16 ? codes[i] & 15 : codes[i - 16] >> 4;
    const int code = low | static_cast<int>(high >> i & 1) << 4;
    const float value = scale * static_cast<float>(code - kOffset);
    out[i] = kMinimum ? value + minimum : value;
  }
}

/// Scale and minimum of 6 bits each for 8 groups, in 12 bytes.
struct GroupScales {
  std::array<float, 8> scale;
  std::array<float, 8> minimum;
};

GroupScales group_scales(const uint8_t* block) {
  const float scale = half_at(block), minimum = half_at(block + 2);
  const uint8_t* const packed = block + 4;
  GroupScales out{};
  for (size_t group = 0; group < 8; ++group) {
    const size_t i = group % 4;
    const int low = group < 4 ? packed[i] & 63 : (packed[8 + i] & 15) | (packed[i] >> 6 << 4);
    const int high = group < 4 ? packed[4 + i] & 63 : packed[8 + i] >> 4 | (packed[4 + i] >> 6 << 4);
    out.scale[group] = scale * static_cast<float>(low);
    out.minimum[group] = minimum * static_cast<float>(high);
  }
  return out;
}

/// 256 elements in 8 groups; two groups share 32 bytes of low and high halves.
template <bool kFifthBit>
void dequantize_grouped(const uint8_t* block, float* out) {
  const GroupScales scales = group_scales(block);
  const uint8_t *const high = block + 16, *const codes = block + (kFifthBit ? 48 : 16);
  for (size_t group = 0; group < 8; ++group) {
    for (size_t i = 0; i < 32; ++i) {
      const uint8_t pair = codes[group / 2 * 32 + i];
      const int low = group % 2 == 0 ? pair & 15 : pair >> 4;
      const int code = kFifthBit ? low | (high[i] >> group & 1) << 4 : low;
      // Two roundings, as the format's own code has them.
      const float scaled = scales.scale[group] * static_cast<float>(code);
      out[group * 32 + i] = scaled - scales.minimum[group];
    }
  }
}

/// 256 elements in 16 groups with scales of 8 bits: 4 low bits in 128 bytes, 2 high bits in 64.
void dequantize_q6_k(const uint8_t* block, float* out) {
  const float scale = half_at(block + 208);
  for (size_t i = 0; i < 256; ++i) {
    const size_t half = i / 128, quarter = i % 128 / 32, lane = i % 32;
    const uint8_t low = block[half * 64 + quarter % 2 * 32 + lane];
    const uint8_t high = block[128 + half * 32 + lane];
    const int code = (quarter < 2 ? low & 15 : low >> 4) | (high >> (2 * quarter) & 3) << 4;
    const auto group = static_cast<int8_t>(block[192 + i / 16]);
    out[i] = scale * static_cast<float>(group) * static_cast<float>(code - 32);
  }
}

struct BlockFormat {
  GgufType type;
  const char* name;
  GgufBlock block;
  void (*dequantize)(const uint8_t* block, float* out);
};

constexpr BlockFormat kFormats[] = {
    {GgufType::F32, "F32", {1, 4}, dequantize_f32},
    {GgufType::F16, "F16", {1, 2}, dequantize_f16},
    {GgufType::BF16, "BF16", {1, 2}, dequantize_bf16},
    {GgufType::Q4_0, "Q4_0", {32, 18}, dequantize_small<false, false>},
    {GgufType::Q4_1, "Q4_1", {32, 20}, dequantize_small<true, false>},
    {GgufType::Q5_0, "Q5_0", {32, 22}, dequantize_small<false, true>},
    {GgufType::Q5_1, "Q5_1", {32, 24}, dequantize_small<true, true>},
    {GgufType::Q8_0, "Q8_0", {32, 34}, dequantize_q8_0},
    {GgufType::Q4_K, "Q4_K", {256, 144}, dequantize_grouped<false>},
    {GgufType::Q5_K, "Q5_K", {256, 176}, dequantize_grouped<true>},
    {GgufType::Q6_K, "Q6_K", {256, 210}, dequantize_q6_k}};

const BlockFormat* find_format(GgufType type) {
  for (const BlockFormat& format : kFormats) {
    if (format.type == type) {
      return &format;
    }
  }
  return nullptr;
}

} // namespace

GgufBlock gguf_block(GgufType type) {
  const BlockFormat* const format = find_format(type);
  return format ? format->block : GgufBlock{0, 0};
}

const char* gguf_type_name(GgufType type) {
  const BlockFormat* const format = find_format(type);
  return format ? format->name : "unknown";
}

void dequantize_blocks(GgufType type, const uint8_t* blocks, size_t count, float* out) {
  const BlockFormat* const format = find_format(type);
  TORCH_CHECK(format, "GGUF: tensors of type ", static_cast<uint32_t>(type), " are not supported");
  for (size_t i = 0; i < count; ++i) {
    format->dequantize(blocks + i * format->block.bytes, out + i * format->block.elements);
  }
}

} // namespace torch::llm
