// The works of backends that run operations themselves.
#pragma once

#include <csrc/distributed/c10d/Work.h>
#include <csrc/distributed/recorder/FlightRecorder.h>

#include <atomic>
#include <memory>

namespace c10d::detail {

/// An operation with its results, its entry in the flight recorder, and futures for those who ask.
class RecordedWork : public Work {
 public:
  RecordedWork(
      std::shared_ptr<RecordedGroup> group,
      OpType type,
      const char* title,
      std::vector<at::Tensor> inputs,
      std::vector<at::Tensor> outputs,
      std::chrono::milliseconds timeout);

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

  /// Runs it in this thread, and ends it. Messages, which have a thread or an engine of their own, do nothing here.
  virtual void run() noexcept {}
  /// Ends it, well or with an error, if it has not ended yet.
  void end(std::exception_ptr error) noexcept;

 protected:
  /// It begins now, as the operation of this number.
  void start(uint64_t number);
  /// Notes the time since then.
  void stop_clock();

  const std::shared_ptr<RecordedGroup> group_;
  std::vector<at::Tensor> outputs_;
  const std::chrono::milliseconds timeout_;
  std::atomic<bool> ended_{false};
  std::atomic<uint64_t> number_{0}; // any thread may ask

 private:
  const uint64_t record_;
  std::chrono::steady_clock::time_point begun_;
  std::atomic<float> duration_ms_{0};
  c10::intrusive_ptr<c10::ivalue::Future> future_;
  c10::intrusive_ptr<c10::ivalue::Future> future_result_;
};

/// An error of the group, for works.
std::exception_ptr backend_error(const std::string& text);

} // namespace c10d::detail
