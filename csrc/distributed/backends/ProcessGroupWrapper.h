// ProcessGroupWrapper: checks before each collective that all ranks call the same one.
#pragma once

#include <csrc/distributed/backends/ForwardingBackend.h>
#include <csrc/distributed/backends/ProcessGroupGloo.h>

namespace c10d {

/// Stands before a backend that does not check for itself; init_process_group puts it there with
/// TORCH_DISTRIBUTED_DEBUG=DETAIL. Ranks that differ in the collective, its number, or its tensors' sizes and dtypes
/// all throw, and say what each of them calls.
class TORCH_API ProcessGroupWrapper : public ForwardingBackend {
 public:
  /// The second backend, of the same ranks, carries what is compared.
  explicit ProcessGroupWrapper(const c10::intrusive_ptr<Backend>& backend, c10::intrusive_ptr<Backend> glooBackend);

  c10::intrusive_ptr<Backend> getWrappedPg() const {
    return inner_;
  }
  void monitoredBarrier(const BarrierOptions& opts, bool wait_all_ranks = false) override {
    checker_->monitoredBarrier(opts, wait_all_ranks);
  }

 protected:
  void before(OpType type, const std::vector<at::Tensor>& tensors) override;

 private:
  c10::intrusive_ptr<Backend> checker_;
  uint64_t number_ = 0;
};

} // namespace c10d
