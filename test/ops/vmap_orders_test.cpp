// Each row of the operator table inside of vmap: tangents, second derivatives and gradients in batches.

#include <ATen/Functions.h>

#include <catch2/catch.hpp>

#include <aten/functorch/BatchedTensorImpl.h>

#include "test/ops/batched_calls.h"

#include <torch/autograd.h>

#include <functional>
#include <optional>

namespace test {

namespace {

using at::functorch::HiddenVmapLevel;
using at::functorch::RandomnessType;
using at::functorch::VmapGuard;
namespace fwd = torch::autograd::forward_ad;
using Tensors = std::vector<at::Tensor>;

bool is_float(const at::Tensor& t) {
  return t.defined() && t.layout() == at::kStrided && (t.is_floating_point() || t.is_complex());
}

/// A call whose floating tensors may be replaced, and what it gives that has derivatives.
struct Call {
  const BoxedOp& op;
  Stack args;
  Tensors inputs;

  Call(const OpRow& row, const BoxedOp& op, const Stack& given)
      : op(op), args(with_grad(with_copies(given), traits_of(row).constants)) {
    with_tensors(args, [&](const at::Tensor& tensor) {
      if (tensor.requires_grad()) {
        inputs.push_back(tensor.detach());
      }
      return tensor;
    });
  }
  Tensors operator()(const BoxedOp& called, const Tensors& replaced) const {
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
  Tensors operator()(const Tensors& replaced) const {
    return (*this)(op, replaced);
  }
};

/// The sum of all results, each element with a weight of its own.
at::Tensor weighted_sum(const Tensors& results) {
  at::Tensor sum = at::zeros({}, at::kDouble);
  for (const at::Tensor& result : results) {
    const at::Tensor real = result.is_complex() ? at::view_as_real(result.resolve_conj()) : result;
    sum = sum + (real * at::linspace(0.5, 1.5, real.numel(), at::kDouble).view(real.sizes())).sum();
  }
  return sum;
}

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

using CheckCall = std::function<void(const OpRow&, const Call&, const std::string&, Tally&, Failures&)>;

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
          const Call call(row, op, sample.args);
          if (!call.inputs.empty() && std::all_of(call.inputs.begin(), call.inputs.end(), is_float)) {
            check(row, call, sample.note, tally, failures);
          }
        });
      }
    }
  });
  return tally;
}

Tensors tangents_of_call(const Call& call, const Tensors& tangents) {
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
Tensors second_derivatives(const Call& call, const Tensors& tangents) {
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
      [](const OpRow& row, const Call& call, const std::string& note, Tally& tally, Failures& failures) {
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
      [](const OpRow& row, const Call& call, const std::string& note, Tally& tally, Failures& failures) {
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
      [](const OpRow& row, const Call& call, const std::string& note, Tally& tally, Failures& failures) {
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
