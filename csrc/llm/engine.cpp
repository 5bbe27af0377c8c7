#include <csrc/llm/engine.h>

#include <csrc/llm/engine_sequence.h>
#include <csrc/llm/request_state.h>
#include <aten/parallel/Parallel.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <list>
#include <thread>

namespace torch::llm {

namespace {

int64_t common_beginning(const std::vector<int64_t>& a, const std::vector<int64_t>& b) {
  const size_t limit = std::min(a.size(), b.size());
  return std::mismatch(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(limit), b.begin()).first - a.begin();
}

} // namespace

class Engine::Impl {
 public:
  Impl(std::shared_ptr<const Model> model, const EngineOptions& options) : model_(std::move(model)), options_(options) {
    TORCH_CHECK(model_, "Engine: there is no model");
    TORCH_CHECK(
        options.max_sequences > 0 && options.step_tokens > 0 && options.kept_sequences >= 0, "Engine: max_sequences ",
        options.max_sequences, " and step_tokens ", options.step_tokens, " must be positive, kept_sequences ",
        options.kept_sequences, " not negative");
    pool_ = model_->make_pool(options.positions, options.block_size, options.cache_dtype);
  }

  ~Impl() {
    stop();
    for (std::list<EngineSequence>* const list : {&running_, &waiting_}) {
      for (const EngineSequence& sequence : *list) {
        sequence.state->finish(FinishReason::Cancelled);
      }
    }
  }

  std::shared_ptr<Request> submit(std::vector<int64_t> prompt, const GenerateOptions& options) {
    check_request(prompt, options);
    auto state = std::make_shared<Request::State>();
    const size_t size = prompt.size();
    reserve_answer(prompt, options);
    {
      const std::lock_guard lock(mutex_);
      waiting_.push_back(EngineSequence{
          state, std::move(prompt), size, options, Sampler(options.sampler.behind(size)), KVCache(pool_)});
    }
    changed_.notify_all();
    return std::make_shared<Request>(std::move(state));
  }

  bool step() {
    const std::lock_guard step_lock(step_mutex_);
    {
      const std::lock_guard lock(mutex_);
      drop_cancelled(waiting_);
      drop_cancelled(running_);
      admit();
    }
    if (running_.empty()) {
      const std::lock_guard lock(mutex_);
      count_used();
      return false;
    }
    try {
      const at::Tensor logits = forward();
      for (size_t i = 0; i < members_.size(); ++i) {
        draw(*members_[i], logits, static_cast<int64_t>(i));
      }
    } catch (...) {
      fail_all(std::current_exception());
    }
    const std::lock_guard lock(mutex_);
    drop_ended();
    count_used();
    return true;
  }

  void start() {
    const std::lock_guard lock(mutex_);
    TORCH_CHECK(!thread_.joinable(), "Engine: it runs already");
    stopping_ = false;
    thread_ = std::thread([this] { run(); });
  }

