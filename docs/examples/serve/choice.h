// One of the answers of a request.
#pragma once

#include "api_error.h"
#include "stop_strings.h"

#include <torch/llm.h>

#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

/// A token of an answer and how likely it was.
struct ScoredToken {
  int64_t token;
  int64_t offset; ///< characters of the answer in front of it
  torch::llm::TokenLogprobs logprobs;
};

/// What an answer has gained.
struct ChoiceDelta {
  std::string text;
  std::vector<ScoredToken> tokens; ///< of this text, where the request asks for them
  std::vector<torch::llm::ToolCall> calls;
};

/// How a generation becomes an answer.
struct ChoiceOptions {
  std::vector<std::string> stop;
  bool logprobs = false; ///< the generation keeps them
  torch::llm::ToolFormat tools = torch::llm::ToolFormat::None;
  bool parallel_calls = true; ///< or only the first is given
};

/// A generation of the engine as text. It is cancelled when the object goes away.
class Choice {
 public:
  Choice(
      std::shared_ptr<torch::llm::Request> request,
      const torch::llm::Tokenizer& tokenizer,
      const ChoiceOptions& options);
  Choice(Choice&&) = default;
  ~Choice();

  /// What has come since the last call. Waits for a token, but not longer than `wait`; throws what the model has
  /// thrown.
  ChoiceDelta poll(std::chrono::milliseconds wait);

  bool is_finished() const {
    return !finish_reason_.empty();
  }
  /// "stop", "length" or "tool_calls"; empty while it runs.
  const std::string& finish_reason() const {
    return finish_reason_;
  }
  /// The stop string or the stop token that has ended it; null for others.
  const Json& stop_reason() const {
    return stop_reason_;
  }
  /// Tokens that were made for it.
  int64_t tokens() const {
    return tokens_;
  }

 private:
  std::string take_text(std::chrono::milliseconds wait);
  std::string decode(std::optional<int64_t> token);
  void finish();
  std::vector<ScoredToken> take_tokens();
  std::vector<torch::llm::ToolCall> take_calls();

  std::shared_ptr<torch::llm::Request> request_;
  torch::llm::DecodeStream stream_;
  StopStrings stop_;
  torch::llm::ToolCallReader calls_;
  bool logprobs_, parallel_calls_;
  std::deque<ScoredToken> waiting_; // whose text has not been given
  int64_t decoded_ = 0, given_ = 0; // characters, with those held back and without
  size_t calls_given_ = 0;
  std::string finish_reason_;
  Json stop_reason_;
  int64_t tokens_ = 0;
};
