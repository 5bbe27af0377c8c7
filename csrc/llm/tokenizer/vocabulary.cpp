#include <csrc/llm/tokenizer/vocabulary.h>

#include <csrc/llm/tokenizer/utf8.h>

#include <c10/util/Exception.h>

namespace torch::llm {

namespace {

// Ids may have holes, not by the billion.
constexpr int64_t kMaxTokenId = int64_t{1} << 24;

} // namespace

Vocabulary Vocabulary::read(const program::Json& json) {
  Vocabulary read;
  for (const auto& [token, id] : json.members()) {
    TORCH_CHECK(id.is_int(), "vocabulary: the id of '", token, "' must be an integer");
    read.add(token, id.as_int());
  }
  return read;
}

Vocabulary::Vocabulary(const std::vector<std::string>& tokens) {
  tokens_.reserve(tokens.size());
  for (const std::string& token : tokens) {
    add(token, static_cast<int64_t>(tokens_.size()));
  }
}

void Vocabulary::add(std::string_view token, int64_t id) {
  TORCH_CHECK(
      id >= 0 && id < kMaxTokenId, "vocabulary: the id of '", token, "' is ", id, "; it must be in [0, ", kMaxTokenId,
      ")");
  check_utf8(token, "a token of the vocabulary");
  ids_.set(token, static_cast<int32_t>(id));
  const auto index = static_cast<size_t>(id);
  if (index >= tokens_.size()) {
    tokens_.resize(index + 1);
  }
  tokens_[index] = std::string(token);
}

std::optional<std::string_view> Vocabulary::token(int64_t id) const {
  if (id < 0 || static_cast<size_t>(id) >= tokens_.size() || !tokens_[static_cast<size_t>(id)]) {
    return std::nullopt;
  }
  return *tokens_[static_cast<size_t>(id)];
}

std::vector<int32_t> Vocabulary::byte_tokens() const {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::vector<int32_t> ids;
  for (size_t byte = 0; byte < 256; ++byte) {
    ids.push_back(find(std::string("<0x") + kDigits[byte >> 4] + kDigits[byte & 15] + ">"));
  }
  return ids;
}

} // namespace torch::llm
