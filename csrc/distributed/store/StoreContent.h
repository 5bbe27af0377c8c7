// What a TCPStore's server keeps, and who waits for it; knows no sockets.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

namespace c10d::detail {

/// One client's wait: for keys, or for a barrier to fill.
struct Waiter {
  std::vector<std::string> missing;
  int64_t barrier_size = 0;
  /// The queue whose entry this client was woken for and has not taken yet.
  std::string owed_queue;

  bool waiting() const {
    return !missing.empty();
  }
};

/// The map, the queues and the waiting clients. `wake` is called for clients whose wait is over.
class StoreContent {
 public:
  explicit StoreContent(std::function<void(Waiter&)> wake) : wake_(std::move(wake)) {}

  const std::string* find(const std::string& key) const;
  bool has(const std::string& key) const;
  void set(const std::string& key, std::string value);
  void append(const std::string& key, const std::string& value);
  std::string compare_set(const std::string& key, const std::string& expected, const std::string& desired);
  int64_t add(const std::string& key, int64_t delta);
  bool erase(const std::string& key);
  const std::unordered_map<std::string, std::string>& map() const {
    return map_;
  }

  void push(const std::string& key, std::string value);
  /// The oldest entry, or nothing.
  std::vector<std::string> pop(const std::string& key);
  int64_t queue_length(const std::string& key) const;

  /// Whether the wait is over at once; else the client is woken later.
  bool wait(Waiter& waiter, const std::vector<std::string>& keys);
  bool barrier(Waiter& waiter, const std::string& key, int64_t size);
  /// The client waits no longer. `took` tells that it has come for the queue's entry that it was woken for.
  void forget(Waiter& waiter, bool took = false);

 private:
  void changed(const std::string& key, bool first_only = false);
  void wake_next_for_queue(const std::string& key);

  std::function<void(Waiter&)> wake_;
  std::unordered_map<std::string, std::string> map_;
  std::unordered_map<std::string, std::deque<std::string>> queues_;
  std::unordered_map<std::string, std::vector<Waiter*>> waiting_;
};

} // namespace c10d::detail
