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
      std::chrono::milliseconds timeout)
      : RecordedWork(group, type, title, tensors, tensors, timeout), dense_(tensors[0]) {}

  /// What ShmMessages is asked for, which keeps `work` until it is over.
  static Message message_of(const c10::intrusive_ptr<ShmMessageWork>& work, int peer, int tag) {
    Message message;
    message.peer = peer;
    message.tag = tag;
    message.data = work->dense_.data();
    message.size = work->dense_.tensor().nbytes();
    message.done = [work](std::exception_ptr error, int from) { work->end_from(std::move(error), from); };
    message.deadline = deadline_after(work->timeout_);
    return message;
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
  int source_ = -1;
};

} // namespace c10d::detail
