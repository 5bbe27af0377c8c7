#pragma once

#include <c10/util/Exception.h>
#include <csrc/data/detail/wait_point.h>

#include <list>
#include <utility>

namespace torch::data::detail {

/// First in, first out, between threads. Values are made and destroyed outside of the lock.
template <typename T>
class Queue {
 public:
  /// Puts a value at the end and wakes one thread that waits for it.
  void push(T value) {
    std::list<T> node;
    node.push_back(std::move(value));
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      values_.splice(values_.end(), node);
    }
    filled_.notify_one();
  }

  /// Takes the first value; waits for one. Throws c10::Error if none comes before `timeout` has passed.
  T pop(const Timeout& timeout = std::nullopt) {
    std::list<T> node;
    {
      std::unique_lock<std::mutex> lock(mutex_);
      filled_.wait_in_time(
          lock, [this] { return !values_.empty(); }, timeout);
      node.splice(node.end(), values_, values_.begin());
    }
    return std::move(node.front());
  }

  /// Drops every value; returns how many there were.
  size_t clear() {
    std::list<T> dropped;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      dropped.swap(values_);
    }
    return dropped.size();
  }

 private:
  std::list<T> values_;
  std::mutex mutex_;
  WaitPoint filled_;
};

} // namespace torch::data::detail
