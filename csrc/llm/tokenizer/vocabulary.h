// The tokens of a model and their numbers.
#pragma once

#include <csrc/llm/tokenizer/string_table.h>
#include <csrc/program/json.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace torch::llm {

/// Tokens by id and ids by token.
class Vocabulary {
 public:
  static constexpr int32_t kNone = StringTable::kNone;

  /// An object of tokenizer.json: token to id.
  static Vocabulary read(const program::Json& json);
  /// Tokens in the order of their ids; the last of two equal ones is found.
  explicit Vocabulary(const std::vector<std::string>& tokens);
  Vocabulary() = default;

  int32_t find(std::string_view token) const {
    return ids_.find(token);
  }
  /// The text of an id; nothing when it has none.
  std::optional<std::string_view> token(int64_t id) const;
  /// The number of tokens.
  size_t size() const {
    return ids_.size();
  }
  /// One more than the greatest id.
  size_t id_limit() const {
    return tokens_.size();
  }
  /// The ids of "<0x00>" to "<0xFF>"; kNone where there is none.
  std::vector<int32_t> byte_tokens() const;

 private:
  void add(std::string_view token, int64_t id);

  StringTable ids_;
  std::vector<std::optional<std::string>> tokens_;
};

} // namespace torch::llm
