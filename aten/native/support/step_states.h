// States that go from step to step of a recurrent layer, by operators.
#pragma once

#include <aten/core/Tensor.h>
#include <aten/native/support/recurrence.h>
#include <aten/ops/cat.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace at::native {

/// Each step's states are set once those of the step before it are.
class StepStates {
 public:
  /// `first` are the states before the first steps of all sequences, [batch, width].
  StepStates(const StepRows& steps, Tensor first)
      : steps_(steps), first_(std::move(first)), all_(static_cast<size_t>(steps.steps())) {}

  /// The states before step t, of the sequences that have it.
  Tensor before(int64_t t) const {
    const int64_t continued = steps_.continued(t), begin = steps_.live(t) - continued;
    if (continued == 0) {
      return first_.narrow(0, 0, begin);
    }
    const Tensor kept = all_[static_cast<size_t>(steps_.before(t))].narrow(0, 0, continued);
    return begin == 0 ? kept : at::cat({kept, first_.narrow(0, continued, begin)}, 0);
  }
  void set(int64_t t, const Tensor& states) {
    all_[static_cast<size_t>(t)] = states;
  }
  /// The states after all steps, laid out in these sizes.
  Tensor all(IntArrayRef sizes) const {
    return at::cat(all_, 0).reshape(sizes);
  }

 private:
  const StepRows& steps_;
  Tensor first_;
  std::vector<Tensor> all_;
};

} // namespace at::native
