// Each row of the operator table inside of vmap: tangents, second derivatives and gradients in batches.

#include <ATen/Functions.h>

#include <catch2/catch.hpp>

#include <aten/functorch/BatchedTensorImpl.h>

#include "test/ops/batched_calls.h"
#include "test/ops/differentiable_calls.h"

#include <torch/autograd.h>

#include <functional>
#include <optional>

namespace test {

namespace {

using at::functorch::HiddenVmapLevel;
using at::functorch::RandomnessType;
using at::functorch::VmapGuard;
namespace fwd = torch::autograd::forward_ad;

Tensors gradients_of_sum(const Tensors& results, const Tensors& inputs) {
  const at::Tensor sum = weighted_sum(results);
  Tensors grads =
      sum.requires_grad() ? torch::autograd::grad({sum}, inputs, {}, true, false, true) : Tensors(inputs.size());
  for (size_t i = 0; i < grads.size(); ++i) {
    grads[i] = grads[i].defined() ? grads[i] : at::zeros_like(inputs[i]).detach();
  }
  return grads;
}

/// Batches of tensors like these.
Tensors random_batches(const Tensors& like, int64_t size) {
  Tensors batches;
  for (const at::Tensor& tensor : like) {
    batches.push_back(at::randn(with_batch_size(tensor, size), tensor.options().requires_grad(false)));
  }
  return batches;
}

Tensors sample_of(const Tensors& batches, int64_t b) {
  Tensors samples;
  for (const at::Tensor& batch : batches) {
    samples.push_back(batch.select(0, b));
  }
  return samples;
}

Tensors batched(const Tensors& batches, const at::functorch::VmapLevelPtr& level) {
  Tensors tensors;
  for (const at::Tensor& batch : batches) {
    tensors.push_back(at::functorch::makeBatched(batch, 0, level));
  }
  return tensors;
}

Tensors all_samples_of(const Tensors& tensors, const at::functorch::VmapLevel& level) {
  Tensors all;
  for (const at::Tensor& tensor : tensors) {
    all.push_back(all_samples(tensor, level));
  }
  return all;
}

constexpr int64_t kSize = 2;

using OfSample = std::function<Tensors(int64_t)>;
using OfBatch = std::function<Tensors()>;

/// What a call for all samples gives, against calls for each.
void compare_calls(
    const OpRow& row,
    const std::string& note,
    const OfBatch& of_batch,
    const OfSample& of_sample,
    Tally& tally,
    Failures& failures) {
  std::vector<Tensors> wanted;
  for (int64_t b = 0; b < kSize; ++b) {
    wanted.push_back(of_sample(b));
  }
  Tensors got;
  try {
    got = of_batch();
  } catch (const std::exception& error) {
    if (is_refusal(error.what())) {
      tally.refused.emplace(row.name, error.what());
    } else {
      failures.add(note + ": threw " + std::string(error.what()).substr(0, 300));
    }
    return;
  }
  ++tally.compared;
  for (int64_t b = 0; b < kSize; ++b) {
    compare_sample(row, got, wanted[static_cast<size_t>(b)], b, note, failures);
  }
}

Tensors tangents_of_call(const DifferentiableCall& call, const Tensors& tangents) {
  const fwd::DualLevel level;
  Tensors duals, results;
  for (size_t i = 0; i < tangents.size(); ++i) {
    duals.push_back(fwd::make_dual(call.inputs[i], tangents[i]));
  }
  for (const at::Tensor& result : call(duals)) {
    const at::Tensor tangent = fwd::unpack_dual(result).tangent;
    results.push_back(tangent.defined() ? tangent : at::zeros_like(fwd::unpack_dual(result).primal));
  }
  return results;
}

/// The gradient of the weighted sum, and its derivative in a direction.
Tensors second_derivatives(const DifferentiableCall& call, const Tensors& tangents) {
  const fwd::DualLevel level;
  Tensors duals, results;
  for (size_t i = 0; i < tangents.size(); ++i) {
    duals.push_back(fwd::make_dual(call.inputs[i].clone().requires_grad_(), tangents[i]));
  }
  for (const at::Tensor& gradient : gradients_of_sum(call(duals), duals)) {
    const auto [value, tangent] = fwd::unpack_dual(gradient);
    results.push_back(tangent.defined() ? tangent.detach() : at::zeros_like(value).detach());
  }
  return results;
}

} // namespace

TEST_CASE("batches of tangents through each operator", "[ops][slow]") {
  const Tally tally = for_each_differentiable_call(
      [](const OpRow& row, const DifferentiableCall& call, const std::string& note, Tally& tally, Failures& failures) {
        const Tensors tangents = random_batches(call.inputs, kSize);
        compare_calls(
            row, note + " tangents",
            [&] {
              const HiddenVmapLevel level(kSize);
              return all_samples_of(tangents_of_call(call, batched(tangents, level.level())), *level.level());
            },
            [&](int64_t b) { return tangents_of_call(call, sample_of(tangents, b)); }, tally, failures);
      });
  print_tally("batches of tangents", tally);
  CHECK(tally.compared > 0);
}

TEST_CASE("batches of second derivatives through each operator", "[ops][slow]") {
  const Tally tally = for_each_differentiable_call(
      [](const OpRow& row, const DifferentiableCall& call, const std::string& note, Tally& tally, Failures& failures) {
        const Tensors tangents = random_batches(call.inputs, kSize);
        compare_calls(
            row, note + " second derivatives",
            [&] {
              const HiddenVmapLevel level(kSize);
              return all_samples_of(second_derivatives(call, batched(tangents, level.level())), *level.level());
            },
            [&](int64_t b) { return second_derivatives(call, sample_of(tangents, b)); }, tally, failures);
      });
  print_tally("batches of second derivatives", tally);
  CHECK(tally.compared > 0);
}

TEST_CASE("gradients through a batch of calls of each operator, also in place", "[ops][slow]") {
  const Tally tally = for_each_differentiable_call(
      [](const OpRow& row, const DifferentiableCall& call, const std::string& note, Tally& tally, Failures& failures) {
        const std::optional<BoxedOp> in_place = *row.inplace != 0 ? BoxedOp::find(row.inplace) : std::nullopt;
        // Other samples are like the first one: away from kinks.
        Tensors batches;
        for (const at::Tensor& input : call.inputs) {
          batches.push_back(at::stack({input, input * 1.001}));
        }
        const auto pass = [&](const BoxedOp& op, bool copies) {
          return [&, copies](Tensors inputs) {
            for (at::Tensor& input : inputs) {
              input = copies ? input * 1 : input;
            }
            return call(op, inputs);
          };
        };
        const auto compare = [&](const BoxedOp& op, bool copies, const char* what) {
          const auto run = pass(op, copies);
          const auto leaves = [](const Tensors& values) {
            Tensors made;
            for (const at::Tensor& value : values) {
              made.push_back(value.detach().clone().requires_grad_());
            }
            return made;
          };
          compare_calls(
              row, note + what,
              [&] {
                const Tensors all = leaves(batches);
                at::Tensor sum;
                {
                  const VmapGuard guard(kSize, RandomnessType::Error);
                  const at::Tensor each = weighted_sum(run(batched(all, guard.level())));
                  sum = all_samples(each, *guard.level()).sum();
                }
                return sum.requires_grad() ? gradients_of_sum({sum / 0.5}, all) : gradients_of_sum({}, all);
              },
              [&](int64_t b) {
                const Tensors inputs = leaves(sample_of(batches, b));
                return gradients_of_sum(run(inputs), inputs);
              },
              tally, failures);
        };
        compare(call.op, false, " gradients");
        const auto fits = [&] {
          const Tensors results = call(call.inputs);
          return call.args[0].isTensor() && call.args[0].toTensor().requires_grad() && !results.empty() &&
              results[0].sizes() == call.inputs[0].sizes() && results[0].dtype() == call.inputs[0].dtype();
        };
        if (in_place && fits()) {
          compare(*in_place, true, " gradients in place");
        }
      });
  print_tally("gradients of batches", tally);
  CHECK(tally.compared > 0);
}

} // namespace test
