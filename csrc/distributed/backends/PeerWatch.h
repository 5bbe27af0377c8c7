// What a rank knows of the others while an engine that says nothing waits for them.
#pragma once

#include <csrc/distributed/store/Store.h>

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace c10d {

/// Ranks meet at the store. Those of this host are looked at in /proc, others show that they live by a number in the
/// store. When something fails on one rank, all learn of it within seconds, and what each of them was doing.
class TORCH_API PeerWatch {
 public:
  PeerWatch(const c10::intrusive_ptr<Store>& store, int rank, int size, std::chrono::milliseconds timeout);
  ~PeerWatch();
  PeerWatch(const PeerWatch&) = delete;
  PeerWatch& operator=(const PeerWatch&) = delete;

  /// What this rank is doing: "in allreduce number 3 of 10 Float". `waiting` for others, or not.
  void set_state(std::string state, bool waiting);
  /// Called once, in a thread of the watch, when another rank has failed, or is lost while this one waits.
  void on_failure(std::function<void(const std::string& reason)> callback);
  /// This rank has failed: tells the others, waits a second for what they were doing, and returns that in words.
  std::string report(const std::string& reason);
  /// Leaves: others do not count this rank as lost any more.
  void stop();

 private:
  struct Peer {
    bool here = false; // on this host
    int pid = 0;
    uint64_t started = 0;
    std::string beat;
    std::chrono::steady_clock::time_point seen;
  };

  void watch();
  void look_around();
  void find_store_again(std::chrono::steady_clock::time_point answered);
  std::string lost_peer();
  std::string key(const char* kind, int rank) const;
  std::string value_of(const std::string& key);
  void fail(const std::string& reason);

  c10::intrusive_ptr<Store> store_; // of the thread
  c10::intrusive_ptr<Store> own_store_; // of report
  const int rank_;
  const int size_;
  std::vector<Peer> peers_;
  bool beats_ = false; // some rank is on another host
  int64_t beat_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string state_ = "calls nothing";
  bool waiting_ = false;
  bool failed_ = false;
  bool store_lost_ = false;
  bool stopping_ = false;
  std::function<void(const std::string&)> callback_;
  std::thread thread_;
};

} // namespace c10d
