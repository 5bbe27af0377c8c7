// What a request and its engine share.
#pragma once

#include <csrc/llm/engine.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>

namespace torch::llm {

class Request::State {
 public:
  std::atomic<bool> cancelled{false};
  std::atomic<int64_t> reused{0};

  void push(int64_t token) {
    {
      const std::lock_guard lock(mutex_);
      tokens_.push_back(token);
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
  std::optional<int64_t> next() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return has_news(); });
    if (!tokens_.empty()) {
      const int64_t token = tokens_.front();
      tokens_.pop_front();
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

 private:
  bool has_news() const {
    return !tokens_.empty() || reason_ != FinishReason::None;
  }

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<int64_t> tokens_; // not given yet
  FinishReason reason_ = FinishReason::None;
  std::exception_ptr error_;
};

} // namespace torch::llm
