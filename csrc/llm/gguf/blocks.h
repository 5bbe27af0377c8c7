// Block formats of GGUF.
#pragma once

#include <csrc/llm/gguf/gguf_file.h>

#include <cstddef>
#include <cstdint>

namespace torch::llm {

/// Elements and bytes of a block; both 0 for a type that is not known. Plain formats have blocks of one element.
struct GgufBlock {
  size_t elements;
  size_t bytes;
};
GgufBlock gguf_block(GgufType type);
const char* gguf_type_name(GgufType type);

/// How a format of blocks keeps its elements: each is scale * code + offset, the sum and the product rounded to
/// float32.
struct GgufCodeFormat {
  int bits; ///< 8 or 4: what holds the codes, which are from 0 to 15 where there are offsets and 4 bits, signed
            ///< otherwise
  size_t group; ///< elements that share a scale; 0 for plain formats
  bool has_offsets;
};
GgufCodeFormat gguf_codes(GgufType type);

/// Takes count blocks apart: a code for each element, a scale (and an offset, where there are some) for each group.
void unpack_blocks(GgufType type, const uint8_t* blocks, size_t count, int8_t* codes, float* scales, float* offsets);

/// Writes count blocks as float32.
void dequantize_blocks(GgufType type, const uint8_t* blocks, size_t count, float* out);

} // namespace torch::llm
