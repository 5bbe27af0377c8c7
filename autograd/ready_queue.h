#pragma once

#include <autograd/node_table.h>

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace torch::autograd {

struct GraphTask;

/// A node whose inputs are complete. Without a task it only wakes up the thread that waits for the queue.
struct NodeTask {
  GraphTask* task = nullptr;
  NodeState* state = nullptr;
  uint64_t sequence_nr = 0;
  int reentrant_depth = 0;
};

/// What runs first: inner backward passes before the ones they interrupted, then the nodes made last.
inline bool runs_later(const NodeTask& a, const NodeTask& b) {
  if (a.reentrant_depth != b.reentrant_depth) {
    return a.reentrant_depth < b.reentrant_depth;
  }
  return a.sequence_nr < b.sequence_nr;
}

/// The ready nodes of a pass that stays on one thread.
class LocalReadyQueue {
 public:
  bool empty() const {
    return heap_.empty();
  }
  void clear() {
    heap_.clear();
  }
  void push(const NodeTask& item) {
    heap_.push_back(item);
    std::push_heap(heap_.begin(), heap_.end(), runs_later);
  }
  NodeTask pop() {
    std::pop_heap(heap_.begin(), heap_.end(), runs_later);
    const NodeTask item = heap_.back();
    heap_.pop_back();
    return item;
  }

 private:
  std::vector<NodeTask> heap_;
};

/// The ready nodes for one thread, from any thread.
class ReadyQueue {
 public:
  void push(const NodeTask& item) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      heap_.push(item);
    }
    not_empty_.notify_one();
  }
  /// Waits for an item.
  NodeTask pop() {
    std::unique_lock<std::mutex> lock(mutex_);
    not_empty_.wait(lock, [this] { return !heap_.empty(); });
    return heap_.pop();
  }

 private:
  std::mutex mutex_;
  std::condition_variable not_empty_;
  LocalReadyQueue heap_;
};

/// While it lives, this thread serves `queue`: passes with several threads that start here send their nodes there.
class QueueScope {
 public:
  explicit QueueScope(std::shared_ptr<ReadyQueue> queue);
  QueueScope(const QueueScope&) = delete;
  QueueScope& operator=(const QueueScope&) = delete;
  ~QueueScope();

  /// The queue that this thread serves; null if none.
  static std::shared_ptr<ReadyQueue> current();

 private:
  const std::shared_ptr<ReadyQueue> queue_;
  const std::shared_ptr<ReadyQueue>* const previous_;
};

} // namespace torch::autograd
