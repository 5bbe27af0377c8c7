// Stores: maps from names to bytes that several processes share, by which they find one another.
#pragma once

#include <aten/core/ivalue.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace c10d {

/// What watchKey calls with the old and the new value.
using WatchKeyCallback = std::function<void(std::optional<std::string>, std::optional<std::string>)>;

/// The interface of all stores. What waits for a key throws c10::DistStoreError after the store's timeout.
class TORCH_API Store : public torch::CustomClassHolder {
 public:
  static constexpr std::chrono::milliseconds kDefaultTimeout = std::chrono::seconds(300);
  static constexpr std::chrono::milliseconds kNoTimeout = std::chrono::milliseconds::zero();

  Store() : timeout_(kDefaultTimeout) {}
  explicit Store(const std::chrono::milliseconds& timeout) : timeout_(timeout) {}
  Store(const Store&) = default;
  Store(Store&&) noexcept = default;
  ~Store() override = default;

  /// Another handle of the same content, for another thread.
  virtual c10::intrusive_ptr<Store> clone() = 0;

  void set(const std::string& key, const std::string& value);
  /// Gives `key` a value and wakes who waits for it.
  virtual void set(const std::string& key, const std::vector<uint8_t>& value) = 0;

  std::string compareSet(const std::string& key, const std::string& currentValue, const std::string& newValue);
  /// Sets `newValue` if the value is `currentValue`, or if both are absent (an empty `currentValue`). Returns the value
  /// afterwards; for a key that is absent and stays so, `currentValue`.
  virtual std::vector<uint8_t> compareSet(
      const std::string& key, const std::vector<uint8_t>& currentValue, const std::vector<uint8_t>& newValue);

  /// The value as text.
  std::string get_to_str(const std::string& key);
  /// The value; waits until there is one.
  virtual std::vector<uint8_t> get(const std::string& key) = 0;
  /// Adds to a number kept as decimal text, 0 at first, and returns the sum.
  virtual int64_t add(const std::string& key, int64_t value) = 0;
  /// Whether there was such a key.
  virtual bool deleteKey(const std::string& key) = 0;
  /// Whether all these keys are there.
  virtual bool check(const std::vector<std::string>& keys) = 0;
  /// The number of keys, with those the store keeps for itself.
  virtual int64_t getNumKeys() = 0;
  /// Waits until all these keys are there.
  virtual void wait(const std::vector<std::string>& keys) = 0;
  virtual void wait(const std::vector<std::string>& keys, const std::chrono::milliseconds& timeout) = 0;

  /// How long calls wait.
  virtual const std::chrono::milliseconds& getTimeout() const noexcept;
  virtual void setTimeout(const std::chrono::milliseconds& timeout);

  /// Of TCPStore, and of PrefixStore over it; others refuse it.
  virtual void watchKey(const std::string& key, WatchKeyCallback callback);

  /// Appends to the value of `key`, which may be absent.
  virtual void append(const std::string& key, const std::vector<uint8_t>& value);
  /// The values of several keys; waits for all.
  virtual std::vector<std::vector<uint8_t>> multiGet(const std::vector<std::string>& keys);
  virtual void multiSet(const std::vector<std::string>& keys, const std::vector<std::vector<uint8_t>>& values);
  /// Whether append, multiGet and multiSet are single operations here.
  virtual bool hasExtendedApi() const;

  /// Queues have names of their own beside the keys.
  virtual void queuePush(const std::string& key, const std::vector<uint8_t>& value);
  /// The oldest entry. Of an empty queue: waits if `block`, else throws c10::DistQueueEmptyError.
  virtual std::vector<uint8_t> queuePop(const std::string& key, bool block);
  virtual int64_t queueLen(const std::string& key);
  /// All keys, in no order.
  virtual std::vector<std::string> listKeys();

  /// Waits until `world_size` callers have come to the barrier of this name.
  virtual void barrier(const std::string& key, int64_t world_size, const std::chrono::milliseconds& timeout);
  void barrier(const std::string& key, int64_t world_size) {
    barrier(key, world_size, timeout_);
  }

 protected:
  std::chrono::milliseconds timeout_;
};

/// Sets the timeout of a store and restores it at its end.
class StoreTimeoutGuard {
 public:
  explicit StoreTimeoutGuard(Store& store, const std::chrono::milliseconds& timeout)
      : store_(store), oldTimeout_(store.getTimeout()) {
    store.setTimeout(timeout);
  }
  ~StoreTimeoutGuard() {
    store_.setTimeout(oldTimeout_);
  }
  StoreTimeoutGuard(const StoreTimeoutGuard&) = delete;
  StoreTimeoutGuard& operator=(const StoreTimeoutGuard&) = delete;
  StoreTimeoutGuard(StoreTimeoutGuard&&) = delete;
  StoreTimeoutGuard& operator=(StoreTimeoutGuard&&) = delete;

 private:
  Store& store_;
  std::chrono::milliseconds oldTimeout_{};
};

namespace detail {
/// When a wait of `timeout` from now ends; kNoTimeout never does.
TORCH_API std::chrono::steady_clock::time_point deadline_after(std::chrono::milliseconds timeout);
/// The sum of a number kept as text and `delta`; throws for other text and for sums out of range.
int64_t add_to_text(const std::string& text, int64_t delta);
/// Up to eight names for a message.
std::string some_keys(const std::vector<std::string>& keys);
} // namespace detail

} // namespace c10d
