// Each row of the operator table inside of vmap: what a loop over samples gives, whichever tensors have a batch, and
// wherever that stands in them.

#include <ATen/Functions.h>

#include <catch2/catch.hpp>

#include <aten/functorch/BatchedTensorImpl.h>
#include <aten/functorch/looped_operators.h>

#include "test/ops/batched_calls.h"

#include <torch/autograd.h>

#include <cstdlib>

namespace test {

namespace {

using at::functorch::RandomnessType;
using at::functorch::VmapGuard;

/// Gradients of the floating inputs for cotangents of the floating results; undefined ones are zeros.
std::vector<at::Tensor> gradients(
    const std::vector<at::Tensor>& results,
    const std::vector<at::Tensor>& inputs,
    const std::vector<at::Tensor>& cotangents) {
  std::vector<at::Tensor> grads = torch::autograd::grad(results, inputs, cotangents, true, false, true);
  for (size_t i = 0; i < grads.size(); ++i) {
    grads[i] = grads[i].defined() ? grads[i] : at::zeros_like(inputs[i]);
  }
  return grads;
}

void check_gradients(const OpRow& row, const BoxedOp& op, const Sample& sample, Tally& tally, Failures& failures) {
  std::vector<at::Tensor> inputs, results;
  const Stack args = with_grad(with_copies(sample.args), traits_of(row).constants);
  with_tensors(args, [&](const at::Tensor& tensor) {
    if (tensor.requires_grad()) {
      inputs.push_back(tensor);
    }
    return tensor;
  });
  for (const at::Tensor& result : op.tensors(args)) {
    if (result.defined() && result.requires_grad() && result.layout() == at::kStrided) {
      results.push_back(result);
    }
  }
  if (inputs.empty() || results.empty()) {
    return;
  }
  std::vector<at::Tensor> batches;
  for (const at::Tensor& result : results) {
    std::vector<int64_t> sizes = result.sizes().vec();
    sizes.insert(sizes.begin(), 2);
    batches.push_back(at::randn(sizes, result.options()));
  }
  std::vector<std::vector<at::Tensor>> wanted;
  for (int64_t b = 0; b < 2; ++b) {
    std::vector<at::Tensor> cotangents;
    for (const at::Tensor& batch : batches) {
      cotangents.push_back(batch.select(0, b));
    }
    wanted.push_back(gradients(results, inputs, cotangents));
  }
  std::vector<at::Tensor> got;
  try {
    const VmapGuard guard(2, RandomnessType::Error);
    std::vector<at::Tensor> cotangents;
    for (const at::Tensor& batch : batches) {
      cotangents.push_back(at::functorch::makeBatched(batch, 0, guard.level()));
    }
    for (const at::Tensor& grad : gradients(results, inputs, cotangents)) {
      got.push_back(all_samples(grad, *guard.level()));
    }
  } catch (const std::exception& error) {
    if (is_refusal(error.what())) {
      tally.refused.emplace(row.name, error.what());
    } else {
      failures.add(sample.note + ": threw " + std::string(error.what()).substr(0, 300));
    }
    return;
  }
  ++tally.compared;
  for (int64_t b = 0; b < 2; ++b) {
    compare_sample(row, got, wanted[static_cast<size_t>(b)], b, sample.note + " gradients", failures);
  }
}

} // namespace

TEST_CASE("vmap of each operator is a loop over samples") {
  Tally tally;
  for_each_row([&](const OpRow& row, const BoxedOp& op, Failures& failures) {
    check_batches(row, op, {at::kDouble, at::kLong, at::kBool}, 2, tally, failures);
  });
  print_tally("vmap", tally);
  const std::vector<std::string> looped = at::functorch::looped_operators();
  std::printf("vmap: %zu operators looped\n", looped.size());
  if (std::getenv("TENSOR_TEST_VERBOSE") != nullptr) {
    for (const std::string& name : looped) {
      std::printf("  looped %s\n", name.c_str());
    }
  }
  CHECK(looped.size() * 50 < op_rows().size()); // 2 %
}

TEST_CASE("vmap of each operator is a loop over samples in other dtypes", "[ops][slow]") {
  Tally tally;
  for_each_row([&](const OpRow& row, const BoxedOp& op, Failures& failures) {
    check_batches(
        row, op,
        {at::kFloat, at::kHalf, at::kBFloat16, at::kComplexFloat, at::kComplexDouble, at::kByte, at::kChar, at::kShort,
         at::kInt},
        2, tally, failures);
  });
  print_tally("vmap in other dtypes", tally);
  CHECK(tally.compared > 0);
}

TEST_CASE("vmap of each operator without samples has results without samples", "[ops][slow]") {
  Tally tally;
  for_each_row([&](const OpRow& row, const BoxedOp& op, Failures& failures) {
    check_batches(row, op, {at::kDouble, at::kLong, at::kBool}, 0, tally, failures);
  });
  print_tally("vmap without samples", tally);
  CHECK(tally.compared > 0);
}

TEST_CASE("vmap of the gradient of each operator is a loop over cotangents") {
  Tally tally;
  for_each_row([&](const OpRow& row, const BoxedOp& op, Failures& failures) {
    if (!row.differentiable || !is_compared(row) || !traits_of(row).gradient) {
      return;
    }
    for (const c10::ScalarType dtype : dtypes_of(row, Purpose::Gradient)) {
      size_t count = 0;
      for (const Sample& sample : samples_of(row, op, dtype, Purpose::Gradient)) {
        if (++count <= kSamples) {
          failures.guard(sample.note, [&] { check_gradients(row, op, sample, tally, failures); });
        }
      }
    }
  });
  print_tally("vmap of gradients", tally);
}

} // namespace test
