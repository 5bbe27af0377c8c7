#include "test/fuzz/sources/changes.h"

#include <algorithm>
#include <cctype>

namespace fuzz::sources {

namespace {

// Words that the seeds may not have.
constexpr const char* kWords[] = {
    "None",
    "True",
    "Optional",
    "List",
    "Dict",
    "Tuple",
    "Union",
    "Any",
    "Tensor",
    "int",
    "float",
    "str",
    "bool",
    "complex",
    "Future",
    "Final",
    "torch",
    "torch.jit.fork",
    "torch.jit.wait",
    "torch.jit.annotate",
    "isinstance",
    "range",
    "enumerate",
    "zip",
    "reversed",
    "print",
    "super",
    "getattr",
    "hasattr",
    "self",
    "lambda",
    "yield",
    "assert",
    "raise",
    "return",
    "break",
    "continue",
    "pass",
    "while",
    "for",
    "if",
    "elif",
    "else",
    "with",
    "as",
    "del",
    "global",
    "import",
    "class",
    "def",
    "in",
    "not",
    "is",
    "and",
    "or",
    "**",
    "//",
    "@",
    "->",
    ":=",
    "...",
    "=",
    "+=",
    "@=",
    "<<",
    ">>",
    "~",
    "!",
    "?",
    "\\",
    "#",
    "0",
    "1",
    "-1",
    "9223372036854775807",
    "9223372036854775808",
    "99999999999999999999999",
    "1e400",
    "1e-400",
    "0x",
    "0b2",
    "1j",
    "1_0",
    "0.",
    ".5",
    "''",
    "\"",
    "'''",
    "f'{x}'",
    "f'{",
    "b''",
    "r'\\'",
    "'\\x4'",
    "'\\u00e9'",
    "\xc3\xa9",
    "{}",
    "[]",
    "()",
    "# type: (int) -> int",
    "# type: ignore",
    "fmod",
    "prim",
    "aten",
    "ops",
    "__init__",
    "inf",
    "nan",
    "[0:40]",
    "[::-1]",
    "torch.zeros([2, 3])",
    "x.append(x)",
    "*args",
    "**kwargs"};

// What opens and closes levels of nesting.
struct Nest {
  const char* open;
  const char* close;
};
constexpr Nest kNests[] = {
    {"(", ")"},
    {"[", "]"},
    {"-", ""},
    {"not ", ""},
    {"~", ""},
    {"f(", ")"},
    {"(1 if True else ", ")"},
    {"{1: ", "}"},
    {"", ".a"},
    {"", "[0]"},
    {"", "()"},
    {"1 + ", ""},
    {"", " + 1"},
    {"2 ** ", ""},
    {"(1, ", ")"},
    {"x and ", ""},
    {"", " or x"},
    {"1 < ", ""},
    {"[x for x in ", "]"},
    {"str(", ")"},
    {"", ".x()"},
    {"await ", ""},
    {"lambda: ", ""},
    {"f'{", "}'"},
    {"(", ",)"},
    {"", "[1:]"},
    {"", " if x else x"},
    {"torch.neg(", ")"},
    {"", "\\\n"}};
constexpr Nest kTypeNests[] = {{"Optional[", "]"},  {"List[", "]"},       {"Tuple[int, ", "]"},
                               {"Dict[str, ", "]"}, {"Union[int, ", "]"}, {"Future[", "]"}};
constexpr const char* kStatements[] = {
    "if x:", "while x:", "for i in range(2):", "with torch.no_grad():", "else:", "elif x:", "def g(x):"};
constexpr size_t kDeepest = 5000;
constexpr size_t kLongest = 1 << 17;

bool is_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

enum class Kind { Name, Number, Blank, Text, Bracket, Sign };
Kind kind_of(char first) {
  if (std::isdigit(static_cast<unsigned char>(first)) != 0) {
    return Kind::Number;
  }
  if (is_name(first)) {
    return Kind::Name;
  }
  switch (first) {
    case ' ':
    case '\n':
      return Kind::Blank;
    case '\'':
    case '"':
      return Kind::Text;
    case '(':
    case ')':
    case '[':
    case ']':
    case '{':
    case '}':
      return Kind::Bracket;
    default:
      return Kind::Sign;
  }
}

// Names, numbers, blanks and signs; together they are the source.
std::vector<std::string> split(const std::string& source) {
  std::vector<std::string> words;
  for (size_t at = 0; at < source.size();) {
    size_t end = at + 1;
    if (is_name(source[at])) {
      while (end < source.size() && is_name(source[end])) {
        ++end;
      }
    } else if (source[at] == ' ') {
      end = std::min(source.find_first_not_of(' ', at), source.size());
    } else if (source[at] == '\'' || source[at] == '"') {
      const size_t close = source.find(source[at], end);
      end = close == std::string::npos || close - at > 60 ? end : close + 1;
    }
    words.push_back(source.substr(at, end - at));
    at = end;
  }
  return words;
}

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) {
    out += word;
  }
  return out;
}

