#include <csrc/llm/tokenizer/byte_alphabet.h>

#include <string>

namespace torch::llm {

namespace {

bool is_own_character(int byte) {
  return (byte >= '!' && byte <= '~') || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
}

/// The characters as UTF-8, for copying.
const std::array<std::string, 256>& byte_alphabet_utf8() {
  static const std::array<std::string, 256> table = [] {
    std::array<std::string, 256> texts;
    for (size_t byte = 0; byte < 256; ++byte) {
      append_utf8(texts[byte], byte_alphabet()[byte]);
    }
    return texts;
  }();
  return table;
}

} // namespace

const std::array<char32_t, 256>& byte_alphabet() {
  static const std::array<char32_t, 256> table = [] {
    std::array<char32_t, 256> codes{};
    char32_t next = 0x100;
    for (int byte = 0; byte < 256; ++byte) {
      codes[static_cast<size_t>(byte)] = is_own_character(byte) ? static_cast<char32_t>(byte) : next++;
    }
    return codes;
  }();
  return table;
}

int byte_of_character(char32_t code) {
  static const std::array<int16_t, 0x200> table = [] {
    std::array<int16_t, 0x200> bytes{};
    bytes.fill(-1);
    for (size_t byte = 0; byte < 256; ++byte) {
      bytes[byte_alphabet()[byte]] = static_cast<int16_t>(byte);
    }
    return bytes;
  }();
  return code < table.size() ? table[code] : -1;
}

void append_in_byte_alphabet(AlignedText& out, const AlignedText& source, TextSpan span) {
  const std::array<std::string, 256>& characters = byte_alphabet_utf8();
  const std::string& text = source.text();
  TextSpan origin;
  for (size_t i = span.begin; i < span.end; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte & 0xc0) != 0x80) {
      origin = source.origin_of_byte(i);
    }
    out.append(characters[byte], origin);
  }
}

} // namespace torch::llm
