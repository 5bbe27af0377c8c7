#include <csrc/compat/c10/core/thread_pool.h>

#include <c10/util/Exception.h>

#include <algorithm>
#include <exception>
#include <utility>

namespace c10 {

TaskThreadPoolBase::~TaskThreadPoolBase() noexcept = default;

size_t TaskThreadPoolBase::defaultNumThreads() {
  return std::max(1u, std::thread::hardware_concurrency());
}

ThreadPool::ThreadPool(int pool_size, int /*numa_node_id*/, const std::function<void()>& init_thread)
    : available_(pool_size < 0 ? defaultNumThreads() : static_cast<size_t>(pool_size)) {
  const size_t count = available_;
  threads_.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    threads_.emplace_back([this, init_thread] {
      if (init_thread) {
        init_thread();
      }
      main_loop();
    });
  }
}

ThreadPool::~ThreadPool() {
  {
    std::lock_guard lock(mutex_);
    running_ = false;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) {
    thread.join();
  }
}

size_t ThreadPool::size() const {
  return threads_.size();
}

size_t ThreadPool::numAvailable() const {
  std::lock_guard lock(mutex_);
  return available_;
}

bool ThreadPool::inThreadPool() const {
  return std::any_of(threads_.begin(), threads_.end(), [](const std::thread& thread) {
    return thread.get_id() == std::this_thread::get_id();
  });
}

void ThreadPool::run(std::function<void()> func) {
  TORCH_CHECK(!threads_.empty(), "No threads to run a task");
  {
    std::lock_guard lock(mutex_);
    tasks_.push(std::move(func));
  }
  wake_.notify_one();
}

void ThreadPool::waitWorkComplete() {
  std::unique_lock lock(mutex_);
  done_.wait(lock, [this] { return tasks_.empty() && available_ == threads_.size(); });
}

void ThreadPool::main_loop() {
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [this] { return !tasks_.empty() || !running_; });
    if (!running_) {
      return;
    }
    {
      std::function<void()> task = std::move(tasks_.front());
      tasks_.pop();
      --available_;
      lock.unlock();
      try {
        task();
      } catch (const std::exception& error) {
        TORCH_WARN("Exception in thread pool task: ", error.what());
      } catch (...) {
        TORCH_WARN("Exception in thread pool task: unknown");
      }
    }
    lock.lock();
    ++available_;
    if (tasks_.empty()) {
      done_.notify_all();
    }
  }
}

} // namespace c10
