// What separators are found by: a literal text or a regular expression.
#pragma once

#include <csrc/llm/tokenizer/aligned_text.h>
#include <csrc/program/json.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace torch::llm {

/// Finds places in a text; const calls from several threads are safe.
class Matcher {
 public:
  virtual ~Matcher() = default;
  /// The matches from left to right; they do not overlap.
  virtual std::vector<TextSpan> find_all(std::string_view text) const = 0;
};

using MatcherPtr = std::shared_ptr<const Matcher>;

/// {"String": "..."} or {"Regex": "..."}.
MatcherPtr read_matcher(const program::Json& pattern);
MatcherPtr literal_matcher(std::string literal);
MatcherPtr regex_matcher(const std::string& pattern);

} // namespace torch::llm
