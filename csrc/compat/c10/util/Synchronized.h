#pragma once

#include <mutex>
#include <utility>

namespace c10 {

/// A value that is only reachable while its mutex is held.
template <typename T>
class Synchronized final {
 public:
  Synchronized() = default;
  explicit Synchronized(T const& data) : data_(data) {}
  explicit Synchronized(T&& data) : data_(std::move(data)) {}
  Synchronized(const Synchronized&) = delete;
  Synchronized& operator=(const Synchronized&) = delete;

  /// Calls `callback(value)` under the lock and returns its result.
  template <typename Callback>
  decltype(auto) withLock(Callback&& callback) {
    const std::lock_guard<std::mutex> guard(mutex_);
    return std::forward<Callback>(callback)(data_);
  }
  template <typename Callback>
  decltype(auto) withLock(Callback&& callback) const {
    const std::lock_guard<std::mutex> guard(mutex_);
    return std::forward<Callback>(callback)(data_);
  }

 private:
  mutable std::mutex mutex_;
  T data_;
};

} // namespace c10
