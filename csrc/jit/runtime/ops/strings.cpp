// Methods of str. Strings are bytes; letters and digits are those of ASCII.
#include <csrc/jit/runtime/ops/rows.h>

#include <aten/core/jit_type.h>

#include <algorithm>
#include <cctype>
#include <cstring>

namespace torch::jit::ops {

namespace {

using Text = const std::string&;
using Strings = c10::List<std::string>;
using ThreeTexts = std::tuple<std::string, std::string, std::string>;

constexpr std::string_view kBlanks = " \t\n\r\f\v";
constexpr std::string_view kLineEnds("\n\r\v\f\x1c\x1d\x1e\x85");

bool is_kind(Text self, int (*of_kind)(int)) {
  return !self.empty() && std::all_of(self.begin(), self.end(), [&](unsigned char c) { return of_kind(c) != 0; });
}
// Of the letters among the characters, all must be of the kind, and there must be one.
bool letters_are(Text self, int (*of_kind)(int)) {
  bool found = false;
  for (const unsigned char c : self) {
    if (std::isalpha(c)) {
      if (!of_kind(c)) {
        return false;
      }
      found = true;
    }
  }
  return found;
}
bool is_printable(Text self) {
  return std::all_of(self.begin(), self.end(), [](unsigned char c) { return std::isprint(c) != 0; });
}
bool is_identifier(Text self) {
  // As in libtorch, without underscores.
  const auto fits = [](unsigned char c) { return std::isalnum(c) != 0; };
  return !self.empty() && !std::isdigit(static_cast<unsigned char>(self[0])) &&
      std::all_of(self.begin(), self.end(), fits);
}
bool is_title(Text self) {
  bool found = false;
  bool in_word = false;
  for (const unsigned char c : self) {
    if (std::isalpha(c)) {
      if ((std::isupper(c) != 0) == in_word) {
        return false;
      }
      in_word = true;
      found = true;
    } else {
      in_word = false;
    }
  }
  return found;
}

template <class Change>
std::string changed(Text self, Change change) {
  std::string out(self);
  for (char& c : out) {
    c = static_cast<char>(change(static_cast<unsigned char>(c)));
  }
  return out;
}
std::string upper(Text self) {
  return changed(self, [](int c) { return std::toupper(c); });
}
std::string lower(Text self) {
  return changed(self, [](int c) { return std::tolower(c); });
}
std::string swapcase(Text self) {
  return changed(self, [](int c) { return std::islower(c) ? std::toupper(c) : std::tolower(c); });
}
std::string capitalize(Text self) {
  std::string out = lower(self);
  if (!out.empty()) {
    out[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(out[0])));
  }
  return out;
}
std::string title(Text self) {
  bool in_word = false;
  return changed(self, [&](int c) {
    const int out = in_word ? std::tolower(c) : std::toupper(c);
    in_word = std::isalpha(c) != 0;
    return out;
  });
}

// ---- filling

// The longest text that an operator makes.
constexpr int64_t kLongest = int64_t{1} << 40;

char fill_character(Text fillchar) {
  TORCH_CHECK_TYPE(fillchar.size() == 1, "TypeError: The fill character must be exactly one character long");
  return fillchar[0];
}
int64_t missing(Text self, int64_t width) {
  TORCH_CHECK(width <= kLongest, "the width ", width, " is too large for a string");
  return std::max<int64_t>(width - static_cast<int64_t>(self.size()), 0);
}
std::string filled(Text self, int64_t left, int64_t right, char with) {
  std::string out(static_cast<size_t>(left), with);
  out += self;
  return out.append(static_cast<size_t>(right), with);
}
std::string center(Text self, int64_t width, Text fillchar) {
  const char with = fill_character(fillchar);
  const int64_t count = missing(self, width);
  const int64_t left = count / 2 + (count & width & 1);
  return filled(self, left, count - left, with);
}
std::string ljust(Text self, int64_t width, Text fillchar) {
  const char with = fill_character(fillchar);
  return filled(self, 0, missing(self, width), with);
}
std::string rjust(Text self, int64_t width, Text fillchar) {
  const char with = fill_character(fillchar);
  return filled(self, missing(self, width), 0, with);
}
std::string zfill(Text self, int64_t width) {
  return filled(self, missing(self, width), 0, '0');
}
std::string expandtabs(Text self, int64_t tabsize) {
  TORCH_CHECK(tabsize <= kLongest, "the tabsize ", tabsize, " is too large");
  std::string out;
  for (const char c : self) {
    if (c != '\t') {
      out += c;
    } else if (tabsize > 0) {
      const size_t size = static_cast<size_t>(tabsize);
      out.append(size - out.size() % size, ' ');
    }
  }
  return out;
}

// ---- searching

// Where a search begins and ends: negative ones count from the end, where -1 as the end is the very end.
struct Bounds {
  Bounds(Text self, int64_t start, int64_t end)
      : size(static_cast<int64_t>(self.size())),
        first(start < 0 ? std::max<int64_t>(0, size + start) : start),
        last(end < 0 ? std::max<int64_t>(0, size + end + 1) : end) {}

