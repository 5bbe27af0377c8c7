#include <csrc/llm/generate.h>

#include <csrc/llm/speculation.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <atomic>

namespace torch::llm {

namespace {

void check_options(const Model& model, const GenerateOptions& options, const std::vector<int64_t>& prompt) {
  TORCH_CHECK(
      !prompt.empty(), "generate: the prompt has no tokens: give at least one, such as the token that begins a text");
  TORCH_CHECK(
      options.max_new_tokens >= 0 && options.prefill_chunk > 0 && options.draft_tokens > 0, "generate: max_new_tokens ",
      options.max_new_tokens, " must not be negative, prefill_chunk ", options.prefill_chunk, " and draft_tokens ",
      options.draft_tokens, " must be positive");
  check_top_logprobs("generate", options);
  TORCH_CHECK(
      !options.draft || options.draft->config().vocab_size == model.config().vocab_size,
      "generate: the draft has a vocabulary of ", options.draft ? options.draft->config().vocab_size : 0,
      " tokens, the model one of ", model.config().vocab_size, ": they must have the same");
}

} // namespace

class Generation::State {
 public:
  State(std::shared_ptr<const Model> model, std::vector<int64_t> prompt, const GenerateOptions& options, KVCache* cache)
      : model_(std::move(model)),
        options_(options),
        tokens_(std::move(prompt)),
        prompt_size_(tokens_.size()),
        given_(tokens_.size()),
        cache_(cache),
        sampler_(options.sampler.behind(prompt_size_)) {
    check_options(*model_, options_, tokens_);
    reserve_answer(tokens_, options_);
    if (!cache_) {
      own_ = std::make_unique<KVCache>(model_->make_cache());
      cache_ = own_.get();
    }
    offset_ = cache_->length();
    if (options_.draft) {
      speculation_ = std::make_unique<Speculation>(*model_, *options_.draft, *cache_);
    }
  }

  std::optional<int64_t> next() {
    if (reason_ != FinishReason::None) {
      return std::nullopt;
    }
    if (static_cast<int64_t>(given_ - prompt_size_) >= options_.max_new_tokens) {
      return finish(FinishReason::Length);
    }
    if (given_ == tokens_.size() && !refill()) {
      return std::nullopt;
    }
    const int64_t token = tokens_[given_];
    if (is_stop_token(model_->config(), options_, token)) {
      stop_token_ = token;
      return finish(FinishReason::Stop);
    }
    if (options_.top_logprobs) {
      logprobs_ = token_logprobs(logits_[static_cast<int64_t>(given_ - logits_begin_)], token, *options_.top_logprobs);
    }
    ++given_;
    return token;
  }

  std::atomic<bool> cancelled{false};

  FinishReason reason() const {
    return reason_;
  }
  std::optional<int64_t> stop_token() const {
    return stop_token_;
  }
  const TokenLogprobs& logprobs() const {
    return logprobs_;
  }
  KVCache& cache() {
    return *cache_;
  }
  const Speculation* speculation() const {
    return speculation_.get();
  }

 private:
  std::optional<int64_t> finish(FinishReason reason) {
    reason_ = reason;
    // Drafts may have gone beyond what was given.
    cache_->truncate(std::min(cache_->length(), offset_ + static_cast<int64_t>(given_)));
    return std::nullopt;
  }

  // Room for more positions, or the end.
  bool has_room(int64_t more) const {
    return !model_->config().ropes.empty() || cache_->length() + more <= model_->config().max_position;
  }

  // Feeds what is not in the cache but for the last token.
  bool prefill() {
    const auto chunk = static_cast<size_t>(options_.prefill_chunk);
    while (fed_ + 1 < tokens_.size()) {
      if (cancelled) {
        finish(FinishReason::Cancelled);
        return false;
      }
      const size_t count = std::min(chunk, tokens_.size() - 1 - fed_);
      if (!has_room(static_cast<int64_t>(count))) {
        finish(FinishReason::Length);
        return false;
      }
      const SequenceStep step{
          c10::ArrayRef<int64_t>(tokens_).slice(fed_, count), cache_, LogitsOf::Last,
          offset_ + static_cast<int64_t>(tokens_.size())};
      model_->forward(step);
      fed_ += count;
    }
    return true;
  }

