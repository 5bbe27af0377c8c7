// The command lines of the fuzzers.
#pragma once

#include <stdexcept>
#include <string>

namespace fuzz {

/// Walks over the words of a command line; an option takes the word after it with value().
class CommandLine {
 public:
  CommandLine(int argc, char** argv) : argc_(argc), argv_(argv) {}

  /// Goes on to the next word; false at the end.
  bool next() {
    return ++place_ < argc_;
  }
  /// The word of the moment.
  std::string word() const {
    return argv_[place_];
  }
  /// The word after it, which the option of the moment needs. Throws std::invalid_argument where there is none.
  std::string value() {
    if (place_ + 1 >= argc_) {
      throw std::invalid_argument(word() + " needs a value");
    }
    return argv_[++place_];
  }

 private:
  int argc_;
  char** argv_;
  int place_ = 0;
};

} // namespace fuzz