  int64_t size;
  int64_t first;
  int64_t last;
};

// The text from there on; an end in front of the start stands for the end of the text.
std::string_view part_of(Text self, const Bounds& bounds) {
  TORCH_CHECK(
      bounds.first <= bounds.size, "basic_string::substr: __pos (which is ", bounds.first,
      ") > this->size() (which is ", bounds.size, ")");
  const int64_t length = bounds.last - bounds.first;
  return std::string_view(self).substr(
      static_cast<size_t>(bounds.first), length < 0 ? std::string_view::npos : static_cast<size_t>(length));
}
// Without a part there is an empty text.
std::string_view searched(Text self, const Bounds& bounds) {
  return bounds.last > bounds.first ? part_of(self, bounds) : std::string_view();
}

int64_t find(Text self, Text substr, int64_t start, int64_t end) {
  const Bounds bounds(self, start, end);
  const size_t at = searched(self, bounds).find(substr);
  return at == std::string_view::npos ? -1 : bounds.first + static_cast<int64_t>(at);
}
int64_t rfind(Text self, Text substr, int64_t start, int64_t end) {
  const Bounds bounds(self, start, end);
  const size_t at = searched(self, bounds).rfind(substr);
  return at == std::string_view::npos ? -1 : bounds.first + static_cast<int64_t>(at);
}
int64_t index(Text self, Text substr, int64_t start, int64_t end) {
  const int64_t at = find(self, substr, start, end);
  TORCH_CHECK_VALUE(at >= 0, "ValueError: substring not found");
  return at;
}
int64_t rindex(Text self, Text substr, int64_t start, int64_t end) {
  const int64_t at = rfind(self, substr, start, end);
  TORCH_CHECK_VALUE(at >= 0, "ValueError: substring not found");
  return at;
}
// Those that begin between the bounds.
int64_t count(Text self, Text substr, int64_t start, int64_t end) {
  const Bounds bounds(self, start, end);
  if (bounds.first > bounds.size || bounds.first >= bounds.last) {
    return 0;
  }
  if (substr.empty()) {
    return std::min(bounds.last, bounds.size) - bounds.first + 1;
  }
  int64_t found = 0;
  size_t at = self.find(substr, static_cast<size_t>(bounds.first));
  while (at != std::string::npos && static_cast<int64_t>(at) < bounds.last) {
    ++found;
    at = self.find(substr, at + substr.size());
  }
  return found;
}
bool startswith(Text self, Text substr, int64_t start, int64_t end) {
  const std::string_view text = part_of(self, Bounds(self, start, end));
  return text.substr(0, substr.size()) == substr;
}
bool endswith(Text self, Text substr, int64_t start, int64_t end) {
  const std::string_view text = part_of(self, Bounds(self, start, end));
  return text.size() >= substr.size() && text.substr(text.size() - substr.size()) == substr;
}
std::string replace(Text self, Text from, Text to, int64_t most) {
  std::string out;
  size_t done = 0;
  for (int64_t times = 0; most < 0 || times < most; ++times) {
    // An empty text stands before every character and at the end.
    const size_t at = from.empty() ? (times == 0 ? 0 : done + 1) : self.find(from, done);
    if (at == std::string::npos || at > self.size()) {
      break;
    }
    out.append(self, done, at - done);
    out += to;
    done = at + from.size();
  }
  return out.append(self, done);
}

// ---- stripping, splitting, joining

std::string stripped(Text self, Text chars, bool left, bool right) {
  const size_t first = left ? self.find_first_not_of(chars) : 0;
  if (first == std::string::npos) {
    return {};
  }
  const size_t last = right ? self.find_last_not_of(chars) : self.size() - 1;
  return last == std::string::npos ? std::string() : self.substr(first, last + 1 - first);
}

Strings split_at_blanks(Text self) {
  Strings parts;
  for (size_t first = self.find_first_not_of(kBlanks); first != std::string::npos;) {
    const size_t end = std::min(self.find_first_of(kBlanks, first), self.size());
    parts.push_back(self.substr(first, end - first));
    first = self.find_first_not_of(kBlanks, end);
  }
  return parts;
}
Strings split(Text self, std::optional<std::string> separator, int64_t most) {
  if (!separator) {
    return split_at_blanks(self);
  }
  TORCH_CHECK_VALUE(!separator->empty(), "ValueError: empty separator");
  Strings parts;
  if (most < 0) {
    parts.reserve(static_cast<size_t>(std::count(self.begin(), self.end(), (*separator)[0])) + 1);
  }
  size_t first = 0;
  for (int64_t times = 0; most < 0 || times < most; ++times) {
    const size_t at = self.find(*separator, first);
    if (at == std::string::npos) {
      break;
    }
    parts.push_back(self.substr(first, at - first));
    first = at + separator->size();
  }
  parts.push_back(self.substr(first));
  return parts;
}
Strings rsplit(Text self, Text separator, int64_t most) {
  // An empty separator stands behind the text as often as is asked for.
  const bool ends = !separator.empty() || (most >= 0 && most <= static_cast<int64_t>(self.size()) + 100);
  TORCH_CHECK_VALUE(ends, "ValueError: empty separator");
  std::vector<std::string> parts;
  std::string_view rest(self);
  for (int64_t times = 0; most < 0 || times < most; ++times) {
    const size_t at = rest.rfind(separator);
    if (at == std::string_view::npos) {
      break;
    }
    parts.emplace_back(rest.substr(at + separator.size()));
    rest = rest.substr(0, at);
  }
  parts.emplace_back(rest);
  std::reverse(parts.begin(), parts.end());
  return Strings(at::ArrayRef<std::string>(parts));
}
Strings splitlines(Text self, bool keepends) {
  Strings lines;
  size_t first = 0;
  for (size_t at = self.find_first_of(kLineEnds); at != std::string::npos; at = self.find_first_of(kLineEnds, first)) {
    lines.push_back(self.substr(first, at - first));
    if (keepends) {
      lines.push_back(self.substr(at, 1));
    }
    first = at + 1;
  }
  if (first < self.size()) {
    lines.push_back(self.substr(first));
  }
  return lines;
}
ThreeTexts partition(Text self, Text separator) {
  const size_t at = self.find(separator);
  if (at == std::string::npos) {
    return {self, "", ""};
  }
  return {self.substr(0, at), separator, self.substr(at + separator.size())};
}
ThreeTexts rpartition(Text self, Text separator) {
  const size_t at = self.rfind(separator);
  if (at == std::string::npos) {
    return {"", "", self};
  }
  return {self.substr(0, at), separator, self.substr(at + separator.size())};
}
std::string join(Text self, IValue& values) {
  const at::ArrayRef<IValue> texts = values.toListRef();
  size_t size = texts.empty() ? 0 : self.size() * (texts.size() - 1);
  for (const IValue& text : texts) {
    size += text.toStringRef().size();
  }
  std::string out(size, '\0');
  char* to = out.data();
  const auto append = [&to](Text text) {
    std::memcpy(to, text.data(), text.size());
    to += text.size();
  };
  for (size_t i = 0; i < texts.size(); ++i) {
    if (i > 0) {
      append(self);
    }
    append(texts[i].toStringRef());
  }
  return out;
}

// ---- characters

size_t position_of(Text self, int64_t index) {
  const int64_t size = static_cast<int64_t>(self.size());
  return static_cast<size_t>(index < 0 ? index + size : index);
}
std::string character_at(Text self, int64_t index) {
  const size_t position = position_of(self, index);
  TORCH_CHECK_INDEX(position < self.size(), "string index out of range");
  return std::string(1, self[position]);
}
// The words are those of the standard library, as in libtorch.
std::string item_at(Text self, int64_t index) {
  const size_t position = position_of(self, index);
  TORCH_CHECK(
      position < self.size(), "basic_string::at: __n (which is ", position, ") >= this->size() (which is ", self.size(),
      ")");
  return std::string(1, self[position]);
}
std::string slice(Text self, std::optional<int64_t> start, std::optional<int64_t> end, int64_t step) {
  const SliceRange range = slice_range(start, end, step, self.size());
  if (step == 1) {
    return self.substr(static_cast<size_t>(range.start), static_cast<size_t>(range.count));
  }
  std::string out;
  out.reserve(static_cast<size_t>(range.count));
  for (int64_t i = 0; i < range.count; ++i) {
    out += self[static_cast<size_t>(range.start + i * range.step)];
  }
  return out;
}
Strings characters(Text self) {
  Strings out;
  out.reserve(self.size());
  for (const char c : self) {
    out.push_back(std::string(1, c));
  }
  return out;
}
int64_t ord(Text self) {
  TORCH_CHECK(self.size() == 1, "String for ord() must be 1 character, found ", self.size());
  return static_cast<unsigned char>(self[0]);
}
std::string chr(int64_t code) {
  TORCH_CHECK(code >= 0 && code < 0x110000, "chr() arg not in range(0x110000), found ", code);
  return std::string(1, static_cast<char>(code));
}

// Sign, prefix, digits.
std::string in_base(int64_t value, unsigned bits, const char* prefix) {
  uint64_t magnitude = value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
  std::string digits;
  do {
    digits += "0123456789abcdef"[magnitude & ((1U << bits) - 1)];
    magnitude >>= bits;
  } while (magnitude != 0);
  std::reverse(digits.begin(), digits.end());
  return (value < 0 ? "-" : "") + (prefix + digits);
}

constexpr OperatorRow kRows[] = {
    {"aten::add.str(str a, str b) -> str", call<[](Text a, Text b) { return a + b; }>},
    {"aten::len.str(str s) -> int", call<[](Text s) { return static_cast<int64_t>(s.size()); }>},
    {"aten::__getitem__.str(str s, int index) -> str", call<item_at>},
    {"prim::StringIndex(str string, int index) -> str", call<character_at>},
    {"aten::slice.str(str string, int? start=None, int? end=None, int step=1) -> str", call<slice>},
    {"aten::list(str t) -> str[]", call<characters>},
    {"aten::ord(str string) -> int", call<ord>},
    {"aten::chr(int i) -> str", call<chr>},
    {"aten::bin(int i) -> str", call<[](int64_t i) { return in_base(i, 1, "0b"); }>},
    {"aten::oct(int i) -> str", call<[](int64_t i) { return in_base(i, 3, "0o"); }>},
    {"aten::hex(int i) -> str", call<[](int64_t i) { return in_base(i, 4, "0x"); }>},
    {"aten::isupper(str self) -> bool", call<[](Text self) { return letters_are(self, std::isupper); }>},
    {"aten::islower(str self) -> bool", call<[](Text self) { return letters_are(self, std::islower); }>},
    {"aten::isalpha(str self) -> bool", call<[](Text self) { return is_kind(self, std::isalpha); }>},
    {"aten::isalnum(str self) -> bool", call<[](Text self) { return is_kind(self, std::isalnum); }>},
    {"aten::isspace(str self) -> bool", call<[](Text self) { return is_kind(self, std::isspace); }>},
    {"aten::isdigit(str self) -> bool", call<[](Text self) { return is_kind(self, std::isdigit); }>},
    {"aten::isdecimal(str self) -> bool", call<[](Text self) { return is_kind(self, std::isdigit); }>},
    {"aten::isnumeric(str self) -> bool", call<[](Text self) { return is_kind(self, std::isdigit); }>},
    {"aten::isprintable(str self) -> bool", call<is_printable>},
    {"aten::isidentifier(str self) -> bool", call<is_identifier>},
    {"aten::istitle(str self) -> bool", call<is_title>},
    {"aten::upper(str self) -> str", call<upper>},
    {"aten::lower(str self) -> str", call<lower>},
    {"aten::swapcase(str self) -> str", call<swapcase>},
    {"aten::capitalize(str self) -> str", call<capitalize>},
    {"aten::title(str self) -> str", call<title>},
    {"aten::center(str self, int width, str fillchar=\" \") -> str", call<center>},
    {"aten::ljust(str self, int width, str fillchar=\" \") -> str", call<ljust>},
    {"aten::rjust(str self, int width, str fillchar=\" \") -> str", call<rjust>},
    {"aten::zfill(str self, int width) -> str", call<zfill>},
    {"aten::expandtabs(str self, int tabsize=8) -> str", call<expandtabs>},
    {"aten::find(str self, str substr, int start=0, int end=-1) -> int", call<find>},
    {"aten::rfind(str self, str substr, int start=0, int end=-1) -> int", call<rfind>},
    {"aten::index.str(str self, str substr, int start=0, int end=-1) -> int", call<index>},
    {"aten::rindex(str self, str substr, int start=0, int end=-1) -> int", call<rindex>},
    {"aten::count(str self, str substr, int start=0, int end=-1) -> int", call<count>},
    {"aten::startswith(str self, str substr, int start=0, int end=-1) -> bool", call<startswith>},
    {"aten::endswith(str self, str substr, int start=0, int end=-1) -> bool", call<endswith>},
    {"aten::replace(str self, str old, str new, int max=-1) -> str", call<replace>},
    {"aten::strip(str self, str chars=\" \\n\\t\\f\\v\") -> str",
     call<[](Text self, Text chars) { return stripped(self, chars, true, true); }>},
    {"aten::lstrip(str self, str chars=\" \\n\\t\\f\\v\") -> str",
     call<[](Text self, Text chars) { return stripped(self, chars, true, false); }>},
    {"aten::rstrip(str self, str chars=\" \\n\\t\\f\\v\") -> str",
     call<[](Text self, Text chars) { return stripped(self, chars, false, true); }>},
    {"aten::split.str(str self, str? separator=None, int max=-1) -> str[]", call<split>},
    {"aten::rsplit(str self, str separator=\" \", int max=-1) -> str[]", call<rsplit>},
    {"aten::splitlines(str self, bool keepends=False) -> str[]", call<splitlines>},
    {"aten::partition(str self, str separator) -> (str, str, str)", call<partition>},
    {"aten::rpartition(str self, str separator) -> (str, str, str)", call<rpartition>},
    {"aten::join(str self, str[] values) -> str", call<join>},
};

} // namespace

at::ArrayRef<OperatorRow> string_rows() {
  return kRows;
}

} // namespace torch::jit::ops
