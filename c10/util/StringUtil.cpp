#include <c10/util/StringUtil.h>

#include <cstdio>
#include <ostream>
#include <sstream>

namespace c10 {

namespace {

void put_utf8(std::ostream& out, char32_t c) {
  constexpr char32_t kLast[] = {0x7f, 0x7ff, 0xffff};
  constexpr char32_t kLead[] = {0, 0xc0, 0xe0, 0xf0};
  int following = 0;
  while (following < 3 && c > kLast[following]) {
    ++following;
  }
  out.put(static_cast<char>(kLead[following] | c >> 6 * following));
  while (following-- > 0) {
    out.put(static_cast<char>(0x80 | (c >> 6 * following & 0x3f)));
  }
}

} // namespace

namespace detail {

void print_value(std::ostream& out, bool value) {
  out << value;
}
void print_value(std::ostream& out, char value) {
  out << value;
}
void print_value(std::ostream& out, long long value) {
  out << value;
}
void print_value(std::ostream& out, unsigned long long value) {
  out << value;
}
void print_value(std::ostream& out, double value) {
  out << value;
}
void print_value(std::ostream& out, long double value) {
  out << value;
}
void print_value(std::ostream& out, const char* value) {
  out << (value != nullptr ? value : "(null)");
}
void print_value(std::ostream& out, const void* value) {
  out << value;
}
void print_value(std::ostream& out, std::string_view value) {
  out << value;
}
void print_value(std::ostream& out, std::wstring_view value) {
  for (const wchar_t c : value) {
    put_utf8(out, static_cast<char32_t>(c));
  }
}

std::string concatenate(MessageParts parts) {
  std::ostringstream out;
  for (const MessagePart& part : parts) {
    part.print(out, part.payload);
  }
  return std::move(out).str();
}

} // namespace detail

std::string StripBasename(const std::string& full_path) {
  const size_t slash = full_path.rfind('/');
  return slash == std::string::npos ? full_path : full_path.substr(slash + 1);
}

std::string ExcludeFileExtension(const std::string& full_path) {
  return full_path.substr(0, full_path.rfind('.'));
}

size_t ReplaceAll(std::string& s, std::string_view from, std::string_view to) {
  if (from.empty()) {
    return 0;
  }
  size_t count = 0;
  std::string result;
  size_t begin = 0;
  for (size_t hit; (hit = s.find(from, begin)) != std::string::npos; begin = hit + from.size()) {
    result.append(s, begin, hit - begin);
    result.append(to);
    ++count;
  }
  if (count != 0) {
    result.append(s, begin, std::string::npos);
    s = std::move(result);
  }
  return count;
}

void printQuotedString(std::ostream& out, std::string_view text) {
  out << '"';
  for (const char c : text) {
    switch (c) {
      case '\\':
        out << "\\\\";
        break;
      case '\'':
        out << "\\'";
        break;
      case '"':
        out << "\\\"";
        break;
      case '\a':
        out << "\\a";
        break;
      case '\b':
        out << "\\b";
        break;
      case '\f':
        out << "\\f";
        break;
      case '\n':
        out << "\\n";
        break;
      case '\r':
        out << "\\r";
        break;
      case '\t':
        out << "\\t";
        break;
      case '\v':
        out << "\\v";
        break;
      default:
        if (isPrint(c)) {
          out << c;
        } else {
          // Octal, always three digits: a following digit must not be read as part of the escape.
          char escaped[5];
          std::snprintf(escaped, sizeof(escaped), "\\%03o", static_cast<unsigned>(static_cast<unsigned char>(c)));
          out << escaped;
        }
    }
  }
  out << '"';
}

std::ostream& operator<<(std::ostream& out, const SourceLocation& location) {
  return out << location.function << " at " << location.file << ':' << location.line;
}

} // namespace c10
