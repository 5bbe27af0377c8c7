// Names in printed programs.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace torch::jit {

/// Whether a lexer of the language takes it for a name: letters, digits and underscores, and no keyword.
bool is_identifier(std::string_view text);

/// Gives names to the values of one function after the other. Numbers behind names go on from function to function, so
/// that a file's temporaries are all different.
class PrintedNames {
 public:
  /// Names of the function before are free again.
  void begin_function() {
    used_.clear();
  }
  /// The name as near to the wish as it can be had: "x", then "x0", "x1"; "_" only ever with a number.
  std::string choose(const std::string& wish);

 private:
  std::unordered_set<std::string> used_;
  std::unordered_map<std::string, size_t> next_number_;
};

} // namespace torch::jit
