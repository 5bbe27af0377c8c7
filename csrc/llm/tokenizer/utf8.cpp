#include <csrc/llm/tokenizer/utf8.h>

#include <c10/util/Exception.h>

#include <algorithm>

namespace torch::llm {

namespace {

struct Utf8Part {
  size_t length; // of the character, or of the longest invalid part
  bool valid;
};

// Table 3-7 of the Unicode standard: which second bytes may follow a first one.
Utf8Part first_utf8_part(std::string_view text) {
  const auto byte = [text](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(0);
  if (lead < 0x80) {
    return {1, true};
  }
  if (lead < 0xc2 || lead > 0xf4) {
    return {1, false};
  }
  const size_t length = utf8_length(text[0]);
  const unsigned low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
  const unsigned high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
  for (size_t i = 1; i < length; ++i) {
    const bool fits = i < text.size() && byte(i) >= (i == 1 ? low : 0x80u) && byte(i) <= (i == 1 ? high : 0xbfu);
    if (!fits) {
      return {i, false};
    }
  }
  return {length, true};
}

} // namespace

void append_utf8(std::string& out, char32_t code) {
  if (code < 0x80) {
    out += static_cast<char>(code);
    return;
  }
  const int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  constexpr unsigned char lead[] = {0, 0xc0, 0xe0, 0xf0};
  out += static_cast<char>(lead[more] | code >> (6 * more));
  for (int i = more - 1; i >= 0; --i) {
    out += static_cast<char>(0x80 | (code >> (6 * i) & 0x3f));
  }
}

size_t find_invalid_utf8(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    if (static_cast<unsigned char>(text[i]) < 0x80) {
      ++i;
      continue;
    }
    const Utf8Part part = first_utf8_part(text.substr(i));
    if (!part.valid) {
      return i;
    }
    i += part.length;
  }
  return std::string_view::npos;
}

void check_utf8(std::string_view text, const char* what) {
  const size_t invalid = find_invalid_utf8(text);
  TORCH_CHECK_VALUE(
      invalid == std::string_view::npos, what, " must be valid UTF-8, but byte ", invalid, " of ", text.size(),
      " is not");
}

std::string replace_invalid_utf8(std::string_view text) {
  size_t invalid = find_invalid_utf8(text);
  std::string out;
  while (invalid != std::string_view::npos) {
    out += text.substr(0, invalid);
    out += "\xef\xbf\xbd";
    text.remove_prefix(invalid + first_utf8_part(text.substr(invalid)).length);
    invalid = find_invalid_utf8(text);
  }
  return out += text;
}

std::string_view incomplete_utf8(std::string_view text) {
  for (size_t length = std::min<size_t>(3, text.size()); length > 0; --length) {
    const std::string_view tail = text.substr(text.size() - length);
    const Utf8Part part = first_utf8_part(tail);
    if (!part.valid && part.length == length && utf8_length(tail[0]) > length &&
        static_cast<unsigned char>(tail[0]) >= 0xc2 && static_cast<unsigned char>(tail[0]) <= 0xf4) {
      return tail;
    }
  }
  return {};
}

size_t count_characters(std::string_view text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

} // namespace torch::llm
