// The pool behind at::launch: tasks beside each other, each of them serial inside.
#include <aten/parallel/Parallel.h>
#include <aten/parallel/ThreadLocalState.h>

#include <c10/util/Exception.h>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

namespace at {

namespace {

std::mutex settings_mutex;
int requested_threads = 0;
bool pool_started = false;

class TaskPool {
 public:
  explicit TaskPool(int threads) {
    workers_.reserve(threads);
    for (int i = 0; i < threads; ++i) {
      workers_.emplace_back([this] { work(); });
    }
  }

  ~TaskPool() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_all();
    for (std::thread& worker : workers_) {
      worker.join();
    }
  }

  void add(std::function<void()> task) {
    {
      const std::lock_guard lock(mutex_);
      tasks_.push_back(std::move(task));
    }
    wake_.notify_one();
  }

 private:
  void work() {
    const internal::ThreadLimitGuard serial;
    std::unique_lock lock(mutex_);
    while (true) {
      wake_.wait(lock, [this] { return stopping_ || !tasks_.empty(); });
      if (tasks_.empty()) {
        return;
      }
      const std::function<void()> task = std::move(tasks_.front());
      tasks_.pop_front();
      lock.unlock();
      try {
        task();
      } catch (const std::exception& error) {
        // Nobody waits for a launched task: the message is all that can be done.
        TORCH_WARN("Exception in a task started by at::launch: ", error.what());
      } catch (...) {
        TORCH_WARN("Unknown exception in a task started by at::launch");
      }
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> tasks_;
  bool stopping_ = false;
  std::vector<std::thread> workers_;
};

TaskPool& pool() {
  static TaskPool instance([] {
    const int threads = static_cast<int>(get_num_interop_threads());
    const std::lock_guard lock(settings_mutex);
    pool_started = true;
    return threads;
  }());
  return instance;
}

} // namespace

void set_num_interop_threads(int nthreads) {
  TORCH_CHECK(nthreads > 0, "Expected positive number of threads, got ", nthreads);
  const std::lock_guard lock(settings_mutex);
  TORCH_CHECK(
      requested_threads == 0 && !pool_started,
      "Error: cannot set number of interop threads after parallel work has started or set_num_interop_threads called");
  requested_threads = nthreads;
}

std::size_t get_num_interop_threads() {
  const std::lock_guard lock(settings_mutex);
  return requested_threads > 0 ? requested_threads : intraop_default_num_threads();
}

void launch(std::function<void()> func) {
  internal::launch_no_thread_state(wrapPropagateTLSState(std::move(func)));
}

namespace internal {

void launch_no_thread_state(std::function<void()> fn) {
  pool().add(std::move(fn));
}

} // namespace internal

} // namespace at
