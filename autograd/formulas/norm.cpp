// Derivatives of batch normalization.
#include <aten/Functions.h>
#include <aten/core/TensorOperators.h>
#include <autograd/formulas/shared.h>

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
  const auto mean_of = [&](const Tensor& t) { return t.mean(dims, true); };
  Tensor mean = channel(train ? save_mean : running_mean);
  Tensor rstd = train ? channel(save_invstd) : at::rsqrt(channel(running_var) + eps);
  // What was saved is a constant to autograd: third derivatives take it anew.
  if (train && is_differentiated_again(input, weight, grad_grad_input, grad_grad_weight, grad_out)) {
    mean = mean_of(input);
    rstd = at::rsqrt(mean_of((input - mean).square()) + eps);
  }
  const Tensor xhat = (input - mean) * rstd;
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

/// Tangents of the gradients of batch norm for (input, weight, bias).
std::vector<Tensor> batch_norm_backward_tangents(
    const Tensor& grad_out,
    const Tensor& grad_out_t,
    const Tensor& input,
    const Tensor& input_t,
    const std::optional<Tensor>& weight,
    const Tensor& weight_t,
    const std::optional<Tensor>& running_mean,
    const std::optional<Tensor>& running_var,
    const std::optional<Tensor>& save_mean,
    const std::optional<Tensor>& save_invstd,
    bool train,
    double eps,
    std::array<bool, 3> mask) {
  Tensor of_input, of_weight, of_bias;
  if (grad_out_t.defined()) {
    std::tie(of_input, of_weight, of_bias) = at::native_batch_norm_backward(
        grad_out_t, input, weight, running_mean, running_var, save_mean, save_invstd, train, eps, mask);
  }
  if (input_t.defined() || weight_t.defined()) {
    // The gradients' derivative is a matrix of second derivatives, which is symmetric: it is that of the way back.
    const auto or_undefined = [](const std::optional<Tensor>& t) { return t.value_or(Tensor()); };
    const auto [for_input, for_weight, unused] = batch_norm_double_backward(
        input, or_undefined(weight), input_t, weight_t, Tensor(), grad_out, or_undefined(running_mean),
        or_undefined(running_var), train, eps, or_undefined(save_mean), or_undefined(save_invstd),
        {mask[0], mask[1] && weight.has_value(), false});
    of_input = sum_of(of_input, for_input);
    of_weight = sum_of(of_weight, for_weight);
  }
  return {of_input, of_weight, of_bias};
}

} // namespace torch::autograd::formulas
