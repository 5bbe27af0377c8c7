// Generated source text that remembers which places of the original source its parts stand for.
#pragma once

#include <csrc/jit/frontend/source_range.h>

#include <string>
#include <string_view>
#include <utility>

namespace torch::jit {

/// Text and, for the characters from an offset on, the range that they were made from.
class RangedText {
 public:
  RangedText() = default;
  explicit RangedText(SourceRange range) : range_(std::move(range)) {}

  /// What is added from now on stands for this range.
  void set_range(const SourceRange& range) {
    range_ = range;
  }
  RangedText& operator<<(std::string_view text) {
    mark(range_);
    text_ += text;
    return *this;
  }
  RangedText& operator<<(const RangedText& other) {
    for (const TaggedRange& part : other.ranges_) {
      if (ranges_.empty() || ranges_.back().range != part.range) {
        ranges_.push_back({text_.size() + part.bytes, part.range});
      }
    }
    text_ += other.text_;
    return *this;
  }

  const std::string& text() const {
    return text_;
  }
  size_t size() const {
    return text_.size();
  }
  /// Offsets rise; each range reaches to the next one.
  const SourceRangeRecords& ranges() const {
    return ranges_;
  }

 private:
  void mark(const SourceRange& range) {
    if (ranges_.empty() || ranges_.back().range != range) {
      ranges_.push_back({text_.size(), range});
    }
  }

  SourceRange range_;
  std::string text_;
  SourceRangeRecords ranges_;
};

} // namespace torch::jit
