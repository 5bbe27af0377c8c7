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

/// Writes count blocks as float32.
void dequantize_blocks(GgufType type, const uint8_t* blocks, size_t count, float* out);

} // namespace torch::llm
