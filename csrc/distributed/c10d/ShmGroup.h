// What a ProcessGroupShm runs: its collectives one after the other, and messages between two ranks beside them.
#pragma once

#include <csrc/distributed/c10d/Backend.h>
#include <csrc/distributed/engine/ShmEngine.h>
#include <csrc/distributed/engine/ShmMessages.h>
#include <csrc/distributed/recorder/FlightRecorder.h>

#include <deque>
#include <memory>
#include <thread>

namespace c10d::detail {

class ShmGroup;

/// A collective that waits for its turn, runs, or is over.
class ShmWork : public Work {
 public:
  using Body = std::function<void(ShmEngine& engine, Collective& call)>;

  ShmWork(
      std::shared_ptr<ShmGroup> group,
      OpType type,
      const char* title,
      std::vector<at::Tensor> inputs,
      std::vector<at::Tensor> outputs,
      std::chrono::milliseconds timeout,
      Body body);

  bool wait(std::chrono::milliseconds timeout = kNoTimeout) override;
  void synchronize() override {
    wait();
  }
  std::vector<at::Tensor> result() override {
    return outputs_;
  }
  c10::intrusive_ptr<c10::ivalue::Future> getFuture() override;
  c10::intrusive_ptr<c10::ivalue::Future> getFutureResult() override;
  uint64_t getSequencenumber() const override {
    return number_;
  }
  std::chrono::milliseconds getTimeout() const override {
    return timeout_;
  }
  float getDuration() const override {
    return duration_ms_;
  }

  /// Runs it in this thread and ends it; never throws.
  void run(ShmGroup& group) noexcept;
  /// Ends it with an error, before it has begun.
  void fail(std::exception_ptr error) noexcept;

 private:
  void end(std::exception_ptr error) noexcept;

  std::weak_ptr<ShmGroup> group_;
  std::vector<at::Tensor> outputs_;
  const std::chrono::milliseconds timeout_;
  const uint64_t record_;
  Body body_;
  uint64_t number_ = 0;
  float duration_ms_ = 0;
  c10::intrusive_ptr<c10::ivalue::Future> future_;
  c10::intrusive_ptr<c10::ivalue::Future> future_result_;
};

class ShmGroup : public std::enable_shared_from_this<ShmGroup> {
 public:
  ShmGroup(Store& store, int rank, int size, const Backend::Options& options);
  ~ShmGroup();

  /// Puts a collective behind the others. If `promptly`, the group's thread takes it at once, else when nobody has
  /// waited for it within a millisecond: for what is small a change of threads costs more than the work.
  void enqueue(const c10::intrusive_ptr<ShmWork>& work, bool promptly);
  /// Runs what is queued, in this thread, up to the end of `work`.
  void run_until(ShmWork& work);
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
  RecordedGroup& record() {
    return record_;
  }
  /// The name of an operation in profiles: "shm:all_reduce".
  std::string title(const char* operation) const {
    return engine_name_ + ":" + operation;
  }

 private:
  void serve();
  bool run_one(std::unique_lock<std::mutex>& lock);

  const std::string engine_name_;
  RecordedGroup record_;
  SharedSegment segment_;
  ShmEngine engine_;
  ShmMessages messages_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<c10::intrusive_ptr<ShmWork>> queue_;
  bool running_ = false; // a collective, in some thread
  bool stopping_ = false;
  std::chrono::steady_clock::time_point last_used_;
  bool asleep_ = false;
  std::thread thread_;
};

} // namespace c10d::detail
