// The thread of a QueueBackend, and its works.
#pragma once

#include <csrc/distributed/backends/PeerWatch.h>
#include <csrc/distributed/backends/QueueBackend.h>
#include <csrc/distributed/c10d/WorkQueue.h>

namespace c10d::detail {

/// A collective of the queue, or a message beside it.
class QueueWork : public RecordedWork {
 public:
  using Body = std::function<void(Carrier& carrier, const Carrier::Call& call)>;

  /// Messages have no body.
  QueueWork(
      const std::shared_ptr<QueueState>& state,
      OpType type,
      const char* title,
      std::vector<at::Tensor> inputs,
      std::vector<at::Tensor> outputs,
      std::chrono::milliseconds timeout,
      Body body = nullptr);

  void run() noexcept override;

 protected:
  friend class QueueState;
  std::weak_ptr<QueueState> state_;
  std::string about_; // "of 10 Float elements"
  Body body_;
};

class QueueState : public std::enable_shared_from_this<QueueState> {
 public:
  QueueState(
      std::shared_ptr<Carrier> carrier,
      const c10::intrusive_ptr<Store>& store,
      int rank,
      int size,
      const Backend::Options& options);

  void begin();
  void enqueue(const c10::intrusive_ptr<QueueWork>& work);
  void stop();
  /// Ends all operations with an error that has this reason.
  void fail(const std::string& reason);
  /// The failure of the group, or nothing.
  std::string failure();
  std::string describe(const QueueWork& work) const;
  std::exception_ptr error_of(QueueWork& work, const std::string& reason, bool ask_others);

  /// Runs a collective, or ends it if the group has failed.
  void run(QueueWork& work);

  Carrier& carrier() {
    return *carrier_;
  }
  const std::shared_ptr<RecordedGroup>& record() const {
    return record_;
  }
  uint64_t number() const {
    return number_;
  }

 private:
  std::string problem_of(QueueWork& work);

  const std::shared_ptr<RecordedGroup> record_;
  std::shared_ptr<Carrier> carrier_;
  const std::shared_ptr<WorkQueue> queue_;
  std::unique_ptr<PeerWatch> watch_;
  std::atomic<uint64_t> number_{0};
  std::mutex mutex_;
  std::string failure_;
};

} // namespace c10d::detail
