// UTF-8 as the tokenizers read and write it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace torch::llm {

/// The bytes of the character whose first byte is `lead`, in valid UTF-8.
inline size_t utf8_length(char lead) {
  const auto byte = static_cast<unsigned char>(lead);
  return byte < 0x80 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
}

/// The code point that begins at `text`, which is valid UTF-8.
inline char32_t utf8_decode(const char* text) {
  const auto byte = [text](int i) { return static_cast<char32_t>(static_cast<unsigned char>(text[i])); };
  switch (utf8_length(*text)) {
    case 1:
      return byte(0);
    case 2:
      return (byte(0) & 0x1f) << 6 | (byte(1) & 0x3f);
    case 3:
      return (byte(0) & 0x0f) << 12 | (byte(1) & 0x3f) << 6 | (byte(2) & 0x3f);
    default:
      return (byte(0) & 0x07) << 18 | (byte(1) & 0x3f) << 12 | (byte(2) & 0x3f) << 6 | (byte(3) & 0x3f);
  }
}

/// The first byte of the character that ends at `end`, in valid UTF-8 with a character before `end`.
inline size_t utf8_previous(std::string_view text, size_t end) {
  do {
    --end;
  } while ((static_cast<unsigned char>(text[end]) & 0xc0) == 0x80);
  return end;
}

void append_utf8(std::string& out, char32_t code);

/// The offset of the first byte that is not part of valid UTF-8; npos when all is valid.
size_t find_invalid_utf8(std::string_view text);

/// Throws c10::ValueError when the text is not valid UTF-8; `what` begins the message.
void check_utf8(std::string_view text, const char* what);

/// Each longest invalid part as one U+FFFD, as Unicode recommends and Rust and Python do.
std::string replace_invalid_utf8(std::string_view text);

/// The bytes at the end, at most three, that begin a character which is not complete.
std::string_view incomplete_utf8(std::string_view text);

size_t count_characters(std::string_view text);

/// Calls visit(code point, offset, length) for each character of valid UTF-8.
template <class Visit>
void for_each_character(std::string_view text, Visit&& visit) {
  for (size_t i = 0; i < text.size();) {
    const size_t length = utf8_length(text[i]);
    visit(utf8_decode(text.data() + i), i, length);
    i += length;
  }
}

} // namespace torch::llm
