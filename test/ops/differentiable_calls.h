// Calls of operators as functions of their floating tensors.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "test/ops/batched_calls.h"

namespace test {

using Tensors = std::vector<at::Tensor>;

/// A call whose floating tensors may be replaced, and what it gives that has derivatives.
struct DifferentiableCall {
  const BoxedOp& op;
  Stack args;
  Tensors inputs;

  DifferentiableCall(const OpRow& row, const BoxedOp& op, const Stack& given);

  Tensors operator()(const BoxedOp& called, const Tensors& replaced) const;
  Tensors operator()(const Tensors& replaced) const {
    return (*this)(op, replaced);
  }
};

/// The sum of all results, each element with a weight of its own.
at::Tensor weighted_sum(const Tensors& results);

using CheckCall =
    std::function<void(const OpRow&, const DifferentiableCall&, const std::string& note, Tally&, Failures&)>;

/// Calls `check` for up to kSamples of each row with a derivative.
Tally for_each_differentiable_call(const CheckCall& check);

} // namespace test
