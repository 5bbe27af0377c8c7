// A message between two ranks of a ProcessGroupShm.
#pragma once

#include <csrc/distributed/c10d/ShmGroup.h>
#include <csrc/distributed/c10d/tensor_checks.h>

namespace c10d::detail {

/// ShmMessages calls end(), in its thread.
class ShmMessageWork : public Work {
 public:
  ShmMessageWork(
      const std::shared_ptr<ShmGroup>& group,
      OpType type,
      const char* title,
      std::vector<at::Tensor> tensors,
      bool receives)
      : Work(group->segment().rank(), type, group->title(title).c_str(), tensors),
        group_(group),
        record_(group->record().schedule({0, type, title, &tensors, nullptr})),
        tensors_(std::move(tensors)),
        dense_(tensors_[0]),
        receives_(receives) {}
  Dense& dense() {
    return dense_;
  }
  void end(std::exception_ptr error, int peer) {
    source_ = peer;
    if (receives_ && !error) {
      dense_.write_back();
    }
    if (const auto group = group_.lock(); group && !error) {
      group->record().complete(record_);
    }
    finish(std::move(error));
  }
  int sourceRank() const override {
    return receives_ ? source_ : Work::sourceRank();
  }
  void synchronize() override {
    wait();
  }
  std::vector<at::Tensor> result() override {
    return tensors_;
  }

 private:
  std::weak_ptr<ShmGroup> group_;
  uint64_t record_;
  std::vector<at::Tensor> tensors_;
  Dense dense_;
  bool receives_;
  int source_ = -1;
};

} // namespace c10d::detail
