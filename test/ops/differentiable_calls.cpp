#include "test/ops/differentiable_calls.h"

#include <ATen/Functions.h>

#include <algorithm>

namespace test {

namespace {

bool is_float(const at::Tensor& t) {
  return t.defined() && t.layout() == at::kStrided && (t.is_floating_point() || t.is_complex());
}

} // namespace

DifferentiableCall::DifferentiableCall(const OpRow& row, const BoxedOp& op, const Stack& given)
    : op(op), args(with_grad(with_copies(given), traits_of(row).constants)) {
  with_tensors(args, [&](const at::Tensor& tensor) {
    if (tensor.requires_grad()) {
      inputs.push_back(tensor.detach());
    }
    return tensor;
  });
}

Tensors DifferentiableCall::operator()(const BoxedOp& called, const Tensors& replaced) const {
  size_t next = 0;
  Tensors results;
  for (const at::Tensor& result : called.tensors(with_tensors(
           args, [&](const at::Tensor& tensor) { return tensor.requires_grad() ? replaced.at(next++) : tensor; }))) {
    if (is_float(result)) {
      results.push_back(result);
    }
  }
  return results;
}

at::Tensor weighted_sum(const Tensors& results) {
  at::Tensor sum = at::zeros({}, at::kDouble);
  for (const at::Tensor& result : results) {
    const at::Tensor real = result.is_complex() ? at::view_as_real(result.resolve_conj()) : result;
    sum = sum + (real * at::linspace(0.5, 1.5, real.numel(), at::kDouble).view(real.sizes())).sum();
  }
  return sum;
}

Tally for_each_differentiable_call(const CheckCall& check) {
  Tally tally;
  for_each_row([&](const OpRow& row, const BoxedOp& op, Failures& failures) {
    if (!row.differentiable || !is_compared(row) || !traits_of(row).gradient) {
      return;
    }
    for (const c10::ScalarType dtype : dtypes_of(row, Purpose::Gradient)) {
      size_t count = 0;
      for (const Sample& sample : samples_of(row, op, dtype, Purpose::Gradient)) {
        if (++count > kSamples) {
          break;
        }
        failures.guard(sample.note, [&] {
          const DifferentiableCall call(row, op, sample.args);
          if (!call.inputs.empty() && std::all_of(call.inputs.begin(), call.inputs.end(), is_float)) {
            check(row, call, sample.note, tally, failures);
          }
        });
      }
    }
  });
  return tally;
}

} // namespace test
