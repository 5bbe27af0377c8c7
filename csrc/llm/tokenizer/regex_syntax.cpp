// Oniguruma's Ruby syntax in that of PCRE2.
#define PCRE2_CODE_UNIT_WIDTH 8
#include <csrc/llm/tokenizer/regex.h>

#include <c10/util/Exception.h>

#include <pcre2.h>

#include <array>
#include <utility>

namespace torch::llm {

namespace {

constexpr int kMaxClassDepth = 20;

// Items of a class. PCRE2's own \w lacks marks and connectors, its \s has U+180E.
constexpr std::string_view kWordItems = "\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}";
constexpr std::string_view kSpaceItems = "\\x09-\\x0d\\x{85}\\p{Z}";
constexpr std::string_view kHexItems = "0-9A-Fa-f";

// Names of properties that Oniguruma has and PCRE2 does not.
constexpr std::array<std::pair<std::string_view, std::string_view>, 42> kPropertyItems = {
    {{"letter", "\\p{L}"},
     {"uppercaseletter", "\\p{Lu}"},
     {"lowercaseletter", "\\p{Ll}"},
     {"titlecaseletter", "\\p{Lt}"},
     {"casedletter", "\\p{L&}"},
     {"modifierletter", "\\p{Lm}"},
     {"otherletter", "\\p{Lo}"},
     {"mark", "\\p{M}"},
     {"nonspacingmark", "\\p{Mn}"},
     {"spacingmark", "\\p{Mc}"},
     {"enclosingmark", "\\p{Me}"},
     {"number", "\\p{N}"},
     {"decimalnumber", "\\p{Nd}"},
     {"letternumber", "\\p{Nl}"},
     {"othernumber", "\\p{No}"},
     {"punctuation", "\\p{P}"},
     {"connectorpunctuation", "\\p{Pc}"},
     {"dashpunctuation", "\\p{Pd}"},
     {"openpunctuation", "\\p{Ps}"},
     {"closepunctuation", "\\p{Pe}"},
     {"initialpunctuation", "\\p{Pi}"},
     {"finalpunctuation", "\\p{Pf}"},
     {"otherpunctuation", "\\p{Po}"},
     {"symbol", "\\p{S}"},
     {"mathsymbol", "\\p{Sm}"},
     {"currencysymbol", "\\p{Sc}"},
     {"modifiersymbol", "\\p{Sk}"},
     {"othersymbol", "\\p{So}"},
     {"separator", "\\p{Z}"},
     {"spaceseparator", "\\p{Zs}"},
     {"lineseparator", "\\p{Zl}"},
     {"paragraphseparator", "\\p{Zp}"},
     {"other", "\\p{C}"},
     {"control", "\\p{Cc}"},
     {"format", "\\p{Cf}"},
     {"unassigned", "\\p{Cn}"},
     {"word", kWordItems},
     {"alpha", "\\p{Alphabetic}"},
     {"space", kSpaceItems},
     {"digit", "\\p{Nd}"},
     {"alnum", "\\p{Alphabetic}\\p{Nd}"},
     {"punct", "\\p{P}$+<=>^`|~"}}};

bool compiles(const std::string& pattern) {
  int error = 0;
  size_t offset = 0;
  pcre2_code_8* const code = pcre2_compile_8(
      reinterpret_cast<PCRE2_SPTR8>(pattern.data()), pattern.size(), PCRE2_UTF, &error, &offset, nullptr);
  pcre2_code_free_8(code);
  return code != nullptr;
}

/// The items of \p{name} in a class.
std::string property_items(std::string_view name) {
  std::string key;
  for (const char c : name) {
    if (c != '_' && c != ' ' && c != '-') {
      key += static_cast<char>(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
    }
  }
  for (const auto& [known, items] : kPropertyItems) {
    if (known == key) {
      return std::string(items);
    }
  }
  // A script, not its extensions.
  const std::string script = "\\p{sc:" + std::string(name) + "}";
  return key.size() > 2 && compiles(script) ? script : "\\p{" + std::string(name) + "}";
}

/// A set of characters: the items of a class, or a pattern for one character.
struct CharacterSet {
  std::string items;
  bool is_negated = false;
  std::string pattern; // when it is no plain class

  std::string to_pattern() const {
    return !pattern.empty() ? pattern : (is_negated ? "[^" : "[") + items + "]";
  }
};

class SyntaxTranslator {
 public:
  explicit SyntaxTranslator(std::string_view pattern) : pattern_(pattern) {}

  std::string run() {
    while (position_ < pattern_.size()) {
      step();
    }
    return std::move(out_);
  }

 private:
  char peek(size_t ahead = 0) const {
    return position_ + ahead < pattern_.size() ? pattern_[position_ + ahead] : '\0';
  }

  void step() {
    const char c = peek();
    if (c == '\\') {
      out_ += escape_outside_class();
    } else if (c == '[') {
      out_ += parse_class(0).to_pattern();
    } else if (c == '(' && peek(1) == '?') {
      copy_options();
    } else if (c == '}' && peek(1) == '+') {
      out_ += "}{1,}"; // {n,m}+ repeats an interval, it is not possessive
      position_ += 2;
    } else {
      out_ += c;
      ++position_;
    }
  }

  /// (?m) of Ruby is (?s) elsewhere.
  void copy_options() {
    out_ += "(?";
    position_ += 2;
    if (peek() == '<' || peek() == '#' || peek() == 'P' || peek() == '\'') {
      return;
    }
    while ((peek() >= 'a' && peek() <= 'z') || peek() == '-') {
      out_ += peek() == 'm' ? 's' : peek();
      ++position_;
    }
  }

  std::string escape_outside_class() {
    const CharacterSet set = escaped_set();
    return set.items.empty() ? set.pattern : set.to_pattern();
  }

  /// What a backslash and its letter stand for: items, or a pattern that is copied.
  CharacterSet escaped_set() {
    const char letter = peek(1);
    switch (letter) {
      case 'w':
      case 'W':
        return letter_set(kWordItems, letter == 'W');
      case 's':
      case 'S':
        return letter_set(kSpaceItems, letter == 'S');
      case 'h':
      case 'H':
        return letter_set(kHexItems, letter == 'H');
      case 'p':
      case 'P':
        return property_set();
      default: {
        const size_t length = letter == '\0' ? 1 : 1 + utf8_length(letter);
        CharacterSet set;
        set.pattern = std::string(pattern_.substr(position_, length));
        position_ += length;
        return set;
      }
    }
  }

  CharacterSet letter_set(std::string_view items, bool is_negated) {
    position_ += 2;
    return {std::string(items), is_negated, ""};
  }

  CharacterSet property_set() {
    bool is_negated = peek(1) == 'P';
    if (peek(2) != '{') { // \pL
      CharacterSet set{"\\p{" + std::string(pattern_.substr(position_ + 2, 1)) + "}", is_negated, ""};
      position_ = std::min(pattern_.size(), position_ + 3);
      return set;
    }
    position_ += 3;
    if (peek() == '^') {
      is_negated = !is_negated;
      ++position_;
    }
    const size_t end = pattern_.find('}', position_);
    TORCH_CHECK(end != std::string_view::npos, "regular expression: \\p{ has no end at byte ", position_);
    const std::string_view name = pattern_.substr(position_, end - position_);
    position_ = end + 1;
    return {property_items(name), is_negated, ""};
  }

  /// A class at '[': items, nested classes, && between intersected parts.
  CharacterSet parse_class(int depth) {
    TORCH_CHECK(depth < kMaxClassDepth, "regular expression: classes are nested deeper than ", kMaxClassDepth);
    const size_t begin = position_++;
    const bool is_negated = peek() == '^';
    position_ += is_negated ? 1 : 0;
    std::vector<CharacterSet> parts;
    std::vector<std::string> alternatives; // sets that are no items
    std::string items;
    const auto end_part = [&] {
      parts.push_back(united(std::move(items), std::move(alternatives)));
      items.clear();
      alternatives.clear();
    };
    for (bool is_first = true;; is_first = false) {
      TORCH_CHECK(position_ < pattern_.size(), "regular expression: the class at byte ", begin, " has no end");
      const char c = peek();
      if (c == ']' && !is_first) {
        ++position_;
        break;
      }
      if (c == '&' && peek(1) == '&') {
        position_ += 2;
        end_part();
      } else if (c == '[' && peek(1) == ':') {
        add_posix(items);
      } else if (c == '[') {
        add_set(parse_class(depth + 1), items, alternatives);
      } else if (c == '\\') {
        add_set(escaped_set(), items, alternatives);
      } else {
        items += c == ']' ? "\\]" : std::string(1, c);
        ++position_;
      }
    }
    end_part();
    return intersected(parts, is_negated);
  }

  void add_posix(std::string& items) {
    const size_t end = pattern_.find(":]", position_ + 2);
    TORCH_CHECK(end != std::string_view::npos, "regular expression: [: has no end at byte ", position_);
    items += pattern_.substr(position_, end + 2 - position_);
    position_ = end + 2;
  }

  static void add_set(const CharacterSet& set, std::string& items, std::vector<std::string>& alternatives) {
    if (!set.pattern.empty() && set.pattern[0] == '\\') {
      items += set.pattern;
    } else if (!set.pattern.empty()) {
      alternatives.push_back(set.pattern);
    } else if (!set.is_negated) {
      items += set.items;
    } else if (set.items.starts_with("\\p{") && set.items.find('}') + 1 == set.items.size()) {
      items += "\\P" + set.items.substr(2);
    } else {
      alternatives.push_back(set.to_pattern());
    }
  }

  static CharacterSet united(std::string items, std::vector<std::string> alternatives) {
    if (alternatives.empty()) {
      return {std::move(items), false, ""};
    }
    std::string pattern = "(?:";
    for (const std::string& alternative : alternatives) {
      pattern += alternative + "|";
    }
    // Nothing matches an empty class.
    return {"", false, pattern + (items.empty() ? "(?!)" : "[" + items + "]") + ")"};
  }

  static CharacterSet intersected(std::vector<CharacterSet>& parts, bool is_negated) {
    if (parts.size() == 1 && parts[0].pattern.empty()) {
      parts[0].is_negated = is_negated;
      return parts[0];
    }
    std::string pattern;
    for (size_t i = 0; i < parts.size(); ++i) {
      const std::string part = parts[i].to_pattern();
      pattern += i + 1 < parts.size() ? "(?=" + part + ")" : part;
    }
    return {"", false, is_negated ? "(?:(?!" + pattern + ")(?s:.))" : "(?:" + pattern + ")"};
  }

  std::string_view pattern_;
  size_t position_ = 0;
  std::string out_;
};

} // namespace

std::string pcre2_syntax(std::string_view pattern) {
  return SyntaxTranslator(pattern).run();
}

} // namespace torch::llm
