#include <csrc/jit/frontend/source_range.h>

#include <c10/util/Exception.h>

#include <algorithm>
#include <ostream>
#include <sstream>

namespace torch::jit {

namespace {

// Lines shown around the range.
constexpr size_t kContext = 3;

std::vector<size_t> find_line_starts(std::string_view text) {
  std::vector<size_t> starts{0};
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\n') {
      starts.push_back(i + 1);
    }
  }
  return starts;
}

} // namespace

SourceRangeUnpickler::~SourceRangeUnpickler() = default;

Source::Source(
    std::string_view text,
    std::optional<std::string> filename,
    size_t starting_line_no,
    std::shared_ptr<SourceRangeUnpickler> generated_from)
    : text_(text),
      filename_(std::move(filename)),
      starting_line_no_(starting_line_no),
      line_starts_(find_line_starts(text_)),
      generated_from_(std::move(generated_from)) {}

size_t Source::offset_for_line(size_t line) const {
  return line_starts_.at(line);
}

size_t Source::lineno_for_offset(size_t offset) const {
  const auto after = std::upper_bound(line_starts_.begin(), line_starts_.end(), offset);
  return static_cast<size_t>(after - line_starts_.begin()) - 1;
}

std::string_view Source::get_line(size_t line) const {
  const size_t begin = offset_for_line(line);
  const size_t end = line + 1 < line_starts_.size() ? line_starts_[line + 1] : text_.size();
  return text_str().substr(begin, end - begin);
}

std::optional<SourceRange> Source::findSourceRangeThatGenerated(const SourceRange& range) const {
  if (!generated_from_) {
    return std::nullopt;
  }
  return generated_from_->findSourceRangeThatGenerated(range);
}

SourceRange::SourceRange(std::string text)
    : source_(std::make_shared<Source>(std::move(text))), end_(source_->size()) {}

std::string_view SourceRange::text() const {
  return source_ ? source_->text_str().substr(start_, end_ - start_) : std::string_view();
}

std::string SourceRange::str() const {
  std::ostringstream out;
  highlight(out);
  return out.str();
}

std::optional<std::tuple<std::string, size_t, size_t>> SourceRange::file_line_col() const {
  if (!source_ || !source_->filename()) {
    return std::nullopt;
  }
  const size_t line = source_->lineno_for_offset(start_);
  const size_t column = start_ - source_->offset_for_line(line);
  return std::tuple(*source_->filename(), source_->lineno_to_source_lineno(line), column);
}

std::optional<SourceRange> SourceRange::findSourceRangeThatGenerated() const {
  return source_ ? source_->findSourceRangeThatGenerated(*this) : std::nullopt;
}

void SourceRange::highlight(std::ostream& out) const {
  if (const std::optional<SourceRange> original = findSourceRangeThatGenerated()) {
    original->print_with_context(out, kContext, true, "");
    return;
  }
  print_with_context(out, kContext, true, "");
}

void SourceRange::print_with_context(
    std::ostream& out, size_t context, bool highlight, const std::string& function_name) const {
  if (!source_) {
    return;
  }
  const std::string_view text = source_->text_str();
  const size_t start = std::min(start_, text.size());
  const size_t end = std::max(start, std::min(end_, text.size()));
  const size_t first_line = source_->lineno_for_offset(start);
  const size_t last_line = source_->lineno_for_offset(end > start ? end - 1 : end);
  if (const auto place = file_line_col()) {
    out << "  File \"" << std::get<0>(*place) << "\", line " << std::get<1>(*place);
    if (!function_name.empty()) {
      out << ", in " << function_name;
    }
    out << '\n';
  }
  const auto print_line = [&](size_t line) {
    const std::string_view content = source_->get_line(line);
    out << content;
    if (content.empty() || content.back() != '\n') {
      out << '\n';
    }
  };
  // The line itself is one of those around it.
  const size_t around = context - std::min<size_t>(context, 1);
  for (size_t line = first_line - std::min(first_line, around); line < first_line; ++line) {
    print_line(line);
  }
  // The end of a line, or of the source, has nothing to point at.
  const bool marks_something = text.substr(start, end - start).find_first_not_of(" \t\r\n") != std::string_view::npos;
  for (size_t line = first_line; line <= last_line; ++line) {
    print_line(line);
    if (!highlight || !marks_something) {
      continue;
    }
    // Indentation is not underlined, so that ranges of several lines read well.
    const std::string_view content = source_->get_line(line);
    const size_t offset = source_->offset_for_line(line);
    const size_t indentation = std::min(content.find_first_not_of(' '), content.size());
    const size_t begin_column =
        std::max(start > offset ? start - offset : 0, line == first_line ? size_t{0} : indentation);
    const size_t length = content.size() - (!content.empty() && content.back() == '\n' ? 1 : 0);
    const size_t end_column = std::max(begin_column, std::min(end - offset, length));
    out << std::string(begin_column, ' ') << std::string(end_column - begin_column, '~');
    out << (line == last_line ? " <--- HERE\n" : "\n");
  }
  const size_t lines = source_->num_lines() - (text.empty() || text.back() == '\n' ? 1 : 0);
  for (size_t line = last_line + 1; line < std::min(lines, last_line + 1 + around); ++line) {
    print_line(line);
  }
}

std::ostream& operator<<(std::ostream& out, const SourceRange& range) {
  range.highlight(out);
  return out;
}

void format_stack_trace(std::ostream& out, const std::vector<StackEntry>& entries) {
  std::vector<SourceRange> originals;
  bool serialized = false;
  for (const StackEntry& entry : entries) {
    const std::optional<SourceRange> original = entry.range.findSourceRangeThatGenerated();
    serialized |= original.has_value();
    originals.push_back(original.value_or(entry.range));
  }
  out << "Traceback of TorchScript" << (serialized ? ", serialized code" : "") << " (most recent call last):\n";
  for (const StackEntry& entry : entries) {
    entry.range.print_with_context(out, kContext, true, entry.filename);
  }
  if (!serialized) {
    return;
  }
  out << "\nTraceback of TorchScript, original code (most recent call last):\n";
  for (size_t i = 0; i < entries.size(); ++i) {
    originals[i].print_with_context(out, kContext, true, entries[i].filename);
  }
}

} // namespace torch::jit
