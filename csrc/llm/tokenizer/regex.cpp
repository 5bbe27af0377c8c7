#define PCRE2_CODE_UNIT_WIDTH 8
#include <csrc/llm/tokenizer/regex.h>

#include <c10/util/Exception.h>

#include <pcre2.h>

namespace torch::llm {

namespace {

// Steps of one match. A pattern in the field takes some for each character, on spaces at worst a few.
constexpr uint32_t kMatchLimit = 50'000'000;
constexpr size_t kJitStackStart = size_t(32) << 10, kJitStackMost = size_t(4) << 20;

std::string error_text(int code) {
  unsigned char text[256];
  pcre2_get_error_message_8(code, text, sizeof text);
  return reinterpret_cast<const char*>(text);
}

/// What a match needs to write to; each thread has its own.
class MatchScratch {
 public:
  MatchScratch()
      : data(pcre2_match_data_create_8(1, nullptr)),
        context(pcre2_match_context_create_8(nullptr)),
        stack_(pcre2_jit_stack_create_8(kJitStackStart, kJitStackMost, nullptr)) {
    TORCH_CHECK(data && context && stack_, "no memory for a regular expression's match");
    pcre2_set_match_limit_8(context, kMatchLimit);
    pcre2_jit_stack_assign_8(context, nullptr, stack_);
  }
  ~MatchScratch() {
    pcre2_match_data_free_8(data);
    pcre2_match_context_free_8(context);
    pcre2_jit_stack_free_8(stack_);
  }
  MatchScratch(const MatchScratch&) = delete;
  MatchScratch& operator=(const MatchScratch&) = delete;

  pcre2_match_data_8* const data;
  pcre2_match_context_8* const context;

 private:
  pcre2_jit_stack_8* const stack_;
};

} // namespace

Regex::Regex(const std::string& pattern) : pattern_(pattern) {
  check_utf8(pattern, "a regular expression");
  const std::string translated = pcre2_syntax(pattern);
  int error = 0;
  size_t offset = 0;
  // In Ruby's syntax ^ and $ stand at the ends of lines.
  pcre2_code_8* const code = pcre2_compile_8(
      reinterpret_cast<PCRE2_SPTR8>(translated.data()), translated.size(),
      PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C, &error, &offset, nullptr);
  TORCH_CHECK(
      code, "regular expression '", pattern.substr(0, 200), "', as PCRE2's '", translated.substr(0, 200), "', offset ",
      offset, ": ", error_text(error));
  code_ = std::shared_ptr<const pcre2_code_8>(
      code, [](const pcre2_code_8* owned) { pcre2_code_free_8(const_cast<pcre2_code_8*>(owned)); });
  pcre2_jit_compile_8(code, PCRE2_JIT_COMPLETE); // where it cannot, the interpreter runs
}

bool Regex::find(std::string_view text, size_t position, TextSpan& match) const {
  thread_local const MatchScratch scratch;
  const int count = pcre2_match_8(
      code_.get(), reinterpret_cast<PCRE2_SPTR8>(text.data()), text.size(), position, PCRE2_NO_UTF_CHECK, scratch.data,
      scratch.context);
  if (count == PCRE2_ERROR_NOMATCH) {
    return false;
  }
  // 0: there are more groups than the scratch has room for; the whole match is there.
  TORCH_CHECK(
      count >= 0, "regular expression '", pattern_.substr(0, 200), "' failed at byte ", position, " of ", text.size(),
      ": ", error_text(count));
  const size_t* const ends = pcre2_get_ovector_pointer_8(scratch.data);
  // \K in an assertion can put the begin after the end.
  TORCH_CHECK(
      ends[0] >= position && ends[1] >= ends[0], "regular expression '", pattern_.substr(0, 200),
      "' matches backwards; it must not use \\K");
  match = {static_cast<uint32_t>(ends[0]), static_cast<uint32_t>(ends[1])};
  return true;
}

std::vector<TextSpan> Regex::find_all(std::string_view text) const {
  std::vector<TextSpan> matches;
  for_each_match(text, [&](TextSpan match) { matches.push_back(match); });
  return matches;
}

} // namespace torch::llm
