// Operations of a group that run one after the other.
#pragma once

#include <csrc/distributed/c10d/RecordedWork.h>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

namespace c10d::detail {

/// A thread runs what is queued, or those who wait for it do. Any thread may call the methods.
class WorkQueue : public std::enable_shared_from_this<WorkQueue> {
 public:
  using WorkPtr = c10::intrusive_ptr<RecordedWork>;

  explicit WorkQueue(std::string engine) : engine_(std::move(engine)) {}
  /// Starts the thread, which keeps the queue.
  void begin(const char* thread_name);

  /// Puts a work behind the others. If `promptly`, the thread takes it at once, else when nobody has waited for it
  /// within a millisecond: for what is small a change of threads costs more than the work. Throws after close().
  void enqueue(const WorkPtr& work, bool promptly);
  /// Runs what is queued, in this thread, up to the end of `work`.
  void run_until(RecordedWork& work);
  /// Takes what has not begun out of the queue.
  std::deque<WorkPtr> take_all();
  /// The work that runs, or null.
  WorkPtr running();

  /// No more works; the thread ends behind those that are queued. False if it was closed before.
  bool close();
  /// Waits for the thread, unless this is it, or `leave` says that it may never come back.
  void join(bool leave = false);

 private:
  void serve();
  bool run_one(std::unique_lock<std::mutex>& lock);
  void wait_for_works(std::unique_lock<std::mutex>& lock);

  const std::string engine_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<WorkPtr> queue_;
  WorkPtr running_;
  std::chrono::steady_clock::time_point last_used_;
  bool closed_ = false;
  bool asleep_ = false;
  std::thread thread_;
};

} // namespace c10d::detail
