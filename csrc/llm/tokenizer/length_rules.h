// Truncation and padding of tokenizer.json.
#pragma once

#include <csrc/llm/tokenizer/encoding.h>
#include <csrc/program/json.h>

#include <optional>
#include <vector>

namespace torch::llm {

struct Truncation {
  enum class Strategy { LongestFirst, OnlyFirst, OnlySecond };

  size_t max_length = 0; ///< tokens, those of the template included
  Strategy strategy = Strategy::LongestFirst;
  bool from_left = false;
};

struct Padding {
  std::optional<size_t> fixed_length; ///< else the longest of a batch
  size_t multiple_of = 1;
  bool on_left = false;
  int64_t id = 0;
  int64_t type_id = 0;
};

/// The member of tokenizer.json. Throws c10::Error for values that are not known.
Truncation read_truncation(const program::Json& json);
Padding read_padding(const program::Json& json);

/// Shortens one or two encodings to max_length less `reserved` tokens. Throws c10::Error when the strategy cannot.
void truncate(std::vector<Encoding>& parts, const Truncation& truncation, size_t reserved);

/// Makes an encoding at least as long as the longest of its batch, and as the rules want it.
void pad(Encoding& encoding, const Padding& padding, size_t longest);

} // namespace torch::llm
