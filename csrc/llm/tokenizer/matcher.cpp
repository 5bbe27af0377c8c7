#include <csrc/llm/tokenizer/matcher.h>

#include <csrc/llm/tokenizer/regex.h>

#include <c10/util/Exception.h>

namespace torch::llm {

namespace {

class RegexMatcher final : public Matcher {
 public:
  explicit RegexMatcher(const std::string& pattern) : regex_(pattern) {}
  std::vector<TextSpan> find_all(std::string_view text) const override {
    return regex_.find_all(text);
  }

 private:
  Regex regex_;
};

class LiteralMatcher final : public Matcher {
 public:
  explicit LiteralMatcher(std::string literal) : literal_(std::move(literal)) {}
  std::vector<TextSpan> find_all(std::string_view text) const override {
    std::vector<TextSpan> matches;
    for (size_t at = text.find(literal_); at != std::string_view::npos;
         at = text.find(literal_, at + literal_.size())) {
      matches.push_back({static_cast<uint32_t>(at), static_cast<uint32_t>(at + literal_.size())});
    }
    return matches;
  }

 private:
  std::string literal_;
};

} // namespace

MatcherPtr read_matcher(const program::Json& pattern) {
  const auto& [kind, text] = pattern.only();
  if (kind == "String") {
    return literal_matcher(text.as_string());
  }
  TORCH_CHECK(kind == "Regex", "a pattern must be {\"String\": ...} or {\"Regex\": ...}, found '", kind, "'");
  return regex_matcher(text.as_string());
}

MatcherPtr literal_matcher(std::string literal) {
  check_utf8(literal, "a pattern");
  // An empty text stands between all characters.
  return literal.empty() ? regex_matcher("") : std::make_shared<LiteralMatcher>(std::move(literal));
}

MatcherPtr regex_matcher(const std::string& pattern) {
  return std::make_shared<RegexMatcher>(pattern);
}

} // namespace torch::llm
