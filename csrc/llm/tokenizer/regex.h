// Regular expressions of tokenizer.json, run by PCRE2.
#pragma once

#include <csrc/llm/tokenizer/aligned_text.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

struct pcre2_real_code_8;

namespace torch::llm {

/// The pattern as PCRE2 writes what Oniguruma's Ruby syntax means, which is what tokenizer.json holds: \w, \s and \h by
/// Unicode, intersections and unions of classes, scripts, intervals that repeat.
/// Throws c10::Error for a class that does not end.
std::string pcre2_syntax(std::string_view pattern);

/// A compiled expression. Threads may share one.
class Regex {
 public:
  /// Throws c10::Error with the place when the pattern is not valid.
  explicit Regex(const std::string& pattern);

  /// Calls visit(span) for each match from left to right; they do not overlap. `text` is valid UTF-8. Throws c10::Error
  /// when a match takes more steps than the limit, so that no pattern takes forever.
  template <class Visit>
  void for_each_match(std::string_view text, Visit&& visit) const {
    size_t position = 0, last_end = std::string_view::npos;
    TextSpan match;
    while (position <= text.size() && find(text, position, match)) {
      if (match.size() == 0 && match.end == last_end) { // an empty match right after another one is none
        position = match.end + (match.end < text.size() ? utf8_length(text[match.end]) : 1);
        continue;
      }
      position = last_end = match.end;
      visit(match);
    }
  }
  std::vector<TextSpan> find_all(std::string_view text) const;

 private:
  bool find(std::string_view text, size_t position, TextSpan& match) const;

  std::shared_ptr<const pcre2_real_code_8> code_;
  std::string pattern_;
};

} // namespace torch::llm
