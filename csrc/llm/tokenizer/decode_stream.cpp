#include <csrc/llm/tokenizer/tokenizer_impl.h>
#include <csrc/llm/tokenizer/utf8.h>

#include <algorithm>

namespace torch::llm {

namespace {

// Tokens that each end within a character could go on; then it is cut.
constexpr size_t kMaxPendingTokens = 64;

} // namespace

std::string DecodeStream::step(int64_t id) {
  const std::optional<std::string> token = tokenizer_.id_to_token(id);
  if (!token || (skip_special_tokens_ && tokenizer_.is_special(id))) {
    return "";
  }
  ids_.push_back(id);
  const DecoderPtr& decoder = tokenizer_.impl_->decoder;
  const std::optional<std::string> bytes = decoder ? decoder->raw_bytes(*token) : std::nullopt;
  incomplete_ = bytes ? std::string(incomplete_utf8(incomplete_ + *bytes)) : "";
  return incomplete_.empty() || ids_.size() - complete_ >= kMaxPendingTokens ? take() : "";
}

std::string DecodeStream::finish() {
  std::string rest = take();
  ids_.clear();
  incomplete_.clear();
  complete_ = given_ = 0;
  return rest;
}

std::string DecodeStream::take() {
  const std::string text = tokenizer_.decode(ids_, skip_special_tokens_);
  // What has been given can turn out to be part of invalid bytes; then it stays as it was.
  size_t begin = std::min(given_, text.size());
  while (begin < text.size() && (static_cast<unsigned char>(text[begin]) & 0xc0) == 0x80) {
    ++begin;
  }
  given_ = std::max(given_, text.size());
  if (begin < text.size()) {
    // The tokens given last stay: how a token is written depends on the one before it.
    ids_.erase(ids_.begin(), ids_.begin() + static_cast<ptrdiff_t>(complete_));
    complete_ = ids_.size();
    given_ = tokenizer_.decode(ids_, skip_special_tokens_).size();
  }
  return text.substr(begin);
}

} // namespace torch::llm
