// What a request and its engine share.
#pragma once

#include <csrc/llm/engine.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace torch::llm {

class Request::State {
 public:
  std::atomic<bool> cancelled{false};
  std::atomic<int64_t> reused{0};

  void push(int64_t token, TokenLogprobs logprobs) {
    {
      const std::lock_guard lock(mutex_);
      tokens_.push_back({token, std::move(logprobs)});
    }
    changed_.notify_all();
  }
  void finish(FinishReason reason, std::exception_ptr error = nullptr) {
    {
      const std::lock_guard lock(mutex_);
      reason_ = reason;
      error_ = std::move(error);
    }
    changed_.notify_all();
  }
  void stop_at(int64_t token) {
    stop_token_ = token;
    finish(FinishReason::Stop);
  }
  std::optional<int64_t> next() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return has_news(); });
    if (taken_ < tokens_.size()) {
      Drawn& drawn = tokens_[taken_];
      const int64_t token = drawn.token;
      logprobs_ = std::move(drawn.logprobs);
      if (++taken_ == tokens_.size()) { // its memory serves for what comes
        tokens_.clear();
        taken_ = 0;
      }
      return token;
    }
    if (error_) {
      std::rethrow_exception(error_);
    }
    return std::nullopt;
  }
  bool wait_for(std::chrono::nanoseconds timeout) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, timeout, [&] { return has_news(); });
  }
  FinishReason reason() const {
    const std::lock_guard lock(mutex_);
    return reason_;
  }
  std::optional<int64_t> stop_token() const {
    const std::lock_guard lock(mutex_);
    return reason_ == FinishReason::Stop ? stop_token_ : std::nullopt;
  }
  /// Of the token that next() gave last; for who calls that.
  const TokenLogprobs& logprobs() const {
    return logprobs_;
  }

 private:
  struct Drawn {
    int64_t token;
    TokenLogprobs logprobs;
  };

  bool has_news() const {
    return taken_ < tokens_.size() || reason_ != FinishReason::None;
  }

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Drawn> tokens_;
  size_t taken_ = 0; // of tokens_: next() has given them
  std::optional<int64_t> stop_token_;
  TokenLogprobs logprobs_;
  FinishReason reason_ = FinishReason::None;
  std::exception_ptr error_;
};

} // namespace torch::llm
