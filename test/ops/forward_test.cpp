// Forward mode against reverse mode, over the operator table: tangents of results are what two backward passes give.

#include <ATen/core/Tensor.h>
#include <torch/autograd.h>

#include <catch2/catch.hpp>

#include <cstdlib>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "test/ops/runner.h"
#include "test/support/elements.h"

namespace test {

namespace {

using Tensors = std::vector<at::Tensor>;

struct Derivative {
  Tensors values;
  Tensors tangents; // zeros where there are none
};

Tensors inputs_of(const Stack& args) {
  Tensors inputs;
  with_tensors(args, [&](const at::Tensor& tensor) {
    if (tensor.requires_grad()) {
      inputs.push_back(tensor);
    }
    return tensor;
  });
  return inputs;
}

Stack with_inputs(const Stack& args, const Tensors& inputs) {
  size_t next = 0;
  return with_tensors(
      args, [&](const at::Tensor& tensor) { return tensor.requires_grad() ? inputs.at(next++) : tensor; });
}

Tensors random_tangents(const Tensors& inputs) {
  Tensors tangents;
  for (const at::Tensor& input : inputs) {
    tangents.push_back(at::randn(input.sizes(), input.options().requires_grad(false)));
  }
  return tangents;
}

Derivative forward(const BoxedOp& op, const Stack& args, const Tensors& inputs, const Tensors& tangents) {
  const torch::autograd::forward_ad::DualLevel level;
  Tensors duals;
  for (size_t i = 0; i < inputs.size(); ++i) {
    duals.push_back(torch::autograd::forward_ad::make_dual(inputs[i].detach(), tangents[i]));
  }
  Derivative result;
  for (const at::Tensor& output : op.tensors(with_inputs(args, duals))) {
    const auto [value, tangent] = torch::autograd::forward_ad::unpack_dual(output);
    if (at::isFloatingType(value.scalar_type()) || at::isComplexType(value.scalar_type())) {
      result.values.push_back(value);
      result.tangents.push_back(tangent.defined() ? tangent : at::zeros_like(value));
    }
  }
  return result;
}

Derivative two_passes(const BoxedOp& op, const Stack& args, const Tensors& inputs, const Tensors& tangents) {
  Derivative result;
  Tensors used;
  Tensors weights;
  std::vector<size_t> places;
  for (const at::Tensor& output : op.tensors(args)) {
    if (!at::isFloatingType(output.scalar_type()) && !at::isComplexType(output.scalar_type())) {
      continue;
    }
    if (output.requires_grad()) {
      used.push_back(output);
      weights.push_back(at::ones_like(output).detach().requires_grad_()); // any: J^T v is linear in v
      places.push_back(result.values.size());
    }
    result.values.push_back(output.detach());
    result.tangents.push_back(at::zeros_like(output).detach());
  }
  if (used.empty()) {
    return result;
  }
  const Tensors products = torch::autograd::grad(used, inputs, weights, true, true, true);
  Tensors roots;
  Tensors vectors;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (products[i].defined() && products[i].requires_grad()) {
      roots.push_back(products[i]);
      vectors.push_back(tangents[i]);
    }
  }
  if (roots.empty()) {
    return result;
  }
  const Tensors found = torch::autograd::grad(roots, weights, vectors, true, false, true);
  for (size_t i = 0; i < found.size(); ++i) {
    if (found[i].defined()) {
      result.tangents[places[i]] = found[i];
    }
  }
  return result;
}

std::string difference(const Tensors& got, const Tensors& want) {
  if (got.size() != want.size()) {
    return std::to_string(got.size()) + " tensors, not " + std::to_string(want.size());
  }
  for (size_t i = 0; i < got.size(); ++i) {
    if (got[i].sizes() != want[i].sizes() || got[i].dtype() != want[i].dtype()) {
      return "number " + std::to_string(i) + " has other sizes or another dtype";
    }
    if (!at::allclose(got[i].to_dense(), want[i].to_dense(), 1e-7, 1e-9, /*equal_nan=*/true)) {
      return "number " + std::to_string(i) + " differs";
    }
  }
  return {};
}

std::string compare(const BoxedOp& op, const Stack& args) {
  const Tensors inputs = inputs_of(args);
  const Tensors tangents = random_tangents(inputs);
  const Derivative got = forward(op, args, inputs, tangents);
  const Derivative want = two_passes(op, args, inputs, tangents);
  const std::string values = difference(got.values, want.values);
  if (!values.empty()) {
    return "values of dual tensors: " + values;
  }
  const std::string derivatives = difference(got.tangents, want.tangents);
  return derivatives.empty() ? derivatives : "tangents: " + derivatives;
}

using Check = std::function<std::string(const OpRow&, const BoxedOp&, const Stack&)>;

// Returns how many samples were checked.
size_t for_each_differentiable_sample(const Check& check) {
  size_t checked = 0;
  for_each_row([&](const OpRow& row, const BoxedOp& op, Failures& failures) {
    const SampleTraits traits = traits_of(row);
    if (!row.differentiable || !traits.gradient || traits.random) {
      return;
    }
    for (const c10::ScalarType dtype : dtypes_of(row, Purpose::Gradient)) {
      for (Sample& sample : samples_of(row, op, dtype, Purpose::Gradient)) {
        sample.note += " " + dtype_name(dtype);
        failures.guard(sample.note, [&] {
          const Stack args = with_grad(sample.args, traits.constants);
          if (inputs_of(args).empty()) {
            return;
          }
          ++checked;
          const std::string found = check(row, op, args);
          if (!found.empty()) {
            failures.add(sample.note + ": " + found);
          }
        });
      }
    }
  });
  return checked;
}

bool all_rows() {
  return std::getenv("TENSOR_TEST_OP") == nullptr;
}

// The in-place form on copies of dual tensors, which are dual themselves.
Derivative forward_in_place(const BoxedOp& op, const Stack& args, const Tensors& inputs, const Tensors& tangents) {
  const torch::autograd::forward_ad::DualLevel level;
  Tensors duals;
  for (size_t i = 0; i < inputs.size(); ++i) {
    duals.push_back(torch::autograd::forward_ad::make_dual(inputs[i].detach(), tangents[i]).clone());
  }
  const Stack dual_args = with_inputs(args, duals);
  op.call(dual_args);
  const auto [value, tangent] = torch::autograd::forward_ad::unpack_dual(dual_args[0].toTensor());
  return {{value}, {tangent.defined() ? tangent : at::zeros_like(value)}};
}

std::string compare_in_place(const OpRow& row, const BoxedOp& op, const Stack& args) {
  const std::optional<BoxedOp> in_place = *row.inplace != 0 ? BoxedOp::find(row.inplace) : std::nullopt;
  if (!in_place.has_value() || !args[0].isTensor() || !args[0].toTensor().requires_grad()) {
    return {};
  }
  const Tensors inputs = inputs_of(args);
  const Tensors tangents = random_tangents(inputs);
  const Derivative want = forward(op, args, inputs, tangents);
  const at::Tensor self = args[0].toTensor();
  if (want.values.empty() || want.values[0].sizes() != self.sizes() || want.values[0].dtype() != self.dtype()) {
    return {};
  }
  const Derivative got = forward_in_place(*in_place, args, inputs, tangents);
  const std::string values = difference(got.values, {want.values[0]});
  const std::string derivatives = difference(got.tangents, {want.tangents[0]});
  return !values.empty()    ? "values in place: " + values
      : derivatives.empty() ? ""
                            : "tangents in place: " + derivatives;
}

// The sum of all differentiable results, each element with a weight of its own.
at::Tensor weighted_sum(const Tensors& outputs) {
  at::Tensor sum;
  for (const at::Tensor& output : outputs) {
    if (!at::isFloatingType(output.scalar_type()) && !at::isComplexType(output.scalar_type())) {
      continue;
    }
    const at::Tensor flat = output.to_dense().reshape({-1});
    const at::Tensor weights = at::linspace(0.5, 1.5, flat.numel(), flat.options().dtype(at::kDouble));
    const at::Tensor real = at::isComplexType(flat.scalar_type()) ? at::real(flat) + at::imag(flat) * 0.7 : flat;
    const at::Tensor part = (real * weights).sum();
    sum = sum.defined() ? sum + part : part;
  }
  return sum;
}

Tensors filled_up(Tensors grads, const Tensors& like) {
  for (size_t i = 0; i < grads.size(); ++i) {
    if (!grads[i].defined()) {
      grads[i] = at::zeros_like(like[i]).detach();
    }
  }
  return grads;
}

Tensors gradients(const at::Tensor& sum, const Tensors& inputs, bool create_graph) {
  if (!sum.defined() || !sum.requires_grad()) {
    return filled_up(Tensors(inputs.size()), inputs);
  }
  return filled_up(torch::autograd::grad({sum}, inputs, {}, true, create_graph, true), inputs);
}

// The inner product of real and imaginary parts.
at::Tensor inner(const Tensors& a, const Tensors& b) {
  at::Tensor sum = at::zeros({}, at::kDouble);
  for (size_t i = 0; i < a.size(); ++i) {
    const at::Tensor product = a[i].to_dense().conj() * b[i].to_dense();
    sum = sum + (product.is_complex() ? at::real(product) : product).sum();
  }
  return sum;
}

Tensors dual_leaves(const Tensors& inputs, const Tensors& tangents) {
  Tensors duals;
  for (size_t i = 0; i < inputs.size(); ++i) {
    duals.push_back(torch::autograd::forward_ad::make_dual(inputs[i].detach().clone().requires_grad_(), tangents[i]));
  }
  return duals;
}

// The second derivative in the direction of the tangents, in three ways.
std::string compare_second(const OpRow&, const BoxedOp& op, const Stack& args) {
  const Tensors inputs = inputs_of(args);
  const Tensors tangents = random_tangents(inputs);
  const Tensors first = gradients(weighted_sum(op.tensors(args)), inputs, true);
  const Tensors want = gradients(inner(first, tangents), inputs, false);

  const torch::autograd::forward_ad::DualLevel level;
  const Tensors duals = dual_leaves(inputs, tangents);
  const at::Tensor sum = weighted_sum(op.tensors(with_inputs(args, duals)));
  Tensors forward_over_reverse;
  for (const at::Tensor& gradient : gradients(sum, duals, false)) {
    const at::Tensor tangent = torch::autograd::forward_ad::unpack_dual(gradient).tangent;
    forward_over_reverse.push_back(tangent.defined() ? tangent : at::zeros_like(gradient));
  }
  std::string found = difference(forward_over_reverse, want);
  if (!found.empty()) {
    return "forward over reverse: " + found;
  }
  const at::Tensor tangent = sum.defined() ? torch::autograd::forward_ad::unpack_dual(sum).tangent : at::Tensor();
  Tensors reverse_over_forward;
  for (const at::Tensor& gradient : gradients(tangent, duals, false)) {
    reverse_over_forward.push_back(torch::autograd::forward_ad::unpack_dual(gradient).primal);
  }
  found = difference(reverse_over_forward, want);
  return found.empty() ? found : "reverse over forward: " + found;
}

} // namespace

TEST_CASE("tangents in forward mode agree with two backward passes", "[ops][forward]") {
  const size_t checked = for_each_differentiable_sample(
      [](const OpRow&, const BoxedOp& op, const Stack& args) { return compare(op, args); });
  CHECK((!all_rows() || checked > 1500));
}

TEST_CASE("operators in place change tangents as their functional forms make them", "[ops][forward]") {
  const size_t checked = for_each_differentiable_sample(compare_in_place);
  CHECK((!all_rows() || checked > 1500));
}

TEST_CASE("forward and reverse mode over each other give second derivatives", "[ops][forward]") {
  const size_t checked = for_each_differentiable_sample(compare_second);
  CHECK((!all_rows() || checked > 1500));
}

} // namespace test
