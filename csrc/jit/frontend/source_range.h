// Places in source text, which errors and debug files name.
#pragma once

#include <c10/macros/Export.h>

#include <cstddef>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace torch::jit {

struct Source;
struct SourceRange;

/// Finds where the code that a range of generated source stands for came from: an archive's debug records.
struct TORCH_API SourceRangeUnpickler {
  virtual ~SourceRangeUnpickler();
  virtual std::optional<SourceRange> findSourceRangeThatGenerated(const SourceRange& range) = 0;
};

/// A source text with its name and the offsets of its lines.
struct TORCH_API Source {
  explicit Source(
      std::string_view text,
      std::optional<std::string> filename = std::nullopt,
      size_t starting_line_no = 0,
      std::shared_ptr<SourceRangeUnpickler> generated_from = nullptr);

  const std::string& text() const {
    return text_;
  }
  std::string_view text_str() const {
    return text_;
  }
  std::string_view get_line(size_t line) const;
  const std::optional<std::string>& filename() const {
    return filename_;
  }
  /// The number in its file of the first line.
  size_t starting_line_no() const {
    return starting_line_no_;
  }
  size_t num_lines() const {
    return line_starts_.size();
  }
  size_t size() const {
    return text_.size();
  }
  /// Where a line of this text begins. Lines count from 0.
  size_t offset_for_line(size_t line) const;
  /// The line of this text that has the character.
  size_t lineno_for_offset(size_t offset) const;
  size_t lineno_to_source_lineno(size_t line) const {
    return filename_ ? line + starting_line_no_ : line;
  }
  std::optional<SourceRange> findSourceRangeThatGenerated(const SourceRange& range) const;

 private:
  std::string text_;
  std::optional<std::string> filename_;
  size_t starting_line_no_;
  std::vector<size_t> line_starts_;
  std::shared_ptr<SourceRangeUnpickler> generated_from_;
};

/// The characters [start, end) of a source; or none at all.
struct TORCH_API SourceRange {
  SourceRange() = default;
  SourceRange(std::shared_ptr<Source> source, size_t start, size_t end)
      : source_(std::move(source)), start_(start), end_(end) {}
  explicit SourceRange(std::string text);

  const std::shared_ptr<Source>& source() const {
    return source_;
  }
  size_t start() const {
    return start_;
  }
  size_t end() const {
    return end_;
  }
  size_t size() const {
    return end_ - start_;
  }
  std::string_view text() const;
  std::string str() const;
  /// The lines around, with the range underlined and marked "<--- HERE".
  void highlight(std::ostream& out) const;
  /// `context` lines before and after. The function's name is part of the line that names the file.
  void print_with_context(std::ostream& out, size_t context, bool highlight, const std::string& function_name) const;
  /// Name, line and column of the first character, if the source has a name.
  std::optional<std::tuple<std::string, size_t, size_t>> file_line_col() const;
  /// The place that this generated code stands for, if it is known.
  std::optional<SourceRange> findSourceRangeThatGenerated() const;

  bool operator==(const SourceRange& other) const {
    return source_ == other.source_ && start_ == other.start_ && end_ == other.end_;
  }
  bool operator!=(const SourceRange& other) const {
    return !(*this == other);
  }

 private:
  std::shared_ptr<Source> source_;
  size_t start_ = 0;
  size_t end_ = 0;
};

TORCH_API std::ostream& operator<<(std::ostream& out, const SourceRange& range);

/// One entry of a TorchScript stack trace.
struct StackEntry {
  std::string filename;
  SourceRange range;
};
/// "Traceback of TorchScript ..." entries, outermost first.
TORCH_API void format_stack_trace(std::ostream& out, const std::vector<StackEntry>& entries);

/// A range and the offset of the generated text that it stands for, as debug files list them.
struct TaggedRange {
  size_t bytes;
  SourceRange range;
};
using SourceRangeRecords = std::vector<TaggedRange>;

} // namespace torch::jit