  void stop() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) {
      thread_.join();
    }
  }

  int64_t running() const {
    const std::lock_guard lock(mutex_);
    return static_cast<int64_t>(running_.size());
  }
  int64_t waiting() const {
    const std::lock_guard lock(mutex_);
    return static_cast<int64_t>(waiting_.size());
  }
  int64_t free_blocks() const {
    const std::lock_guard lock(mutex_);
    return pool_->num_blocks() - used_;
  }
  int64_t num_blocks() const {
    return pool_->num_blocks();
  }

 private:
  void check_request(const std::vector<int64_t>& prompt, const GenerateOptions& options) const {
    const ModelConfig& config = model_->config();
    TORCH_CHECK(!prompt.empty(), "Engine: the prompt has no tokens: give at least one");
    for (const int64_t token : prompt) {
      TORCH_CHECK(
          token >= 0 && token < config.vocab_size, "Engine: token ", token, " is out of range [0, ", config.vocab_size,
          ")");
    }
    const auto size = static_cast<int64_t>(prompt.size());
    const int64_t room = pool_->num_blocks() * pool_->block_size();
    TORCH_CHECK(
        size <= room, "Engine: a prompt of ", size, " tokens does not fit into a pool of ", room,
        " positions: make it larger with EngineOptions::positions");
    TORCH_CHECK(
        !config.ropes.empty() || size <= config.max_position, "Engine: a prompt of ", size,
        " tokens is too long: the model has learned ", config.max_position, " positions");
    TORCH_CHECK(!options.draft, "Engine: drafts are not used: give GenerateOptions without one");
    TORCH_CHECK(
        options.max_new_tokens >= 0, "Engine: max_new_tokens ", options.max_new_tokens, " must not be negative");
    check_top_logprobs("Engine", options);
  }

  void run() {
    while (true) {
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return stopping_ || !waiting_.empty() || !running_.empty(); });
        if (stopping_) {
          return;
        }
      }
      step();
    }
  }

  static void drop_cancelled(std::list<EngineSequence>& list) {
    list.remove_if([](const EngineSequence& sequence) {
      if (sequence.state->cancelled) {
        sequence.state->finish(FinishReason::Cancelled);
        return true;
      }
      return false;
    });
  }

  void admit() {
    while (!waiting_.empty() && static_cast<int64_t>(running_.size()) < options_.max_sequences) {
      EngineSequence& next = waiting_.front();
      if (next.cache.length() == 0) {
        reuse_beginning(next);
      }
      // With room for one more token, or it would be the first to give its pages back.
      const int64_t needed = at::divup(static_cast<int64_t>(next.tokens.size()) + 1, pool_->block_size()) -
          static_cast<int64_t>(next.cache.table(0).size());
      make_room(needed);
      if (pool_->free_blocks() < needed && !running_.empty()) {
        next.cache = KVCache(pool_); // who waits holds no pages
        return;
      }
      running_.splice(running_.end(), waiting_, waiting_.begin());
    }
  }

  void reuse_beginning(EngineSequence& sequence) {
    const auto limit = static_cast<int64_t>(sequence.tokens.size()) - 1; // something has to give logits
    const KVCache* best = nullptr;
    int64_t length = pool_->block_size() - 1;
    const auto consider = [&](const std::vector<int64_t>& tokens, const KVCache& cache) {
      const int64_t common = std::min({common_beginning(tokens, sequence.tokens), cache.length(), limit});
      if (common > length && turn_alike(tokens, sequence.tokens)) {
        best = &cache;
        length = common;
      }
    };
    for (const EngineSequence& other : running_) {
      consider(other.tokens, other.cache);
    }
    for (const KeptSequence& other : kept_) {
      consider(other.tokens, other.cache);
    }
    if (best) {
      sequence.cache = best->fork();
      sequence.cache.truncate(length);
      sequence.state->reused = length;
    }
  }

  // Whether both sequences have LongRope's factors of the context of training.
  bool turn_alike(const std::vector<int64_t>& a, const std::vector<int64_t>& b) const {
    const std::vector<RopeConfig>& ropes = model_->config().ropes;
    const auto longest = static_cast<int64_t>(std::max(a.size(), b.size()));
    return std::all_of(ropes.begin(), ropes.end(), [&](const RopeConfig& rope) {
      return rope.long_factors.empty() || longest <= rope.original_max_position;
    });
  }

  // Lets go of what was only kept in case.
  void make_room(int64_t blocks) {
    while (pool_->free_blocks() < blocks && !kept_.empty()) {
      kept_.pop_front();
    }
  }

  // What each sequence feeds in this step; some wait for a later one.
  void plan() {
    members_.clear();
    steps_.clear();
    int64_t budget = options_.step_tokens, blocks = 0;
    for (EngineSequence& sequence : running_) {
      const int64_t count = sequence.is_answering() ? 1 : std::min(sequence.unfed(), budget);
      if (count == 0) {
        continue;
      }
      budget -= sequence.is_answering() ? 0 : count;
      const c10::ArrayRef<int64_t> tokens(sequence.tokens);
      steps_.push_back(
          {tokens.slice(static_cast<size_t>(sequence.cache.length()), static_cast<size_t>(count)), &sequence.cache,
           LogitsOf::Last, static_cast<int64_t>(sequence.tokens.size())});
      members_.push_back(&sequence);
      // One more, in case the last page is shared and has to be copied.
      blocks += at::divup(sequence.cache.length() + count, pool_->block_size()) -
          static_cast<int64_t>(sequence.cache.table(0).size()) + 1;
    }
    const std::lock_guard lock(mutex_);
    make_room(blocks);
  }

  at::Tensor forward() {
    while (true) {
      plan();
      if (steps_.empty()) {
        return {};
      }
      try {
        return model_->forward(steps_);
      } catch (const c10::OutOfMemoryError&) {
        give_way();
      }
    }
  }

  // The youngest gives its pages back and waits; one that is alone can never go on.
  void give_way() {
    const std::lock_guard lock(mutex_);
    EngineSequence& youngest = running_.back();
    youngest.cache = KVCache(pool_);
    if (running_.size() == 1) {
      youngest.state->finish(FinishReason::Memory);
      running_.pop_back();
      return;
    }
    waiting_.splice(waiting_.begin(), running_, std::prev(running_.end()));
  }

  void draw(EngineSequence& sequence, const at::Tensor& logits, int64_t row) {
    if (sequence.unfed() > 0) {
      return; // a part of the prompt
    }
    const ModelConfig& config = model_->config();
    const auto drawn = [&] { return static_cast<int64_t>(sequence.tokens.size() - sequence.prompt_size); };
    if (drawn() >= sequence.options.max_new_tokens) {
      sequence.state->finish(FinishReason::Length);
      return;
    }
    const at::Tensor own = logits[row];
    const int64_t token = sequence.sampler(own, sequence.tokens);
    if (is_stop_token(config, sequence.options, token)) {
      sequence.state->stop_at(token);
      return;
    }
    sequence.tokens.push_back(token);
    const std::optional<int64_t> top = sequence.options.top_logprobs;
    sequence.state->push(token, top ? token_logprobs(own, token, *top) : TokenLogprobs());
    const bool is_full = config.ropes.empty() && static_cast<int64_t>(sequence.tokens.size()) > config.max_position;
    if (is_full || drawn() >= sequence.options.max_new_tokens) {
      sequence.state->finish(FinishReason::Length);
    }
  }

  void drop_ended() {
    for (auto one = running_.begin(); one != running_.end();) {
      if (one->state->reason() == FinishReason::None) {
        ++one;
        continue;
      }
      if (options_.kept_sequences > 0 && one->state->reason() != FinishReason::Error) {
        kept_.push_back(KeptSequence{std::move(one->tokens), std::move(one->cache)});
      }
      one = running_.erase(one);
    }
    while (static_cast<int64_t>(kept_.size()) > options_.kept_sequences) {
      kept_.pop_front();
    }
  }

  // Pages of running sequences; shared ones count once.
  void count_used() {
    is_used_.assign(static_cast<size_t>(pool_->num_blocks()), 0);
    used_ = 0;
    for (const EngineSequence& sequence : running_) {
      for (const int64_t page : sequence.cache.table(0)) {
        char& is_used = is_used_[static_cast<size_t>(page)];
        used_ += is_used == 0 ? 1 : 0;
        is_used = 1;
      }
    }
  }

  void fail_all(const std::exception_ptr& error) {
    for (const EngineSequence& sequence : running_) {
      if (sequence.state->reason() == FinishReason::None) {
        sequence.state->finish(FinishReason::Error, error);
      }
    }
  }

  std::shared_ptr<const Model> model_;
  EngineOptions options_;
  std::shared_ptr<PagePool> pool_;
  // One step at a time. Within one, running_ and kept_ are the step's; mutex_ is for what others look at.
  std::mutex step_mutex_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::list<EngineSequence> running_, waiting_;
  std::list<KeptSequence> kept_;
  // Of the step, kept so that it takes no memory each time.
  std::vector<EngineSequence*> members_;
  std::vector<SequenceStep> steps_;
  std::vector<char> is_used_; // each page of the pool
  std::thread thread_;
  bool stopping_ = false;
  int64_t used_ = 0; // pages of running sequences after the last step
};

