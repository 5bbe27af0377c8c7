// Reports of changed keys, from the server to callbacks.
#include <csrc/distributed/store/TCPWatcher.h>

#include <c10/util/Exception.h>

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace c10d::detail {

TCPWatcher::TCPWatcher(const std::string& host, uint16_t port, std::chrono::milliseconds timeout)
    : timeout_(timeout), client_(host, port, timeout), stop_(::eventfd(0, EFD_CLOEXEC)) {
  thread_ = std::thread([this] { serve(); });
  ::pthread_setname_np(thread_.native_handle(), "tcp_watcher");
}

TCPWatcher::~TCPWatcher() {
  const uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(stop_.get(), &one, sizeof one);
  thread_.join();
}

void TCPWatcher::watch(const std::string& key, WatchKeyCallback callback) {
  std::unique_lock lock(mutex_);
  callbacks_[key].push_back(std::move(callback));
  if (!over_) {
    const uint64_t size = key.size();
    std::string request(1, static_cast<char>(Query::WATCH_KEY));
    request.append(reinterpret_cast<const char*>(&size), sizeof size) += key;
    send_all(client_.fd(), request.data(), request.size(), deadline_after(timeout_));
  }
  const size_t mine = ++asked_;
  changed_.wait_for(lock, timeout_, [&] { return over_ || granted_ >= mine; });
  if (granted_ < mine) {
    C10_THROW_ERROR(
        DistNetworkError,
        c10::str(
            "watchKey: the store's server does not report changes of '", key,
            "': it is gone, or one of PyTorch, which cannot"));
  }
}

void TCPWatcher::serve() {
  pollfd fds[2] = {{client_.fd(), POLLIN, 0}, {stop_.get(), POLLIN, 0}};
  try {
    for (;;) {
      const int n = ::poll(fds, 2, -1);
      if (n > 0 && fds[1].revents != 0) {
        break;
      }
      if (n > 0) {
        take_report();
      }
    }
  } catch (const std::exception&) {
    // The server is gone: there is nothing more to hear.
  }
  const std::lock_guard lock(mutex_);
  over_ = true;
  changed_.notify_all();
}

void TCPWatcher::take_report() {
  const auto kind = static_cast<WatchReport>(client_.receive_number<uint8_t>(timeout_));
  if (kind == WatchReport::kWatching) {
    const std::lock_guard lock(mutex_);
    ++granted_;
    changed_.notify_all();
    return;
  }
  const std::string key = client_.receive_text(timeout_);
  std::optional<std::string> before = client_.receive_text(timeout_);
  std::optional<std::string> after = client_.receive_text(timeout_);
  if (kind == WatchReport::kCreated) {
    before.reset();
  } else if (kind == WatchReport::kDeleted) {
    after.reset();
  }
  std::vector<WatchKeyCallback> callbacks;
  {
    const std::lock_guard lock(mutex_);
    callbacks = callbacks_[key];
  }
  for (const auto& callback : callbacks) {
    try {
      callback(before, after);
    } catch (const std::exception& error) {
      TORCH_WARN("watchKey: a callback for '", key, "' has thrown: ", error.what());
    }
  }
}

} // namespace c10d::detail
