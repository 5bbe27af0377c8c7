// Tokens one after another.
#pragma once

#include <csrc/llm/model.h>
#include <csrc/llm/sampler.h>

#include <iterator>
#include <memory>
#include <optional>
#include <vector>

namespace torch::llm {

/// Why generation has ended.
enum class FinishReason {
  None, ///< it has not
  Stop, ///< a stop token was drawn
  Length, ///< max_new_tokens, or the longest context that the model can place
  Cancelled,
  Memory, ///< an engine's pool of pages is too small for the sequence
  Error, ///< an engine's model has thrown
};

/// How tokens are generated.
struct GenerateOptions {
  int64_t max_new_tokens = 256;
  SamplerOptions sampler; ///< greedy unless a temperature is given
  std::vector<int64_t> stop_tokens; ///< beside those of the model's config
  bool ignore_eos = false; ///< leaves those of the config out
  /// How many of the likeliest tokens logprobs() tells beside the one that was drawn; without it nothing is kept.
  std::optional<int64_t> top_logprobs = std::nullopt;
  int64_t prefill_chunk = 512; ///< tokens of a prompt that are fed at once: after each, cancel() is heeded
  /// Speculative decoding: a small model of the same vocabulary proposes draft_tokens, which this one accepts or
  /// corrects in one pass. The distribution of the tokens is that without it (arXiv 2211.17192).
  std::shared_ptr<const Model> draft = nullptr;
  int64_t draft_tokens = 4;
};

/// A running generation: a range that is gone through once, each step of which makes a token.
///
///   for (int64_t token : torch::llm::generate(model, prompt)) { ... }
class TORCH_API Generation {
 public:
  class State;
  explicit Generation(std::unique_ptr<State> state);
  ~Generation();
  Generation(Generation&& other) noexcept;
  Generation& operator=(Generation&& other) noexcept;

  /// The next token; nothing when generation has ended. A stop token ends it and is not given.
  std::optional<int64_t> next();
  /// Ends it before the next token. May be called from another thread.
  void cancel();
  FinishReason finish_reason() const;
  /// The stop token that has ended it.
  std::optional<int64_t> stop_token() const;
  /// Of the token that next() gave last, with GenerateOptions::top_logprobs.
  const TokenLogprobs& logprobs() const;
  /// Holds the prompt and the tokens given, but for the last where nothing has needed it yet; its length tells.
  KVCache& cache();
  /// Of speculative decoding: tokens that the draft has proposed, and those of them that were accepted.
  int64_t proposed() const;
  int64_t accepted() const;

  class iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = int64_t;
    using difference_type = std::ptrdiff_t;
    using pointer = const int64_t*;
    using reference = const int64_t&;

    iterator() = default;
    explicit iterator(Generation* generation) : generation_(generation) {
      ++*this;
    }
    reference operator*() const {
      return *token_;
    }
    iterator& operator++() {
      token_ = generation_->next();
      generation_ = token_ ? generation_ : nullptr;
      return *this;
    }
    void operator++(int) {
      ++*this;
    }
    friend bool operator==(const iterator& a, const iterator& b) {
      return a.generation_ == b.generation_;
    }
    friend bool operator!=(const iterator& a, const iterator& b) {
      return !(a == b);
    }

   private:
    Generation* generation_ = nullptr;
    std::optional<int64_t> token_;
  };
  iterator begin() {
    return iterator(this);
  }
  iterator end() {
    return iterator();
  }

 private:
  std::unique_ptr<State> state_;
};

/// Generates what follows `prompt`, which has at least one token. With `cache` the prompt continues what is in it, and
/// the cache must outlive the generation. Throws for options that make no sense; next() throws what Model::forward
/// does.
TORCH_API Generation generate(
    std::shared_ptr<const Model> model,
    std::vector<int64_t> prompt,
    const GenerateOptions& options = {},
    KVCache* cache = nullptr);

/// Room for the tokens of an answer behind its prompt.
void reserve_answer(std::vector<int64_t>& tokens, const GenerateOptions& options);
/// Throws when an option of `op` makes no sense.
void check_top_logprobs(const char* op, const GenerateOptions& options);
/// Whether a token ends a generation with these options.
TORCH_API bool is_stop_token(const ModelConfig& config, const GenerateOptions& options, int64_t token);

} // namespace torch::llm
