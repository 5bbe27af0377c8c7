// One of the answers of a request.
#pragma once

#include "stop_strings.h"

#include <torch/llm.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

/// A generation of the engine as text. It is cancelled when the object goes away.
class Choice {
 public:
  Choice(
      std::shared_ptr<torch::llm::Request> request,
      const torch::llm::Tokenizer& tokenizer,
      std::vector<std::string> stop)
      : request_(std::move(request)), stream_(tokenizer), stop_(std::move(stop)) {}
  Choice(Choice&&) = default;
  ~Choice();

  /// The text that has come since the last call. Waits for a token, but not longer than `wait`; throws what the model
  /// has thrown.
  std::string poll(std::chrono::milliseconds wait);

  bool is_finished() const {
    return !finish_reason_.empty();
  }
  /// "stop" or "length"; empty while it runs.
  const std::string& finish_reason() const {
    return finish_reason_;
  }
  /// Tokens that were made for it.
  int64_t tokens() const {
    return tokens_;
  }

 private:
  std::shared_ptr<torch::llm::Request> request_;
  torch::llm::DecodeStream stream_;
  StopStrings stop_;
  std::string finish_reason_;
  int64_t tokens_ = 0;
};
