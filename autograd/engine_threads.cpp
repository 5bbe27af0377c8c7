#include <autograd/engine.h>

#include <aten/parallel/Parallel.h>
#include <autograd/graph_task.h>
#include <autograd/ready_queue.h>

#include <exception>
#include <thread>

namespace torch::autograd {

std::shared_ptr<ReadyQueue> Engine::device_queue(c10::DeviceIndex index) {
  TORCH_INTERNAL_ASSERT(
      index >= 0 && static_cast<size_t>(index) < device_queues_.size(), "no queue for device number ", index);
  const std::lock_guard<std::mutex> lock(device_queues_mutex_);
  std::shared_ptr<ReadyQueue>& queue = device_queues_[static_cast<size_t>(index)];
  if (!queue) {
    queue = std::make_shared<ReadyQueue>();
    std::thread([this, own = queue] { device_thread(own); }).detach();
  }
  return queue;
}

void Engine::device_thread(const std::shared_ptr<ReadyQueue>& queue) {
  // Parallel loops of a second thread would make a second team of threads on the same cores.
  at::init_num_threads();
  const QueueScope scope(queue);
  work_on(*queue, nullptr);
}

void Engine::run_on_fresh_stack(GraphTask& task, NodeState& root) {
  // The thread comes first: a pass that waited for one that cannot be started would be found by another one, long after
  // its caller has gone.
  bool start_thread = false;
  {
    const std::lock_guard<std::mutex> lock(fresh_stacks_mutex_);
    ++promised_passes_;
    start_thread = idle_fresh_stacks_ < fresh_stacks_passes_.size() + promised_passes_;
  }
  if (start_thread) {
    try {
      std::thread([this] { fresh_stack_thread(); }).detach();
    } catch (const std::exception& failure) {
      {
        const std::lock_guard<std::mutex> lock(fresh_stacks_mutex_);
        --promised_passes_;
      }
      TORCH_CHECK_WITH(
          OutOfMemoryError, false, "backward: no thread could be started for a pass that runs inside of ", MAX_DEPTH,
          " others: ", failure.what());
    }
  }
  {
    const std::lock_guard<std::mutex> lock(fresh_stacks_mutex_);
    --promised_passes_;
    // The new thread takes over this one's queue while this one waits.
    fresh_stacks_passes_.push({task.shared_from_this(), &root, QueueScope::current()});
  }
  fresh_stacks_work_.notify_one();
  task.wait();
}

void Engine::fresh_stack_thread() {
  at::init_num_threads();
  for (;;) {
    WaitingPass pass;
    {
      std::unique_lock<std::mutex> lock(fresh_stacks_mutex_);
      ++idle_fresh_stacks_;
      fresh_stacks_work_.wait(lock, [this] { return !fresh_stacks_passes_.empty(); });
      --idle_fresh_stacks_;
      pass = std::move(fresh_stacks_passes_.front());
      fresh_stacks_passes_.pop();
    }
    const QueueScope scope(pass.queue);
    try {
      drain(*pass.task, *pass.root);
    } catch (...) { // nothing of the pass has run
      pass.task->set_exception(std::current_exception(), nullptr);
      pass.task->finish();
    }
  }
}

} // namespace torch::autograd
