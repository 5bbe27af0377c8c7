// The thread that tells others that this machine lives.
#include <csrc/distributed/launch/heartbeat.h>

#include <c10/util/Exception.h>

#include <pthread.h>

#include <algorithm>

namespace torch::distributed::launch {

namespace {
constexpr auto kBeat = std::chrono::milliseconds(500);
constexpr auto kStoreAnswers = std::chrono::milliseconds(5000);
} // namespace

Heartbeat::Heartbeat(c10d::Store& store, std::string key, std::chrono::milliseconds timeout)
    : store_(store.clone()), key_(std::move(key)) {
  store_->setTimeout(std::min(timeout, kStoreAnswers)); // the end of the thread waits for it
  thread_ = std::thread([this] { serve(); });
  ::pthread_setname_np(thread_.native_handle(), "heartbeat");
}

Heartbeat::~Heartbeat() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Heartbeat::serve() {
  std::unique_lock lock(mutex_);
  for (int64_t beat = 1; !stopping_; ++beat) {
    lock.unlock();
    try {
      store_->set(key_, std::to_string(beat));
    } catch (const std::exception&) {
      // The agent finds out by itself that the store is lost.
      return;
    }
    lock.lock();
    changed_.wait_for(lock, kBeat, [this] { return stopping_; });
  }
}

} // namespace torch::distributed::launch
