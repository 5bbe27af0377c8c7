#include <csrc/data/detail/worker_threads.h>

#include <aten/parallel/Parallel.h>
#include <c10/util/thread_name.h>

#include <thread>
#include <utility>
#include <vector>

namespace torch::data::detail {

struct WorkerThreads::Threads {
  std::vector<std::thread> all;
};

WorkerThreads::WorkerThreads() : threads_(std::make_unique<Threads>()) {}

WorkerThreads::~WorkerThreads() {
  join();
}

void WorkerThreads::start(std::function<void()> body) {
  threads_->all.emplace_back([body = std::move(body)] {
    c10::setThreadName("data_worker");
    const at::internal::ThreadLimitGuard serial;
    body();
  });
}

void WorkerThreads::join() {
  for (std::thread& thread : threads_->all) {
    thread.join();
  }
  threads_->all.clear();
}

size_t WorkerThreads::size() const noexcept {
  return threads_->all.size();
}

} // namespace torch::data::detail
