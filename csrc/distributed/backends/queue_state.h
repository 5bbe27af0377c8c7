// The thread of a QueueBackend, and its works.
#pragma once

#include <csrc/distributed/backends/PeerWatch.h>
#include <csrc/distributed/backends/QueueBackend.h>
#include <csrc/distributed/recorder/FlightRecorder.h>

#include <deque>

namespace c10d::detail {

/// A collective of the queue, or a message beside it.
class QueueWork : public Work {
 public:
  using Body = std::function<void(Carrier& carrier, const Carrier::Call& call)>;

  /// Messages have no body.
  QueueWork(
      std::shared_ptr<QueueState> state,
      OpType type,
      const char* title,
      std::vector<at::Tensor> inputs,
      std::vector<at::Tensor> outputs,
      std::chrono::milliseconds timeout,
      Body body = nullptr);

  void synchronize() override {
    wait();
  }
  std::vector<at::Tensor> result() override {
    return outputs_;
  }
  c10::intrusive_ptr<c10::ivalue::Future> getFuture() override {
    return future_;
  }
  c10::intrusive_ptr<c10::ivalue::Future> getFutureResult() override {
    return future_result_;
  }
  uint64_t getSequencenumber() const override {
    return number_;
  }
  std::chrono::milliseconds getTimeout() const override {
    return timeout_;
  }
  float getDuration() const override {
    return duration_ms_;
  }
  /// Ends it, if it has not ended yet.
  void end(std::exception_ptr error) noexcept;

 protected:
  friend class QueueState;
  std::weak_ptr<QueueState> state_;
  std::vector<at::Tensor> outputs_;
  const std::chrono::milliseconds timeout_;
  uint64_t record_;
  uint64_t number_ = 0;
  std::string about_; // "of 10 Float elements"
  float duration_ms_ = 0;
  std::atomic<bool> ended_{false};
  Body body_;
  c10::intrusive_ptr<c10::ivalue::Future> future_;
  c10::intrusive_ptr<c10::ivalue::Future> future_result_;
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
  [[noreturn]] void throw_failed(const std::string& what);
  std::string describe(const QueueWork& work) const;
  std::exception_ptr error_of(QueueWork& work, const std::string& reason, bool ask_others);

  Carrier& carrier() {
    return *carrier_;
  }
  RecordedGroup& record() {
    return record_;
  }
  int rank() const {
    return rank_;
  }
  std::string title(const char* operation) const {
    return engine_ + ":" + operation;
  }
  uint64_t number() const {
    return number_;
  }

 private:
  void serve();
  void run(QueueWork& work);

  const std::string engine_;
  const std::string group_;
  const int rank_;
  RecordedGroup record_;
  std::shared_ptr<Carrier> carrier_;
  std::unique_ptr<PeerWatch> watch_;
  std::atomic<uint64_t> number_{0};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<c10::intrusive_ptr<QueueWork>> queue_;
  c10::intrusive_ptr<QueueWork> running_;
  std::string failure_;
  bool stopping_ = false;
  std::thread thread_;
};

} // namespace c10d::detail
