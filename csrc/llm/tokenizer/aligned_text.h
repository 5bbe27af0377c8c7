// Text under normalization that remembers where each of its bytes comes from.
#pragma once

#include <csrc/llm/tokenizer/utf8.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace torch::llm {

/// Bytes [begin, end) of a text.
struct TextSpan {
  uint32_t begin = 0;
  uint32_t end = 0;

  size_t size() const {
    return end - begin;
  }
  bool operator==(const TextSpan&) const = default;
};

/// A character of a new text: 0 takes the place of one of the old text, 1 is inserted, -n takes the place of one and
/// removes the n that follow.
struct TextEdit {
  char32_t code;
  int32_t change;
};

/// Note [Origins of characters]
/// Offsets of tokens are those of Hugging Face's tokenizers, byte for byte: each byte of the text keeps the span of the
/// original text that it stands for, an inserted character takes the span of the byte before it, and a token's span
/// goes from the begin of its first byte's to the end of its last byte's.
class AlignedText {
 public:
  AlignedText() = default;
  /// Bytes `span` of `original`, unchanged. Origins are kept only when `tracked`.
  AlignedText(std::string_view original, TextSpan span, bool tracked);

  const std::string& text() const {
    return text_;
  }
  bool tracked() const {
    return tracked_;
  }
  /// Where the text begins in the original.
  uint32_t origin_begin() const {
    return origin_begin_;
  }
  /// The span of the original that bytes [begin, end) stand for; both 0 when not tracked.
  TextSpan origin(size_t begin, size_t end) const;

  /// A part of this text as a text of its own.
  AlignedText slice(TextSpan span) const;

  /// Replaces the whole text; `removed` characters at its begin have no edit.
  void transform(const std::vector<TextEdit>& edits, size_t removed = 0);
  /// Keeps the characters for which keep(code) holds.
  template <class Keep>
  void filter(Keep&& keep);
  void prepend(std::string_view prefix);
  /// Replaces each of the spans, which rise and do not overlap.
  void replace(const std::vector<TextSpan>& matches, std::string_view content);
  /// Keeps bytes [begin, end).
  void crop(size_t begin, size_t end);

  /// For texts that are built from another: appends bytes of `source`, or a character with a given origin.
  void append(const AlignedText& source, TextSpan span);
  void append(std::string_view bytes, TextSpan origin);
  /// The origin of one byte; all zero when not tracked.
  TextSpan origin_of_byte(size_t index) const {
    return tracked_ ? origins_[index] : TextSpan{};
  }
  /// An empty text with this one's begin and tracking.
  AlignedText empty_like() const;

 private:
  void check_growth(size_t more) const;

  std::string text_;
  std::vector<TextSpan> origins_; // one for each byte, in the original text; empty when not tracked
  uint32_t origin_begin_ = 0;
  bool tracked_ = false;
  size_t limit_ = 0; // bytes that normalization may make of it
};

template <class Keep>
void AlignedText::filter(Keep&& keep) {
  AlignedText kept = empty_like();
  for_each_character(text_, [&](char32_t code, size_t offset, size_t length) {
    if (keep(code)) {
      kept.append(*this, {static_cast<uint32_t>(offset), static_cast<uint32_t>(offset + length)});
    }
  });
  *this = std::move(kept);
}

} // namespace torch::llm
