// Finds the kernel behind a pointwise operator.
#pragma once

#include <aten/core/dispatch/Dispatcher.h>
#include <aten/core/ivalue.h>
#include <aten/iterator/pointwise_run.h>

#include <array>
#include <optional>
#include <vector>

namespace torch::fused {

// Note [Learning kernels]
// A pointwise operator's CPU kernel ends in run_pointwise(), with a function that computes a dense run of elements, and
// with what that function needs of the operator's parameters. So the operator is called once on a few elements, while a
// PointwiseListener takes note of the function instead of computing: this gives the kernel for these dtypes, parameters
// and this processor, and which argument is which operand, without a table that says so for each operator.
//
// What was learned is tried: the operator is called again and must give what the kernel gives for the same elements,
// bit for bit. Operators that do more than one such loop, or something beside it, or that know more of an element than
// its value, are found out by that, and remain calls.

/// A tensor argument, as far as it matters: its elements are made up.
struct ProbeTensor {
  size_t place; // among the arguments
  c10::ScalarType dtype;
  std::vector<int64_t> sizes;
};

struct LearnedKernel {
  struct Operand {
    /// Index into the tensors given; -1: a constant.
    int64_t tensor = -1;
    /// What the kernel reads.
    c10::ScalarType dtype;
    alignas(16) std::array<char, 16> value{};
  };
  at::native::BlockKernel kernel = nullptr;
  std::vector<char> functor;
  uint32_t wide_inputs = 0;
  std::vector<Operand> operands;
  /// What the kernel writes, which becomes the dtype of the result.
  c10::ScalarType written;
};

/// The kernel of `op` called with `stack`, in which the tensors stand for those described; its result has this dtype
/// and these sizes. Nothing if it is no pointwise operator, or one of which this cannot be found out.
std::optional<LearnedKernel> learn_kernel(
    const c10::OperatorHandle& op,
    const std::vector<c10::IValue>& stack,
    const std::vector<ProbeTensor>& tensors,
    c10::ScalarType result_dtype,
    const std::vector<int64_t>& result_sizes);

} // namespace torch::fused
