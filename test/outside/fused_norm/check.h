// The extension's operators against those of the library, called by name as programs call what they have loaded.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/torch.h>

#include <optional>
#include <string>
#include <tuple>

namespace fused_norm {

using AddLayerNormSchema = std::tuple<at::Tensor, at::Tensor>(
    const at::Tensor&, const std::optional<at::Tensor>&, const at::Tensor&, const at::Tensor&, double);

inline std::tuple<at::Tensor, at::Tensor> add_layer_norm(
    const at::Tensor& x, const std::optional<at::Tensor>& residual, const at::Tensor& weight, const at::Tensor& bias) {
  static const auto op =
      c10::Dispatcher::singleton().findSchemaOrThrow("fused_norm::add_layer_norm", "").typed<AddLayerNormSchema>();
  return op.call(x, residual, weight, bias, 1e-5);
}

/// What differs from layer_norm on the CPU, values and gradients; empty if nothing does.
inline std::string first_difference(c10::Device device) {
  torch::manual_seed(5);
  for (const auto dtype : {at::kFloat, at::kDouble, at::kHalf, at::kBFloat16}) {
    for (const auto& sizes : {std::vector<int64_t>{3, 7}, {2, 20, 130}, {1, 1}, {0, 4}, {50, 300}}) {
      for (const bool with_residual : {false, true}) {
        const int64_t columns = sizes.back();
        const auto leaf = [&](at::IntArrayRef s) { return torch::randn(s, dtype).requires_grad_(); };
        const at::Tensor x = leaf(sizes), residual = leaf(sizes), weight = leaf(columns), bias = leaf(columns);
        const auto there = [&](const at::Tensor& t) { return t.detach().to(device).requires_grad_(); };
        const at::Tensor x2 = there(x), residual2 = there(residual), weight2 = there(weight), bias2 = there(bias);
        const auto given = with_residual ? std::make_optional(residual2) : std::nullopt;
        const auto [out, sum] = add_layer_norm(x2, given, weight2, bias2);
        // The reference computes in double from the same numbers.
        const auto wide = [](const at::Tensor& t) { return t.to(at::kDouble); };
        const at::Tensor added = with_residual ? wide(x + residual) : wide(x);
        const at::Tensor expected = at::layer_norm(added, {columns}, wide(weight), wide(bias), 1e-5);
        const at::Tensor factor = at::randn(sizes, at::kDouble), other = at::randn(sizes, at::kDouble);
        (expected * factor + added * other).sum().backward();
        (wide(out) * factor.to(device) + wide(sum) * other.to(device)).sum().backward();
        const double tolerance = dtype == at::kHalf ? 2e-2 : dtype == at::kBFloat16 ? 1e-1 : 1e-4;
        const auto same = [&](const at::Tensor& a, const at::Tensor& b) {
          return a.sizes() == b.sizes() && at::allclose(wide(a).cpu(), wide(b), tolerance, tolerance * 10);
        };
        const std::string at = std::string(c10::toString(dtype)) + ' ' + c10::str(c10::IntArrayRef(sizes)) +
            (with_residual ? " with residual" : "");
        if (!same(out, expected) || out.scalar_type() != dtype) {
          return "out of " + at;
        }
        if (!same(x2.grad(), x.grad())) {
          return "gradient of x of " + at;
        }
        if (with_residual && !same(residual2.grad(), residual.grad())) {
          return "gradient of residual of " + at;
        }
        if (!same(weight2.grad(), weight.grad())) {
          return "gradient of weight of " + at;
        }
        if (!same(bias2.grad(), bias.grad())) {
          return "gradient of bias of " + at;
        }
        torch::NoGradGuard no_grad;
        const auto plain = add_layer_norm(x2, given, weight2, bias2);
        if (std::get<0>(plain).requires_grad() || !at::equal(std::get<0>(plain), out)) {
          return "without gradients, " + at;
        }
      }
    }
  }
  return "";
}

} // namespace fused_norm
