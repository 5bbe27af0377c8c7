// A message between two ranks of a ProcessGroupShm.
#pragma once

#include <csrc/distributed/c10d/ShmGroup.h>
#include <csrc/distributed/c10d/tensor_checks.h>

namespace c10d::detail {

/// ShmMessages ends it, in its thread.
class ShmMessageWork : public RecordedWork {
 public:
  ShmMessageWork(
      const std::shared_ptr<RecordedGroup>& group,
      OpType type,
      const char* title,
      const std::vector<at::Tensor>& tensors,
      std::chrono::milliseconds timeout,
      bool until_taken = false)
      : RecordedWork(group, type, title, tensors, tensors, timeout), dense_(tensors[0]), until_taken_(until_taken) {}

  /// What ShmMessages is asked for, which keeps `work` until it is over.
  static Message message_of(const c10::intrusive_ptr<ShmMessageWork>& work, int peer, int tag) {
    Message message;
    message.peer = peer;
    message.tag = tag;
    message.data = work->dense_.data();
    message.size = work->dense_.tensor().nbytes();
    message.until_taken = work->until_taken_;
    message.done = [work](std::exception_ptr error, int from) { work->end_from(std::move(error), from); };
    message.deadline = deadline_after(work->timeout_);
    return message;
  }
  /// False if abort() has ended the wait: the message is still on its way then, and may be waited for again.
  bool wait(std::chrono::milliseconds timeout = kNoTimeout) override {
    std::unique_lock lock(mutex_);
    const auto over = [this] { return completed_ || aborted_; };
    if (timeout == kNoTimeout) {
      cv_.wait(lock, over);
    } else {
      cv_.wait_for(lock, timeout, over);
    }
    if (std::exchange(aborted_, false) && !completed_) {
      return false;
    }
    lock.unlock();
    return Work::wait(timeout == kNoTimeout ? timeout : std::chrono::milliseconds(1)); // completed, or too late
  }
  /// Ends the wait of who waits, or of the next one.
  void abort() override {
    {
      const std::lock_guard lock(mutex_);
      aborted_ = true;
    }
    cv_.notify_all();
  }
  int sourceRank() const override {
    return receives() ? source_ : Work::sourceRank();
  }

 private:
  bool receives() const {
    return opType_ != OpType::SEND;
  }
  void end_from(std::exception_ptr error, int peer) {
    source_ = peer;
    if (receives() && !error) {
      dense_.write_back();
    }
    end(std::move(error));
  }

  Dense dense_;
  const bool until_taken_;
  bool aborted_ = false; // guarded by mutex_
  int source_ = -1;
};

} // namespace c10d::detail
