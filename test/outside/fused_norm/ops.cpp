// The extension's operators: schemas, kernels for CUDA and for tensors without data, gradients.
#include "fused_norm.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/autograd.h>
#include <torch/library.h>

namespace fused_norm {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor> forward_meta(
    const at::Tensor& x, const std::optional<at::Tensor>&, const at::Tensor&, const at::Tensor&, double) {
  const at::Tensor mean = at::empty({x.size(0)}, x.options().dtype(at::kFloat));
  return {at::empty_like(x), at::empty_like(x), mean, at::empty_like(mean)};
}

std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor> call_forward(
    const at::Tensor& x,
    const std::optional<at::Tensor>& residual,
    const at::Tensor& weight,
    const at::Tensor& bias,
    double eps) {
  static const auto op =
      c10::Dispatcher::singleton().findSchemaOrThrow("fused_norm::_forward", "").typed<decltype(forward)>();
  return op.call(x, residual, weight, bias, eps);
}

struct AddLayerNorm : torch::autograd::Function<AddLayerNorm> {
  static variable_list forward(
      AutogradContext* ctx,
      const at::Tensor& x,
      const std::optional<at::Tensor>& residual,
      const at::Tensor& weight,
      const at::Tensor& bias,
      double eps) {
    at::AutoDispatchBelowADInplaceOrView guard;
    const at::Tensor rows = x.reshape({-1, x.size(-1)});
    const auto [out, sum, mean, rstd] = call_forward(
        rows, residual.has_value() ? std::make_optional(residual->reshape(rows.sizes())) : std::nullopt, weight, bias,
        eps);
    ctx->save_for_backward({sum, mean, rstd, weight});
    ctx->saved_data["sizes"] = x.sizes();
    ctx->saved_data["residual"] = residual.has_value() && residual->requires_grad();
    return {out.view(x.sizes()), sum.view(x.sizes())};
  }

  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    const auto saved = ctx->get_saved_variables();
    const auto& [sum, mean, rstd, weight] = std::tie(saved[0], saved[1], saved[2], saved[3]);
    const auto sizes = ctx->saved_data["sizes"].toIntVector();
    static const auto op = c10::Dispatcher::singleton()
                               .findSchemaOrThrow("fused_norm::_backward", "")
                               .typed<decltype(fused_norm::backward)>();
    const at::Tensor grad = grads[0].defined() ? grads[0].reshape(sum.sizes()) : at::zeros_like(sum);
    auto [grad_x, grad_weight, grad_bias] =
        op.call(grad, grads[1].defined() ? grads[1].reshape(sum.sizes()) : at::Tensor(), sum, mean, rstd, weight);
    grad_x = grad_x.view(sizes);
    return {
        grad_x, ctx->saved_data["residual"].toBool() ? grad_x : at::Tensor(), grad_weight.to(weight.dtype()),
        grad_bias.to(weight.dtype()), at::Tensor()};
  }
};

std::tuple<at::Tensor, at::Tensor> add_layer_norm_autograd(
    const at::Tensor& x,
    const std::optional<at::Tensor>& residual,
    const at::Tensor& weight,
    const at::Tensor& bias,
    double eps) {
  auto out = AddLayerNorm::apply(x, residual, weight, bias, eps);
  return {out[0], out[1]};
}

/// Without gradients.
std::tuple<at::Tensor, at::Tensor> add_layer_norm(
    const at::Tensor& x,
    const std::optional<at::Tensor>& residual,
    const at::Tensor& weight,
    const at::Tensor& bias,
    double eps) {
  const at::Tensor rows = x.reshape({-1, x.size(-1)});
  const auto result = call_forward(
      rows, residual.has_value() ? std::make_optional(residual->reshape(rows.sizes())) : std::nullopt, weight, bias,
      eps);
  return {std::get<0>(result).view(x.sizes()), std::get<1>(result).view(x.sizes())};
}

} // namespace

TORCH_LIBRARY(fused_norm, m) {
  m.def("add_layer_norm(Tensor x, Tensor? residual, Tensor weight, Tensor bias, float eps=1e-05) -> (Tensor, Tensor)");
  m.def(
      "_forward(Tensor x, Tensor? residual, Tensor weight, Tensor bias, float eps) -> (Tensor, Tensor, Tensor, "
      "Tensor)");
  m.def(
      "_backward(Tensor grad, Tensor grad_sum, Tensor sum, Tensor mean, Tensor rstd, Tensor weight) -> (Tensor, "
      "Tensor, Tensor)");
}

TORCH_LIBRARY_IMPL(fused_norm, CompositeExplicitAutograd, m) {
  m.impl("add_layer_norm", TORCH_FN(add_layer_norm));
}
TORCH_LIBRARY_IMPL(fused_norm, Autograd, m) {
  m.impl("add_layer_norm", TORCH_FN(add_layer_norm_autograd));
}
TORCH_LIBRARY_IMPL(fused_norm, CUDA, m) {
  m.impl("_forward", TORCH_FN(forward));
  m.impl("_backward", TORCH_FN(backward));
}
TORCH_LIBRARY_IMPL(fused_norm, Meta, m) {
  m.impl("_forward", forward_meta);
}

} // namespace fused_norm
