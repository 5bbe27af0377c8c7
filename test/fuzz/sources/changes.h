// Sources of TorchScript, changed byte by byte, word by word and line by line, and nested deeply.
#pragma once

#include <string>
#include <vector>

#include "test/fuzz/random.h"

namespace fuzz::sources {

class Changer {
 public:
  explicit Changer(std::vector<std::string> seeds);

  /// A source of the seeds with one or a few changes.
  std::string next(Random& random) const;

 private:
  using Words = std::vector<std::string>;

  std::string like(Random& random, const Words& words, const std::string& word) const;
  void change_words(Random& random, Words& words) const;
  void change_lines(Random& random, std::string& source) const;
  void change_bytes(Random& random, std::string& source) const;
  void nest(Random& random, Words& words) const;

  std::vector<std::string> seeds_;
  Words pool_; // words of all seeds
};

} // namespace fuzz::sources
