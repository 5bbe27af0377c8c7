// Ends a text before the first of some strings.
#pragma once

#include <optional>
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
  /// The one that was in the text; what was given ends before it.
  const std::optional<std::string>& found() const {
    return found_;
  }

 private:
  std::vector<std::string> strings_;
  std::string held_;
  std::optional<std::string> found_;
};
