#pragma once

#include <array>
#include <string>
#include <vector>

#include <ATen/ATen.h>

namespace charlm {

/// The characters a model knows, one byte each: printable ASCII, tab, newline, and whatever else its first text held.
class Vocabulary {
 public:
  /// All characters of `text` and the printable ones.
  static Vocabulary of(const std::string& text);
  /// From a checkpoint. Throws UserError if a symbol comes twice or there is no '?'.
  static Vocabulary from_symbols(const std::string& symbols);

  int64_t size() const {
    return static_cast<int64_t>(symbols_.size());
  }
  const std::string& symbols() const {
    return symbols_;
  }
  char symbol(int64_t token) const {
    return symbols_.at(static_cast<size_t>(token));
  }
  /// One uint8 number a character; a character that the vocabulary lacks reads as '?'.
  at::Tensor encode(const std::string& text) const;

 private:
  explicit Vocabulary(std::string symbols);

  std::string symbols_;
  std::array<uint8_t, 256> token_{};
};

/// The text in `files`, joined; of the project's documentation and headers when there are none.
/// Throws UserError for what cannot be read, is empty, or is no text.
std::string read_text(const std::vector<std::string>& files);

/// Tokens to learn from, and tokens that the model never sees.
struct Split {
  at::Tensor train, held_out;
};

/// Holds out every tenth block of the text, so that both parts have something of every file.
/// Throws UserError if the text is too short for sequences of `context` characters.
Split hold_out(const at::Tensor& tokens, int64_t context);

/// What may be written to a terminal: control characters and broken UTF-8 become '?'.
std::string printable(const std::string& text);

} // namespace charlm
