// Ends a text before the first of some strings.
#pragma once

#include <string>
#include <vector>

/// Lets a text through piece by piece, but for the beginning of what may become one of the strings.
class StopStrings {
 public:
  explicit StopStrings(std::vector<std::string> strings) : strings_(std::move(strings)) {}

  /// What of the text so far can be given.
  std::string push(const std::string& piece);
  /// What was held back, at the end of the text.
  std::string finish();
  /// Whether one of them was in the text; what was given ends before it.
  bool found() const {
    return found_;
  }

 private:
  std::vector<std::string> strings_;
  std::string held_;
  bool found_ = false;
};
