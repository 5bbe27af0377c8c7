#include <csrc/llm/tokenizer/base64.h>

#include <c10/util/Exception.h>

#include <cstdint>

namespace torch::llm {

std::string decode_base64(std::string_view text) {
  constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  TORCH_CHECK(text.size() % 4 == 0, "base64: ", text.size(), " characters; there must be a multiple of 4");
  size_t padding = 0;
  while (padding < 2 && padding < text.size() && text[text.size() - 1 - padding] == '=') {
    ++padding;
  }
  std::string out;
  out.reserve(text.size() / 4 * 3);
  uint32_t bits = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const size_t value = i >= text.size() - padding ? 0 : kAlphabet.find(text[i]);
    TORCH_CHECK(value != std::string_view::npos, "base64: character ", i, " is none of the alphabet");
    bits = bits << 6 | static_cast<uint32_t>(value);
    if (i % 4 == 3) {
      out += static_cast<char>(bits >> 16);
      out += static_cast<char>(bits >> 8);
      out += static_cast<char>(bits);
    }
  }
  out.resize(out.size() - padding);
  return out;
}

} // namespace torch::llm
