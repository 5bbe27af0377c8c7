#include <csrc/jit/serialize/source_index.h>

#include <csrc/jit/frontend/error_report.h>

#include <cctype>
#include <string_view>

namespace torch::jit {

namespace {

constexpr std::string_view kClass = "class ";
constexpr std::string_view kFunction = "def ";

bool starts_with(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

std::string name_at(std::string_view line, size_t begin) {
  size_t end = begin;
  while (end < line.size() && (std::isalnum(static_cast<unsigned char>(line[end])) || line[end] == '_')) {
    ++end;
  }
  return std::string(line.substr(begin, end - begin));
}

// A line that belongs to what comes before it, or to nothing.
bool is_empty_or_comment(std::string_view line) {
  const size_t first = line.find_first_not_of(" \t\r\n");
  return first == std::string_view::npos || line[first] == '#';
}

} // namespace

SourceIndex::SourceIndex(const std::shared_ptr<Source>& source) {
  const auto close = [this](size_t end) {
    if (!definitions.empty()) {
      IndexedDefinition& last = definitions.back();
      (last.functions.empty() ? last.all : last.functions.back()).end = end;
    }
  };
  // Of what the open class has; 0 before that is known.
  size_t indent = 0;
  for (size_t line_number = 0; line_number < source->num_lines(); ++line_number) {
    const std::string_view line = source->get_line(line_number);
    const size_t offset = source->offset_for_line(line_number);
    const bool is_class = starts_with(line, kClass);
    if (is_class || starts_with(line, kFunction)) {
      close(offset);
      indent = 0;
      definitions.push_back(IndexedDefinition{
          is_class, SourcePart{name_at(line, is_class ? kClass.size() : kFunction.size()), offset, offset}, {}});
    } else if (definitions.empty()) {
      if (!is_empty_or_comment(line) && !starts_with(line, "import ") && !starts_with(line, "op_version_set = ")) {
        throw ErrorReport(SourceRange(source, offset, offset + line.size()))
            << "a file of an archive begins with a class or a function";
      }
    } else if (definitions.back().is_class && !is_empty_or_comment(line)) {
      const size_t spaces = line.find_first_not_of(' ');
      indent = indent == 0 ? spaces : indent;
      if (spaces == indent && indent > 0 && starts_with(line.substr(indent), kFunction)) {
        close(offset);
        const size_t begin = offset + indent;
        definitions.back().functions.push_back(SourcePart{name_at(line, indent + kFunction.size()), begin, begin});
      }
    }
  }
  close(source->size());
}

} // namespace torch::jit
