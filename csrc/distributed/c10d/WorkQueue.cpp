// Operations of a group that run one after the other.
#include <csrc/distributed/c10d/WorkQueue.h>

#include <c10/util/Exception.h>

#include <pthread.h>

namespace c10d::detail {

namespace {
constexpr auto kNobodyWaits = std::chrono::milliseconds(1);
constexpr auto kIdle = std::chrono::seconds(1);
} // namespace

void WorkQueue::begin(const char* thread_name) {
  thread_ = std::thread([self = shared_from_this()] { self->serve(); });
  ::pthread_setname_np(thread_.native_handle(), thread_name);
}

void WorkQueue::enqueue(const WorkPtr& work, bool promptly) {
  const std::lock_guard lock(mutex_);
  if (closed_) {
    C10_THROW_ERROR(DistBackendError, c10::str(engine_, ": the group has been shut down"));
  }
  queue_.push_back(work);
  last_used_ = std::chrono::steady_clock::now();
  if (promptly || asleep_) {
    changed_.notify_all();
  }
}

// Runs the first of the queue, with the lock given up meanwhile. False if there is none, or another runs.
bool WorkQueue::run_one(std::unique_lock<std::mutex>& lock) {
  if (running_ || queue_.empty()) {
    return false;
  }
  running_ = std::move(queue_.front());
  queue_.pop_front();
  WorkPtr work = running_;
  lock.unlock();
  work->run();
  lock.lock();
  running_.reset();
  changed_.notify_all();
  lock.unlock();
  work.reset(); // may be the end of its tensors, and of the group
  lock.lock();
  return true;
}

void WorkQueue::run_until(RecordedWork& work) {
  std::unique_lock lock(mutex_);
  while (!work.isCompleted()) {
    if (!run_one(lock)) {
      changed_.wait(lock);
    }
  }
}

void WorkQueue::wait_for_works(std::unique_lock<std::mutex>& lock) {
  if (running_ || (queue_.empty() && std::chrono::steady_clock::now() - last_used_ > kIdle)) {
    asleep_ = true;
    changed_.wait(lock);
    asleep_ = false;
  } else {
    changed_.wait_for(lock, kNobodyWaits);
  }
}

void WorkQueue::serve() {
  std::unique_lock lock(mutex_);
  while (!closed_ || !queue_.empty()) {
    if (!run_one(lock)) {
      wait_for_works(lock);
    }
  }
}

std::deque<WorkQueue::WorkPtr> WorkQueue::take_all() {
  const std::lock_guard lock(mutex_);
  return std::exchange(queue_, {});
}

WorkQueue::WorkPtr WorkQueue::running() {
  const std::lock_guard lock(mutex_);
  return running_;
}

bool WorkQueue::close() {
  const std::lock_guard lock(mutex_);
  const bool open = !std::exchange(closed_, true);
  changed_.notify_all();
  return open;
}

void WorkQueue::join(bool leave) {
  if (leave || thread_.get_id() == std::this_thread::get_id()) {
    thread_.detach();
  } else {
    thread_.join();
  }
}

} // namespace c10d::detail