Engine::Engine(std::shared_ptr<const Model> model, const EngineOptions& options)
    : impl_(std::make_unique<Impl>(std::move(model), options)) {}
Engine::~Engine() = default;

std::shared_ptr<Request> Engine::submit(std::vector<int64_t> prompt, const GenerateOptions& options) {
  return impl_->submit(std::move(prompt), options);
}
bool Engine::step() {
  return impl_->step();
}
void Engine::start() {
  impl_->start();
}
void Engine::stop() {
  impl_->stop();
}
int64_t Engine::running() const {
  return impl_->running();
}
int64_t Engine::waiting() const {
  return impl_->waiting();
}
int64_t Engine::free_blocks() const {
  return impl_->free_blocks();
}
int64_t Engine::num_blocks() const {
  return impl_->num_blocks();
}

Request::Request(std::shared_ptr<State> state) : state_(std::move(state)) {}
Request::~Request() = default;

std::optional<int64_t> Request::next() {
  return state_->next();
}
bool Request::wait_for(std::chrono::nanoseconds timeout) {
  return state_->wait_for(timeout);
}
std::vector<int64_t> Request::wait() {
  std::vector<int64_t> tokens;
  while (const std::optional<int64_t> token = next()) {
    tokens.push_back(*token);
  }
  return tokens;
}
void Request::cancel() {
  state_->cancelled = true;
}
FinishReason Request::finish_reason() const {
  return state_->reason();
}
std::optional<int64_t> Request::stop_token() const {
  return state_->stop_token();
}
const TokenLogprobs& Request::logprobs() const {
  return state_->logprobs();
}
int64_t Request::reused_tokens() const {
  return state_->reused;
}

} // namespace torch::llm
