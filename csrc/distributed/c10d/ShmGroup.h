// What a ProcessGroupShm runs: its collectives one after the other, and messages between two ranks beside them.
#pragma once

#include <csrc/distributed/c10d/Backend.h>
#include <csrc/distributed/c10d/WorkQueue.h>
#include <csrc/distributed/engine/ShmEngine.h>
#include <csrc/distributed/engine/ShmMessages.h>

#include <memory>

namespace c10d::detail {

class ShmGroup;

/// A collective that waits for its turn, runs, or is over.
class ShmWork : public RecordedWork {
 public:
  using Body = std::function<void(ShmEngine& engine, Collective& call)>;

  ShmWork(
      const std::shared_ptr<ShmGroup>& group,
      OpType type,
      const char* title,
      std::vector<at::Tensor> inputs,
      std::vector<at::Tensor> outputs,
      std::chrono::milliseconds timeout,
      Body body);

  bool wait(std::chrono::milliseconds timeout = kNoTimeout) override;
  void run() noexcept override;

 private:
  std::weak_ptr<ShmGroup> shm_;
  Body body_;
};

class ShmGroup {
 public:
  ShmGroup(Store& store, int rank, int size, const Backend::Options& options);
  ~ShmGroup();

  /// No more collectives: those that are queued end with an error.
  void stop();

  SharedSegment& segment() {
    return segment_;
  }
  ShmEngine& engine() {
    return engine_;
  }
  ShmMessages& messages() {
    return messages_;
  }
  WorkQueue& queue() {
    return *queue_;
  }
  const std::shared_ptr<RecordedGroup>& record() const {
    return record_;
  }

 private:
  const std::shared_ptr<RecordedGroup> record_;
  SharedSegment segment_;
  ShmEngine engine_;
  ShmMessages messages_;
  const std::shared_ptr<WorkQueue> queue_;
};

} // namespace c10d::detail
