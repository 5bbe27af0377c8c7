#include <csrc/jit/serialize/print_names.h>

#include <algorithm>

namespace torch::jit {

namespace {

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

const std::unordered_set<std::string_view>& keywords() {
  static const std::unordered_set<std::string_view> names{
      "False", "None",     "True",  "and",    "as",   "assert", "async",  "await",    "break",
      "class", "continue", "def",   "del",    "elif", "else",   "except", "finally",  "for",
      "from",  "global",   "if",    "import", "in",   "is",     "lambda", "nonlocal", "not",
      "or",    "pass",     "raise", "return", "try",  "while",  "with",   "yield"};
  return names;
}

// What printed programs, or the reader of them, mean by these names.
const std::unordered_set<std::string_view>& taken_names() {
  static const std::unordered_set<std::string_view> names{
      "_",     "annotate", "aten", "attribute", "awaitable", "bool",           "complex",      "CONSTANTS", "float",
      "fork",  "getattr",  "inf",  "infj",      "int",       "isinstance",     "nan",          "nanj",      "ops",
      "print", "range",    "str",  "torch",     "__torch__", "unchecked_cast", "uninitialized"};
  return names;
}

std::string valid_name(const std::string& wish) {
  std::string name = wish.empty() ? "_" : wish;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return !is_name_character(c); }, '_');
  return name[0] >= '0' && name[0] <= '9' ? '_' + name : name;
}

} // namespace

bool is_identifier(std::string_view text) {
  return !text.empty() && !(text[0] >= '0' && text[0] <= '9') &&
      std::all_of(text.begin(), text.end(), is_name_character) && keywords().count(text) == 0;
}

std::string PrintedNames::choose(const std::string& wish) {
  const std::string base = valid_name(wish);
  std::string name = base;
  while (keywords().count(name) > 0 || taken_names().count(name) > 0 || used_.count(name) > 0) {
    name = base + std::to_string(next_number_[base]++);
  }
  used_.insert(name);
  return name;
}

} // namespace torch::jit