std::vector<std::string> lines_of(const std::string& source) {
  std::vector<std::string> lines;
  for (size_t at = 0; at < source.size();) {
    const size_t end = std::min(source.find('\n', at), source.size());
    lines.push_back(source.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

std::string repeated(const char* text, size_t times) {
  std::string out;
  for (size_t i = 0; i < times; ++i) {
    out += text;
  }
  return out;
}

// Few levels, or many.
size_t depth(Random& random) {
  return random.chance(70) ? 1 + random.below(6) : 1 + random.below(kDeepest);
}

} // namespace

Changer::Changer(std::vector<std::string> seeds) : seeds_(std::move(seeds)) {
  for (const std::string& seed : seeds_) {
    for (std::string& word : split(seed)) {
      if (word[0] != ' ') {
        pool_.push_back(std::move(word));
      }
    }
  }
  std::sort(pool_.begin(), pool_.end());
  pool_.erase(std::unique(pool_.begin(), pool_.end()), pool_.end());
}

// Of a few words the one that is most like the word: programs stay programs.
std::string Changer::like(Random& random, const Words& words, const std::string& word) const {
  for (int tries = 0; tries < 40; ++tries) {
    const std::string& other = random.chance(60) ? random.pick(words) : random.pick(pool_);
    if (kind_of(other[0]) == kind_of(word[0])) {
      return other;
    }
  }
  return word;
}

void Changer::change_words(Random& random, Words& words) const {
  const size_t at = random.below(words.size());
  const auto place = words.begin() + static_cast<std::ptrdiff_t>(at);
  switch (random.below(12)) {
    case 0:
      words.erase(place);
      break;
    case 1:
      words.insert(place, *place + " ");
      break;
    case 2:
      std::swap(words[at], words[random.below(words.size())]);
      break;
    case 3:
    case 4:
      words[at] = pool_.empty() || random.chance(30) ? random.pick(kWords) : random.pick(pool_);
      break;
    case 5:
      words.insert(place, random.chance(50) ? std::string(random.pick(kWords)) + " " : random.pick(words) + " ");
      break;
    case 6: { // a piece of the source again
      const size_t from = random.below(words.size());
      const size_t count = std::min(words.size() - from, 1 + random.below(12));
      const Words piece(
          words.begin() + static_cast<std::ptrdiff_t>(from), words.begin() + static_cast<std::ptrdiff_t>(from + count));
      words.insert(words.begin() + static_cast<std::ptrdiff_t>(at), piece.begin(), piece.end());
      break;
    }
    default: // another word of its kind
      words[at] = like(random, words, words[at]);
  }
}

void Changer::nest(Random& random, Words& words) const {
  const size_t at = random.below(words.size());
  const Nest& chosen = random.chance(25) ? random.pick(kTypeNests) : random.pick(kNests);
  const size_t levels = depth(random);
  words[at] = repeated(chosen.open, levels) + words[at] + repeated(chosen.close, levels);
}

void Changer::change_lines(Random& random, std::string& source) const {
  std::vector<std::string> lines = lines_of(source);
  if (lines.empty()) {
    return;
  }
  const size_t at = random.below(lines.size());
  const auto place = lines.begin() + static_cast<std::ptrdiff_t>(at);
  switch (random.below(6)) {
    case 0:
      lines.erase(place);
      break;
    case 1:
      lines.insert(place, random.pick(lines));
      break;
    case 2:
      lines[at] = std::string(random.below(4), random.chance(20) ? '\t' : ' ') + lines[at];
      break;
    case 3:
      lines[at].erase(0, std::min(lines[at].size(), random.below(5)));
      break;
    case 4: { // a line of another source
      const std::vector<std::string> others = lines_of(random.pick(seeds_));
      if (!others.empty()) {
        lines.insert(place, random.pick(others));
      }
      break;
    }
    default: { // blocks in blocks
      const size_t indent = std::min(lines[at].find_first_not_of(' '), lines[at].size());
      const size_t levels = random.chance(70) ? 1 + random.below(4) : 1 + random.below(400);
      std::vector<std::string> heads;
      for (size_t i = 0; i < levels; ++i) {
        heads.push_back(std::string(indent + i, ' ') + random.pick(kStatements));
      }
      lines[at] = std::string(levels, ' ') + lines[at];
      lines.insert(place, heads.begin(), heads.end());
    }
  }
  source.clear();
  for (const std::string& line : lines) {
    source += line + '\n';
  }
}

void Changer::change_bytes(Random& random, std::string& source) const {
  const size_t at = random.below(source.size());
  switch (random.below(4)) {
    case 0:
      source[at] = static_cast<char>(random.next());
      break;
    case 1:
      source.erase(at, 1 + random.below(4));
      break;
    case 2:
      source.insert(at, 1, static_cast<char>(random.next()));
      break;
    default:
      source.resize(at);
  }
}

std::string Changer::next(Random& random) const {
  std::string source = random.pick(seeds_);
  for (size_t changes = 1 + random.below(3); changes > 0; --changes) {
    if (source.empty() || source.size() > kLongest) {
      break;
    }
    const size_t kind = random.below(20);
    if (kind < 3) {
      change_lines(random, source);
    } else if (kind < 5) {
      change_bytes(random, source);
    } else {
      Words words = split(source);
      if (kind < 8) {
        nest(random, words);
      } else {
        change_words(random, words);
      }
      source = joined(words);
    }
  }
  return source;
}

} // namespace fuzz::sources
