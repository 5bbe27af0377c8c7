// The connection and the thread of a TCPStore's client that hear of changes.
#pragma once

#include <csrc/distributed/store/Store.h>
#include <csrc/distributed/store/TCPClient.h>

#include <condition_variable>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <vector>

namespace c10d::detail {

/// Callbacks are called in its thread, one after the other. When the server is gone it ends.
class TCPWatcher {
 public:
  TCPWatcher(const std::string& host, uint16_t port, std::chrono::milliseconds timeout);
  ~TCPWatcher();
  TCPWatcher(const TCPWatcher&) = delete;
  TCPWatcher& operator=(const TCPWatcher&) = delete;

  /// Returns when the server reports changes of the key from now on. Throws c10::DistNetworkError where it does not, as
  /// PyTorch's.
  void watch(const std::string& key, WatchKeyCallback callback);

 private:
  void serve();
  void take_report();

  const std::chrono::milliseconds timeout_;
  TCPClient client_; // of the thread, but for its descriptor, to which watch() sends
  Descriptor stop_;
  std::mutex mutex_; // for what follows
  std::condition_variable changed_;
  std::unordered_map<std::string, std::vector<WatchKeyCallback>> callbacks_;
  size_t asked_ = 0;
  size_t granted_ = 0;
  bool over_ = false;
  std::thread thread_;
};

} // namespace c10d::detail
