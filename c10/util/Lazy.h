#pragma once

#include <atomic>
#include <utility>

namespace c10 {

/// A value computed at the first call of ensure(); several threads may race, one result is kept.
template <class T>
class OptimisticLazy {
 public:
  OptimisticLazy() = default;
  OptimisticLazy(const OptimisticLazy& other) {
    if (T* value = other.value_.load(std::memory_order_acquire)) {
      value_ = new T(*value);
    }
  }
  OptimisticLazy(OptimisticLazy&& other) noexcept : value_(other.value_.exchange(nullptr, std::memory_order_acq_rel)) {}
  OptimisticLazy& operator=(const OptimisticLazy& other) {
    *this = OptimisticLazy(other);
    return *this;
  }
  OptimisticLazy& operator=(OptimisticLazy&& other) noexcept {
    if (this != &other) {
      reset();
      value_.store(other.value_.exchange(nullptr, std::memory_order_acq_rel), std::memory_order_release);
    }
    return *this;
  }
  ~OptimisticLazy() {
    reset();
  }

  template <class Factory>
  T& ensure(const Factory& factory) {
    if (T* value = value_.load(std::memory_order_acquire)) {
      return *value;
    }
    T* fresh = new T(factory());
    T* current = nullptr;
    if (!value_.compare_exchange_strong(current, fresh, std::memory_order_release, std::memory_order_acquire)) {
      delete fresh;
      fresh = current;
    }
    return *fresh;
  }

  /// Forgets the value. Not safe while others read.
  void reset() {
    delete value_.exchange(nullptr, std::memory_order_acq_rel);
  }

 private:
  std::atomic<T*> value_{nullptr};
};

/// Interface of a value that may be computed on demand.
template <class T>
class LazyValue {
 public:
  virtual ~LazyValue() = default;
  virtual const T& get() const = 0;
};

/// Computes on first use; safe from several threads.
template <class T>
class OptimisticLazyValue : public LazyValue<T> {
 public:
  const T& get() const override {
    return value_.ensure([this] { return compute(); });
  }

 private:
  virtual T compute() const = 0;
  mutable OptimisticLazy<T> value_;
};

/// A value that is already there.
template <class T>
class PrecomputedLazyValue : public LazyValue<T> {
 public:
  explicit PrecomputedLazyValue(T value) : value_(std::move(value)) {}
  const T& get() const override {
    return value_;
  }

 private:
  T value_;
};

} // namespace c10
