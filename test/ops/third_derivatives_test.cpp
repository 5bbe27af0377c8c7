// Third derivatives of each row of the operator table along a line, by reverse and forward mode over each other,
// against differences of second derivatives: what an operator saves for backward is no constant.

#include <ATen/Functions.h>

#include <catch2/catch.hpp>

#include <csrc/func/grad.h>
#include <csrc/func/jvp.h>

#include "test/ops/differentiable_calls.h"

#include <cmath>
#include <utility>
#include <vector>

namespace test {

namespace {

using Function = std::function<at::Tensor(const at::Tensor&)>;

at::Tensor or_zero(const at::Tensor& t, const at::Tensor& like) {
  return t.defined() ? t : at::zeros_like(like);
}

Function reverse(const Function& f) {
  return [f](const at::Tensor& s) { return or_zero(torch::func::grad(f)(s), s); };
}

Function forward(const Function& f) {
  return [f](const at::Tensor& s) { return std::get<1>(torch::func::jvp(f, {s}, {at::ones_like(s)})); };
}

/// Which results have a derivative.
std::vector<bool> differentiable_results(const DifferentiableCall& call) {
  Tensors leaves;
  for (const at::Tensor& input : call.inputs) {
    leaves.push_back(input.clone().requires_grad_());
  }
  std::vector<bool> differentiable;
  for (const at::Tensor& result : call(leaves)) {
    differentiable.push_back(result.requires_grad());
  }
  return differentiable;
}

/// The call on the line through its inputs, as a number.
Function along_line(const DifferentiableCall& call) {
  Tensors directions;
  for (const at::Tensor& input : call.inputs) {
    directions.push_back(at::randn(input.sizes(), input.options()));
  }
  return [&call, directions, differentiable = differentiable_results(call)](const at::Tensor& s) {
    Tensors moved, results;
    for (size_t i = 0; i < directions.size(); ++i) {
      moved.push_back(call.inputs[i] + directions[i] * s);
    }
    const Tensors all = call(moved);
    for (size_t i = 0; i < all.size(); ++i) {
      if (differentiable[i]) {
        results.push_back(all[i]);
      }
    }
    // A sum of results alone may be linear where they are not.
    const at::Tensor sum = weighted_sum(results);
    return sum + 0.1 * sum * sum;
  };
}

double at_place(const Function& f, double s) {
  return f(at::full({}, s, at::kDouble)).item<double>();
}

void check_third(const DifferentiableCall& call, const std::string& note, Tally& tally, Failures& failures) {
  const Function f = along_line(call), second = reverse(reverse(f));
  constexpr double h = 1e-4;
  double wanted = 0, coarse = 0;
  try {
    wanted = (at_place(second, h) - at_place(second, -h)) / (2 * h);
    coarse = (at_place(second, 2 * h) - at_place(second, -2 * h)) / (4 * h);
  } catch (const c10::NotImplementedError&) {
    return;
  }
  // Near a kink, differences say nothing.
  const double scale = 1 + std::abs(wanted);
  if (!std::isfinite(wanted) || std::abs(wanted - coarse) > 1e-3 * scale) {
    return;
  }
  const std::pair<const char*, Function> ways[] = {
      {"reverse over reverse over reverse", reverse(second)},
      {"forward over reverse over reverse", forward(second)},
      {"reverse over forward over reverse", reverse(forward(reverse(f)))},
      {"reverse over reverse over forward", reverse(reverse(forward(f)))},
      {"forward over forward over reverse", forward(forward(reverse(f)))},
      {"reverse over forward over forward", reverse(forward(forward(f)))},
      {"forward over forward over forward", forward(forward(forward(f)))}};
  for (const auto& [name, third] : ways) {
    double got = 0;
    try {
      got = at_place(third, 0);
    } catch (const c10::NotImplementedError& error) {
      tally.refused.emplace(note, error.what());
      continue;
    }
    ++tally.compared;
    if (!(std::abs(got - wanted) <= 2e-3 * scale)) {
      failures.add(note + ": " + name + " gives " + std::to_string(got) + ", not " + std::to_string(wanted));
    }
  }
}

} // namespace

TEST_CASE("third derivatives of each operator", "[ops][slow]") {
  const Tally tally =
      for_each_differentiable_call([](const OpRow&, const DifferentiableCall& call, const std::string& note,
                                      Tally& tally, Failures& failures) { check_third(call, note, tally, failures); });
  print_tally("third derivatives", tally);
  CHECK(tally.compared > 0);
}

} // namespace test
