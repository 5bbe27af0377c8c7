// Tells the other machines that this one lives.
#pragma once

#include <csrc/distributed/store/Store.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace torch::distributed::launch {

/// Changes a number in the store twice a second, from a thread and over a connection of its own: an agent whose output
/// waits for a reader lives, one that is stopped does not.
class Heartbeat {
 public:
  Heartbeat(c10d::Store& store, std::string key, std::chrono::milliseconds timeout);
  ~Heartbeat();
  Heartbeat(const Heartbeat&) = delete;
  Heartbeat& operator=(const Heartbeat&) = delete;

 private:
  void serve();

  const c10::intrusive_ptr<c10d::Store> store_;
  const std::string key_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;
  std::thread thread_;
};

} // namespace torch::distributed::launch
