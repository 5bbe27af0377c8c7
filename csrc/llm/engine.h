// Many generations at once: sequences enter and leave the batch while it runs.
#pragma once

#include <csrc/llm/generate.h>
#include <csrc/llm/model.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace torch::llm {

/// How an engine is made.
struct EngineOptions {
  int64_t max_sequences = 32; ///< that run at once; others wait
  int64_t positions = 8192; ///< of all sequences together; the memory for them is taken at the beginning
  int64_t block_size = 16; ///< positions in a page
  std::optional<at::ScalarType> cache_dtype = std::nullopt; ///< as CacheOptions::dtype
  int64_t step_tokens =
      512; ///< of prompts that one step feeds, beside a token of each sequence that has begun to answer
  int64_t kept_sequences = 16; ///< ended ones whose pages stay, while there is room, for prompts that begin alike
};

/// A generation of an engine. May be used from any thread, by one at a time; cancel() by several.
class TORCH_API Request {
 public:
  class State;
  explicit Request(std::shared_ptr<State> state);
  ~Request();

  /// Waits for the next token; nothing when the generation has ended. Throws what the model has thrown. Somebody has to
  /// run the engine meanwhile: start() or step().
  std::optional<int64_t> next();
  /// Waits until next() has something to tell, a token or the end, but not longer than `timeout`; whether it has.
  bool wait_for(std::chrono::nanoseconds timeout);
  /// The remaining tokens.
  std::vector<int64_t> wait();
  /// Ends the generation; its pages are free after the engine's next step.
  void cancel();
  FinishReason finish_reason() const;
  /// The stop token that has ended it.
  std::optional<int64_t> stop_token() const;
  /// Of the token that next() gave last, with GenerateOptions::top_logprobs.
  const TokenLogprobs& logprobs() const;
  /// Tokens of the prompt that were not computed again, because another sequence began alike.
  int64_t reused_tokens() const;

 private:
  std::shared_ptr<State> state_;
};

/// Runs requests together with continuous batching: in each step every sequence gets its next token, prompts are fed in
/// parts beside that, and what has ended makes room for what waits. Pages are shared between sequences that begin
/// alike. When the pool is full, the youngest sequence gives its pages back and is computed again later.
class TORCH_API Engine {
 public:
  explicit Engine(std::shared_ptr<const Model> model, const EngineOptions& options = {});
  /// Stops, and cancels what runs or waits.
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// Adds a generation; each gives what generate() gives for the same options. Throws for an empty prompt, tokens
  /// outside the vocabulary, prompts longer than the model or the pool can hold, and drafts, which an engine does not
  /// use.
  std::shared_ptr<Request> submit(std::vector<int64_t> prompt, const GenerateOptions& options = {});

  /// Runs one step on this thread; false when there was nothing to do.
  bool step();
  /// Runs steps on a thread of the engine's until stop().
  void start();
  /// Ends that thread after its step; requests stay.
  void stop();

  /// Sequences in the batch, and requests that wait for a place.
  int64_t running() const;
  int64_t waiting() const;
  /// Pages that no running sequence held after the last step; ended ones that are kept do not count.
  int64_t free_blocks() const;
  int64_t num_blocks() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

} // namespace torch::llm
