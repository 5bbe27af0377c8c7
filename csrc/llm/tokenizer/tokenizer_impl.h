// What a tokenizer is made of.
#pragma once

#include <csrc/llm/tokenizer/added_tokens.h>
#include <csrc/llm/tokenizer/decoder.h>
#include <csrc/llm/tokenizer/length_rules.h>
#include <csrc/llm/tokenizer/normalizer.h>
#include <csrc/llm/tokenizer/post_processor.h>
#include <csrc/llm/tokenizer/pre_tokenizer.h>
#include <csrc/llm/tokenizer/token_model.h>
#include <csrc/llm/tokenizer/tokenizer.h>

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace torch::llm {

/// Working memory for one call at a time, used again by later calls.
struct EncodeScratch {
  std::unique_ptr<TokenModel::Scratch> model;
  std::vector<WordToken> tokens;
};

/// Scratches that no call uses at the moment.
class ScratchPool {
 public:
  std::unique_ptr<EncodeScratch> take() {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) {
      return nullptr;
    }
    std::unique_ptr<EncodeScratch> scratch = std::move(free_.back());
    free_.pop_back();
    return scratch;
  }
  void give_back(std::unique_ptr<EncodeScratch> scratch) {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(scratch));
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<EncodeScratch>> free_;
};

struct Tokenizer::Impl {
  NormalizerPtr normalizer; // may be null, as all but the model
  PreTokenizerPtr pre_tokenizer;
  TokenModelPtr model;
  PostProcessorPtr post_processor;
  DecoderPtr decoder;
  AddedTokens added;
  std::optional<Truncation> truncation;
  std::optional<Padding> padding;
  size_t vocab_size = 0;
  mutable ScratchPool scratches;

  /// Appends the tokens of a text without those of the template.
  void append_text(Encoding& out, std::string_view text, bool tracked, EncodeScratch& scratch) const;
  /// One or two texts with the template, truncated but not padded.
  Encoding encode(c10::ArrayRef<std::string_view> texts, bool add_special_tokens, bool tracked) const;
  std::optional<std::string_view> token(int64_t id) const;
  void count_tokens();
};

/// Makes tokenizers of their parts.
class TokenizerBuilder {
 public:
  static Tokenizer build(std::shared_ptr<Tokenizer::Impl> impl);
  static std::shared_ptr<Tokenizer::Impl> make_impl();
};

} // namespace torch::llm
