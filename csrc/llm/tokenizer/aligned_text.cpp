#include <csrc/llm/tokenizer/aligned_text.h>

#include <c10/util/Exception.h>

#include <algorithm>

namespace torch::llm {

AlignedText::AlignedText(std::string_view original, TextSpan span, bool tracked)
    : text_(original.substr(span.begin, span.size())),
      origin_begin_(span.begin),
      tracked_(tracked),
      limit_(64 * span.size() + (size_t(64) << 10)) {
  if (!tracked) {
    return;
  }
  origins_.reserve(text_.size());
  for_each_character(text_, [&](char32_t, size_t offset, size_t length) {
    const auto begin = static_cast<uint32_t>(span.begin + offset);
    origins_.insert(origins_.end(), length, TextSpan{begin, static_cast<uint32_t>(begin + length)});
  });
}

TextSpan AlignedText::origin(size_t begin, size_t end) const {
  if (!tracked_) {
    return {};
  }
  if (begin >= end || begin >= origins_.size()) {
    return {static_cast<uint32_t>(origin_begin_ + begin), static_cast<uint32_t>(origin_begin_ + end)};
  }
  return {origins_[begin].begin, origins_[std::min(end, origins_.size()) - 1].end};
}

AlignedText AlignedText::slice(TextSpan span) const {
  AlignedText part = empty_like();
  part.origin_begin_ = origin_begin_;
  if (span.begin > 0) {
    part.origin_begin_ = tracked_ && span.size() > 0 ? origins_[span.begin].begin : origin_begin_ + span.begin;
  }
  part.append(*this, span);
  return part;
}

void AlignedText::check_growth(size_t more) const {
  TORCH_CHECK(
      text_.size() + more <= limit_, "normalization makes more than ", limit_,
      " bytes of a piece of text; the rules of the tokenizer are not usable");
}

AlignedText AlignedText::empty_like() const {
  AlignedText out;
  out.origin_begin_ = origin_begin_;
  out.tracked_ = tracked_;
  out.limit_ = limit_;
  return out;
}

void AlignedText::append(const AlignedText& source, TextSpan span) {
  check_growth(span.size());
  text_.append(source.text_, span.begin, span.size());
  if (tracked_) {
    origins_.insert(origins_.end(), source.origins_.begin() + span.begin, source.origins_.begin() + span.end);
  }
}

void AlignedText::append(std::string_view bytes, TextSpan origin) {
  check_growth(bytes.size());
  text_ += bytes;
  if (tracked_) {
    origins_.insert(origins_.end(), bytes.size(), origin);
  }
}

void AlignedText::transform(const std::vector<TextEdit>& edits, size_t removed) {
  AlignedText out = empty_like();
  out.text_.reserve(text_.size());
  size_t offset = 0; // of the character that the next edit takes the place of
  const auto skip_character = [&] {
    offset = std::min(text_.size(), offset + (offset < text_.size() ? utf8_length(text_[offset]) : 0));
  };
  for (size_t i = 0; i < removed; ++i) {
    skip_character();
  }
  std::string character;
  for (const TextEdit& edit : edits) {
    character.clear();
    append_utf8(character, edit.code);
    const bool inserted = edit.change > 0;
    const size_t from = inserted ? offset - 1 : offset;
    const bool outside = inserted ? offset == 0 : offset >= text_.size();
    out.append(character, outside ? TextSpan{origin_begin_, origin_begin_} : origin_of_byte(from));
    for (int32_t i = inserted ? 1 : edit.change; i <= 0; ++i) {
      skip_character();
    }
  }
  *this = std::move(out);
}

void AlignedText::prepend(std::string_view prefix) {
  if (text_.empty() || prefix.empty()) {
    return;
  }
  check_growth(prefix.size());
  text_.insert(0, prefix);
  if (tracked_) {
    origins_.insert(origins_.begin(), prefix.size(), TextSpan(origins_.front()));
  }
}

void AlignedText::replace(const std::vector<TextSpan>& matches, std::string_view content) {
  AlignedText out = empty_like();
  uint32_t last = 0;
  for (const TextSpan& match : matches) {
    out.append(*this, {last, match.begin});
    out.append(content, match.end == 0 ? TextSpan{origin_begin_, origin_begin_} : origin_of_byte(match.end - 1));
    last = match.end;
  }
  out.append(*this, {last, static_cast<uint32_t>(text_.size())});
  *this = std::move(out);
}

void AlignedText::crop(size_t begin, size_t end) {
  text_ = text_.substr(begin, end - begin);
  if (tracked_) {
    origins_ = std::vector<TextSpan>(
        origins_.begin() + static_cast<ptrdiff_t>(begin), origins_.begin() + static_cast<ptrdiff_t>(end));
  }
}

} // namespace torch::llm
