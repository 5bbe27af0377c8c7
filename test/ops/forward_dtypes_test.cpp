// Forward mode in narrow dtypes, over the operator table: tangents have the dtype of the results, and those of float
// are those of double.

#include <ATen/Functions.h>
#include <torch/autograd.h>

#include <catch2/catch.hpp>

#include "test/ops/differentiable_calls.h"

#include <string>
#include <utility>

namespace test {

namespace {

namespace fwd = torch::autograd::forward_ad;

struct Dtypes {
  c10::ScalarType real, complex;

  at::Tensor of(const at::Tensor& tensor) const {
    return tensor.is_complex() ? tensor.to(complex) : tensor.is_floating_point() ? tensor.to(real) : tensor;
  }
  Tensors of(const Tensors& tensors) const {
    Tensors converted;
    for (const at::Tensor& tensor : tensors) {
      converted.push_back(of(tensor));
    }
    return converted;
  }
};

constexpr Dtypes kWide{at::kDouble, at::kComplexDouble};

/// Results and their tangents, zeros where there are none, of the call with all its tensors in other dtypes.
std::pair<Tensors, Tensors> forward(
    const DifferentiableCall& call, const Dtypes& dtypes, const Tensors& inputs, const Tensors& tangents) {
  const fwd::DualLevel level;
  size_t next = 0;
  std::pair<Tensors, Tensors> made;
  for (const at::Tensor& result : call.op.tensors(with_tensors(call.args, [&](const at::Tensor& tensor) {
         if (!tensor.requires_grad()) {
           return dtypes.of(tensor);
         }
         const size_t i = next++;
         return fwd::make_dual(dtypes.of(inputs[i]), dtypes.of(tangents[i]));
       }))) {
    if (!result.defined() || !(result.is_floating_point() || result.is_complex())) {
      continue;
    }
    const auto [value, tangent] = fwd::unpack_dual(result);
    made.first.push_back(value);
    made.second.push_back(tangent.defined() ? tangent : at::zeros_like(value));
  }
  return made;
}

bool takes(const DifferentiableCall& call, const Dtypes& dtypes) {
  try {
    call.op.tensors(with_tensors(call.args, [&](const at::Tensor& t) { return dtypes.of(t.detach()); }));
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

void check_narrow(
    const DifferentiableCall& call,
    const Dtypes& narrow,
    bool compares,
    const std::string& note,
    Tally& tally,
    Failures& failures) {
  if (!takes(call, narrow)) {
    return;
  }
  // Numbers that both dtypes have.
  const Tensors inputs = kWide.of(narrow.of(call.inputs));
  Tensors tangents;
  for (const at::Tensor& input : inputs) {
    tangents.push_back(kWide.of(narrow.of(at::randn(input.sizes(), input.options()))));
  }
  const auto [values, got] = forward(call, narrow, inputs, tangents);
  ++tally.compared;
  for (size_t i = 0; i < got.size(); ++i) {
    if (got[i].dtype() != values[i].dtype() || got[i].sizes() != values[i].sizes()) {
      failures.add(note + ": the tangent of result " + std::to_string(i) + " has another dtype or other sizes");
    }
  }
  if (!compares) {
    return;
  }
  const auto [wide_values, wanted] = forward(call, kWide, inputs, tangents);
  for (size_t i = 0; i < got.size(); ++i) {
    const at::Tensor error = (kWide.of(got[i]) - wanted[i]).abs();
    const at::Tensor bound = 1e-3 * (1 + wanted[i].abs() + wide_values[i].abs());
    if (!error.le(bound).logical_or(error.isnan()).all().item<bool>()) {
      failures.add(
          note + ": the tangent of result " + std::to_string(i) + " is off by " +
          std::to_string(error.nan_to_num().max().item<double>()));
    }
  }
}

} // namespace

TEST_CASE("tangents in float, half and bfloat16", "[ops][forward][slow]") {
  const Tally tally = for_each_differentiable_call(
      [](const OpRow&, const DifferentiableCall& call, const std::string& note, Tally& tally, Failures& failures) {
        check_narrow(call, {at::kFloat, at::kComplexFloat}, true, note + " float", tally, failures);
        check_narrow(call, {at::kHalf, at::kComplexFloat}, false, note + " half", tally, failures);
        check_narrow(call, {at::kBFloat16, at::kComplexFloat}, false, note + " bfloat16", tally, failures);
      });
  print_tally("narrow tangents", tally);
  CHECK(tally.compared > 0);
}

} // namespace test
