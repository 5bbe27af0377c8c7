#pragma once

#include <c10/macros/Macros.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <thread>
#include <utility>

namespace c10 {

/// Two copies of a value: readers never wait, a writer changes the one that nobody reads, then the other. After
/// Ramalhete and Correia, "Left-Right: A Concurrency Control Technique with Wait-Free Population Oblivious Reads"
/// (2013).
template <class T>
class LeftRight final {
 public:
  template <class... Args>
  explicit LeftRight(const Args&... args) : data_{{T{args...}, T{args...}}} {}
  C10_DISABLE_COPY_AND_ASSIGN(LeftRight);
  ~LeftRight() {
    { const std::lock_guard<std::mutex> no_writer(write_mutex_); }
    while (readers_[0].load() != 0 || readers_[1].load() != 0) {
      std::this_thread::yield();
    }
  }

  /// Calls `f` with the value, and returns what it returns.
  template <typename F>
  auto read(F&& f) const {
    const Reading reading(readers_[counter_.load()]);
    return std::forward<F>(f)(data_[shown_.load()]);
  }

  /// Calls `f` with one copy and then with the other, so it has to do the same twice. When it throws in the first call
  /// the value stays; in the second, the change stands.
  template <typename F>
  auto write(F&& f) {
    const std::lock_guard<std::mutex> one_writer(write_mutex_);
    const uint8_t shown = shown_.load();
    change(f, 1 - shown);
    shown_ = 1 - shown;
    // Readers that still see the old copy are counted by either counter: wait for both in turn.
    const uint8_t counter = counter_.load();
    wait_for_readers(1 - counter);
    counter_ = 1 - counter;
    wait_for_readers(counter);
    return change(f, shown);
  }

 private:
  struct Reading {
    explicit Reading(std::atomic<int32_t>& count) : count_(count) {
      ++count_;
    }
    ~Reading() {
      --count_;
    }
    C10_DISABLE_COPY_AND_ASSIGN(Reading);
    std::atomic<int32_t>& count_;
  };

  template <class F>
  auto change(F& f, int copy) {
    try {
      return f(data_[copy]);
    } catch (...) {
      data_[copy] = data_[1 - copy];
      throw;
    }
  }

  void wait_for_readers(int counter) const {
    while (readers_[counter].load() != 0) {
      std::this_thread::yield();
    }
  }

  mutable std::array<std::atomic<int32_t>, 2> readers_{};
  std::atomic<uint8_t> counter_{0};
  std::atomic<uint8_t> shown_{0};
  std::array<T, 2> data_;
  std::mutex write_mutex_;
};

/// The same interface over a lock.
template <class T>
class RWSafeLeftRightWrapper final {
 public:
  template <class... Args>
  explicit RWSafeLeftRightWrapper(const Args&... args) : data_{args...} {}
  C10_DISABLE_COPY_AND_ASSIGN(RWSafeLeftRightWrapper);

  template <typename F>
  auto read(F&& f) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return std::forward<F>(f)(static_cast<const T&>(data_));
  }
  template <typename F>
  auto write(F&& f) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return std::forward<F>(f)(data_);
  }

 private:
  T data_;
  mutable std::mutex mutex_;
};

} // namespace c10