  bool refill() {
    if (!prefill()) {
      return false;
    }
    if (cancelled || !has_room(1)) {
      finish(cancelled ? FinishReason::Cancelled : FinishReason::Length);
      return false;
    }
    const int64_t left = options_.max_new_tokens - static_cast<int64_t>(given_ - prompt_size_);
    const int64_t drafts = std::min({options_.draft_tokens, left - 1, cache_->max_append() - 1});
    if (speculation_ && drafts > 0 && has_room(drafts + 1)) {
      logits_begin_ = tokens_.size();
      fed_ += static_cast<size_t>(speculation_->extend(tokens_, drafts, sampler_));
      logits_ = speculation_->logits();
      return true;
    }
    logits_ = model_->forward(c10::ArrayRef<int64_t>(tokens_).slice(fed_), *cache_);
    logits_begin_ = fed_ = tokens_.size();
    tokens_.push_back(sampler_(logits_[0], tokens_));
    return true;
  }

  std::shared_ptr<const Model> model_;
  GenerateOptions options_;
  std::vector<int64_t> tokens_; // the prompt and what has been drawn
  size_t prompt_size_;
  size_t given_; // of tokens_, the prompt and what next() has given
  size_t fed_ = 0; // of tokens_, what is in the cache
  int64_t offset_ = 0; // positions that the cache had before
  std::unique_ptr<KVCache> own_;
  KVCache* cache_;
  std::unique_ptr<Speculation> speculation_;
  Sampler sampler_;
  at::Tensor logits_; // what the last tokens were drawn from, a row for each
  size_t logits_begin_ = 0; // of tokens_, the first of those
  std::optional<int64_t> stop_token_;
  TokenLogprobs logprobs_;
  FinishReason reason_ = FinishReason::None;
};

Generation::Generation(std::unique_ptr<State> state) : state_(std::move(state)) {}
Generation::~Generation() = default;
Generation::Generation(Generation&& other) noexcept = default;
Generation& Generation::operator=(Generation&& other) noexcept = default;

std::optional<int64_t> Generation::next() {
  return state_->next();
}
void Generation::cancel() {
  state_->cancelled = true;
}
FinishReason Generation::finish_reason() const {
  return state_->reason();
}
std::optional<int64_t> Generation::stop_token() const {
  return state_->stop_token();
}
const TokenLogprobs& Generation::logprobs() const {
  return state_->logprobs();
}
KVCache& Generation::cache() {
  return state_->cache();
}
int64_t Generation::proposed() const {
  return state_->speculation() ? state_->speculation()->proposed() : 0;
}
int64_t Generation::accepted() const {
  return state_->speculation() ? state_->speculation()->accepted() : 0;
}

Generation generate(
    std::shared_ptr<const Model> model, std::vector<int64_t> prompt, const GenerateOptions& options, KVCache* cache) {
  TORCH_CHECK(model, "generate: there is no model");
  return Generation(std::make_unique<Generation::State>(std::move(model), std::move(prompt), options, cache));
}

void reserve_answer(std::vector<int64_t>& tokens, const GenerateOptions& options) {
  constexpr int64_t kMost = 1 << 15; // of more, memory is taken as they come
  tokens.reserve(tokens.size() + static_cast<size_t>(std::min(options.max_new_tokens, kMost)));
}

void check_top_logprobs(const char* op, const GenerateOptions& options) {
  TORCH_CHECK(
      options.top_logprobs.value_or(0) >= 0, op, ": top_logprobs ", options.top_logprobs.value_or(0),
      " must not be negative");
}

bool is_stop_token(const ModelConfig& config, const GenerateOptions& options, int64_t token) {
  const auto holds = [&](const std::vector<int64_t>& tokens) {
    return std::find(tokens.begin(), tokens.end(), token) != tokens.end();
  };
  return holds(options.stop_tokens) || (!options.ignore_eos && holds(config.eos_tokens));
}

} // namespace torch::llm
