#pragma once

#include <c10/macros/Export.h>

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <queue>
#include <thread>
#include <vector>

namespace c10 {

/// Runs tasks on threads of its own.
class C10_API TaskThreadPoolBase {
 public:
  virtual void run(std::function<void()> func) = 0;
  virtual size_t size() const = 0;
  /// Threads that wait for a task.
  virtual size_t numAvailable() const = 0;
  /// Whether the calling thread belongs to the pool.
  virtual bool inThreadPool() const = 0;
  virtual ~TaskThreadPoolBase() noexcept;

  static size_t defaultNumThreads();
};

/// A fixed number of threads and one queue, first in, first out. A task that throws is reported as a warning.
class C10_API ThreadPool : public TaskThreadPoolBase {
 public:
  /// A negative size means defaultNumThreads(). `init_thread` runs first in each thread. The NUMA node is not used.
  explicit ThreadPool(int pool_size, int numa_node_id = -1, const std::function<void()>& init_thread = nullptr);
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;
  /// Waits for running tasks; tasks that wait in the queue are dropped.
  ~ThreadPool() override;

  size_t size() const override;
  size_t numAvailable() const override;
  bool inThreadPool() const override;
  void run(std::function<void()> func) override;
  /// Returns when the queue is empty and every task done.
  void waitWorkComplete();

 private:
  void main_loop();

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable done_;
  std::queue<std::function<void()>> tasks_;
  size_t available_;
  bool running_ = true;
  std::vector<std::thread> threads_;
};

class C10_API TaskThreadPool : public ThreadPool {
 public:
  explicit TaskThreadPool(int pool_size, int numa_node_id = -1) : ThreadPool(pool_size, numa_node_id) {}
};

} // namespace c10
