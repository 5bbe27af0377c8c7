// Derivatives of batch normalization.
#include <aten/Functions.h>
#include <aten/core/TensorOperators.h>
#include <autograd/formulas/types.h>

namespace torch::autograd::formulas {

/// Gradients of the backward pass of batch norm for (input, weight, grad_out), from those of its three results.
std::tuple<Tensor, Tensor, Tensor> batch_norm_double_backward(
    const Tensor& input,
    const Tensor& weight,
    const Tensor& grad_grad_input,
    const Tensor& grad_grad_weight,
    const Tensor& grad_grad_bias,
    const Tensor& grad_out,
    const Tensor& running_mean,
    const Tensor& running_var,
    bool train,
    double eps,
    const Tensor& save_mean,
    const Tensor& save_invstd,
    std::array<bool, 3> mask) {
  at::DimVector sizes(static_cast<size_t>(input.dim()), 1), dims;
  sizes[1] = input.size(1);
  for (int64_t d = 0; d < input.dim(); ++d) {
    if (d != 1) {
      dims.push_back(d);
    }
  }
  const auto dtype = input.scalar_type();
  const auto channel = [&](const Tensor& t) { return t.to(dtype).reshape(sizes); };
  const Tensor mean = channel(train ? save_mean : running_mean);
  const Tensor rstd = train ? channel(save_invstd) : at::rsqrt(channel(running_var) + eps);
  const Tensor xhat = (input - mean) * rstd;
  const auto mean_of = [&](const Tensor& t) { return t.mean(dims, true); };
  const auto weighted = [&](const Tensor& t) { return weight.defined() ? t * channel(weight) : t; };
  // The backward pass is dx = P(w g), P(v) = rstd (v - mean(v) - xhat mean(v xhat)), or rstd v where the statistics are
  // given. P is its own transpose, and also maps a gradient for xhat to one for x.
  const auto project = [&](const Tensor& v) {
    return train ? rstd * (v - mean_of(v) - xhat * mean_of(v * xhat)) : rstd * v;
  };

  Tensor for_input, for_weight, for_grad;
  const auto add = [](Tensor& sum, const Tensor& term) { sum = sum.defined() ? sum + term : term; };
  if (const Tensor& a = grad_grad_input; a.defined()) {
    const Tensor projected = project(a);
    if (mask[1]) {
      for_weight = (grad_out * projected).sum(dims).to(weight.scalar_type());
    }
    if (mask[2]) {
      for_grad = weighted(projected);
    }
    if (mask[0] && train) {
      const Tensor v = weighted(grad_out), mean_ax = mean_of(a * xhat), mean_vx = mean_of(v * xhat);
      const Tensor inner = mean_of(a * v) - mean_of(a) * mean_of(v) - mean_ax * mean_vx;
      for_input = project(-rstd * (a * mean_vx + v * mean_ax)) - inner * rstd * rstd * xhat;
    }
  }
  if (grad_grad_weight.defined()) {
    const Tensor b = channel(grad_grad_weight);
    if (mask[0]) {
      add(for_input, project(grad_out * b));
    }
    if (mask[2]) {
      add(for_grad, b * xhat);
    }
  }
  if (grad_grad_bias.defined() && mask[2]) {
    add(for_grad, channel(grad_grad_bias).expand(input.sizes()));
  }
  return {for_input, for_weight, for_grad};
}

} // namespace torch::autograd::formulas
