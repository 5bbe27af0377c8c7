#include "stop_strings.h"

#include <algorithm>
#include <utility>

namespace {

// The longest end of `text` that `string` begins with, without being all of it.
size_t overlap(const std::string& text, const std::string& string) {
  for (size_t size = std::min(text.size(), string.size() - 1); size > 0; --size) {
    if (text.compare(text.size() - size, size, string, 0, size) == 0) {
      return size;
    }
  }
  return 0;
}

} // namespace

std::string StopStrings::push(const std::string& piece) {
  if (found_) {
    return "";
  }
  held_ += piece;
  size_t end = std::string::npos, kept = 0;
  for (const std::string& string : strings_) {
    const size_t place = held_.find(string);
    if (place < end) {
      end = place;
      found_ = string;
    }
    kept = std::max(kept, overlap(held_, string));
  }
  const std::string given = held_.substr(0, found_ ? end : held_.size() - kept);
  held_.erase(0, given.size());
  return given;
}

std::string StopStrings::finish() {
  return found_ ? "" : std::exchange(held_, {});
}
