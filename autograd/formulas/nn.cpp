// Derivatives of softmax, normalizations, embedding and losses. All are written with operators, so that they can be
// differentiated again.
#include <aten/Functions.h>
#include <aten/core/Reduction.h>
#include <aten/core/TensorOperators.h>
#include <aten/iterator/ExpandUtils.h>
#include <aten/native/composite/loss.h>
#include <aten/native/support/cuda_shortcuts.h>
#include <aten/native/support/dropout.h>
#include <autograd/formulas/shared.h>
#include <autograd/grad_mode.h>

namespace torch::autograd::formulas {

namespace {

/// grad, divided as a mean over `numel` losses divides it.
Tensor per_element(const Tensor& grad, int64_t reduction, int64_t numel) {
  return reduction == at::Reduction::Mean ? grad / static_cast<double>(numel) : grad;
}

Tensor weighted(const Tensor& grad, const Tensor& weight) {
  return weight.defined() ? grad * weight : grad;
}

/// The tangent of self - target, undefined where neither has one.
Tensor moved_difference(const Tensor& self_t, const Tensor& target_t) {
  return sum_of(self_t, target_t.defined() ? -target_t : target_t);
}

/// The sum of gradients of a target laid beside the scores, in the target's own sizes.
Tensor of_target(const Tensor& grad, const Tensor& target) {
  if (grad.sizes() == target.sizes()) {
    return grad;
  }
  return grad.squeeze().sum_to_size(target.squeeze().sizes()).view(target.sizes());
}

} // namespace

// ---- softmax -------------------------------------------------------------------------------------------------------

Tensor softmax_double_backward(const Tensor& grad, const Tensor& grad_output, int64_t dim, const Tensor& output) {
  return grad * grad_output - (output * grad_output).sum({dim}, true) * grad -
      grad_output * (grad * output).sum({dim}, true);
}

Tensor log_softmax_double_backward(const Tensor& grad, const Tensor& grad_output, int64_t dim, const Tensor& output) {
  return -grad * output.exp() * grad_output.sum({dim}, true);
}

// ---- normalization -------------------------------------------------------------------------------------------------

TensorTuple3 layer_norm_double_backward(
    const Tensor& input,
    const Tensor& weight,
    const Tensor& grad_grad_input,
    const Tensor& grad_grad_weight,
    const Tensor& grad_grad_bias,
    const Tensor& grad_out,
    const Tensor& saved_mean,
    const Tensor& saved_rstd,
    at::IntArrayRef normalized_shape,
    std::array<bool, 3> mask) {
  const int64_t trailing = static_cast<int64_t>(normalized_shape.size()), leading = input.dim() - trailing;
  at::DimVector row_dims, outer_dims;
  for (int64_t d = 0; d < input.dim(); ++d) {
    (d < leading ? outer_dims : row_dims).push_back(d);
  }
  const auto row_mean = [&](const Tensor& t) { return t.mean(row_dims, true); };
  // What was saved is a constant to autograd: third derivatives take it anew. Its eps is what it has beyond the
  // variance.
  Tensor mean = saved_mean, rstd = saved_rstd;
  if (is_differentiated_again(input, grad_grad_input, grad_grad_weight, grad_out)) {
    const Tensor x = input.to(mean.scalar_type());
    mean = row_mean(x);
    const Tensor variance = (x - mean).square().mean(row_dims, true);
    rstd = (variance + (saved_rstd.pow(-2) - variance).detach()).rsqrt();
  }

  // With xhat = (x - mean) * rstd the backward pass is dx = P(w g), P(v) = rstd (v - mean(v) - xhat mean(v xhat)).
  // P is its own transpose, and also maps a gradient for xhat to one for x.
  const Tensor xhat = (input - mean) * rstd;
  const auto project = [&](const Tensor& v) { return rstd * (v - row_mean(v) - xhat * row_mean(v * xhat)); };
  const Tensor& a = grad_grad_input;

  Tensor for_input, for_weight, for_grad;
  const auto add = [](Tensor& sum, const Tensor& term) { sum = sum.defined() ? sum + term : term; };
  if (a.defined()) {
    const Tensor projected = project(a);
    if (mask[1]) {
      for_weight = outer_dims.empty() ? grad_out * projected : (grad_out * projected).sum(outer_dims);
    }
    if (mask[2]) {
      for_grad = weighted(projected, weight);
    }
    if (mask[0]) {
      const Tensor v = weighted(grad_out, weight);
      const Tensor mean_ax = row_mean(a * xhat), mean_vx = row_mean(v * xhat);
      const Tensor inner = row_mean(a * v) - row_mean(a) * row_mean(v) - mean_ax * mean_vx;
      for_input = project(-rstd * (a * mean_vx + v * mean_ax)) - inner * rstd * rstd * xhat;
    }
  }
  if (grad_grad_weight.defined()) {
    if (mask[0]) {
      add(for_input, project(grad_out * grad_grad_weight));
    }
    if (mask[2]) {
      add(for_grad, grad_grad_weight * xhat);
    }
  }
  if (grad_grad_bias.defined() && mask[2]) {
    add(for_grad, grad_grad_bias.expand(input.sizes()));
  }
  return {for_input, for_weight, for_grad};
}

/// Gradients of RMS norm for input and weight: on CUDA by its kernel, or by operators when they may be differentiated
/// again.
std::tuple<Tensor, Tensor> rms_norm_backward(
    const Tensor& grad,
    const Tensor& input,
    at::IntArrayRef normalized_shape,
    const Tensor& rstd,
    const Tensor& weight,
    std::array<bool, 2> mask) {
  if (!grad.defined()) {
    return {};
  }
  if (at::native::backward_takes_shortcuts() && at::native::is_plain_cuda(grad) && at::native::is_plain_cuda(input)) {
    return at::native::cuda_shortcuts().rms_norm_backward(grad, input, normalized_shape, rstd, weight, mask);
  }
  const int64_t leading = input.dim() - static_cast<int64_t>(normalized_shape.size());
  at::DimVector row_dims, outer_dims;
  for (int64_t d = 0; d < input.dim(); ++d) {
    (d < leading ? outer_dims : row_dims).push_back(d);
  }
  // With xhat = x scale: dx = scale (w g - xhat mean(w g xhat)).
  const bool narrow = at::isReducedFloatingType(input.scalar_type());
  const Tensor x = narrow ? input.to(at::kFloat) : input, g = narrow ? grad.to(at::kFloat) : grad;
  // What was saved is a constant to autograd: second derivatives take it anew. Its eps is what it has beyond the mean
  // square.
  Tensor scale = rstd;
  if (is_differentiated_again(grad, input, weight)) {
    const Tensor square = (x * x).mean(row_dims, true);
    const Tensor eps = (rstd.pow(-2) - square).detach();
    scale = (square + eps).rsqrt();
  }
  const Tensor xhat = x * scale;
  Tensor for_input, for_weight;
  if (mask[0]) {
    const Tensor v = weighted(g, weight);
    for_input = ((v - xhat * (v * xhat).mean(row_dims, true)) * scale).to(input.scalar_type());
  }
  if (mask[1]) {
    const Tensor product = g * xhat;
    for_weight = (outer_dims.empty() ? product : product.sum(outer_dims)).to(weight.scalar_type());
  }
  return {for_input, for_weight};
}

/// Backward pass of group norm, from the gradients of its three results: by its kernel, or by operators when it may be
/// differentiated again or when the statistics have gradients of their own.
TensorTuple3 group_norm_backward(
    const Tensor& grad,
    const Tensor& grad_mean,
    const Tensor& grad_rstd,
    const Tensor& input,
    const Tensor& mean,
    const Tensor& rstd,
    const Tensor& weight,
    int64_t N,
    int64_t C,
    int64_t HxW,
    int64_t group,
    double eps,
    std::array<bool, 3> mask) {
  if (!grad.defined() && !grad_mean.defined() && !grad_rstd.defined()) {
    return {};
  }
  if (!is_differentiated_again(grad, input, weight) && !grad_mean.defined() && !grad_rstd.defined()) {
    return at::native_group_norm_backward(grad, input, mean, rstd, weight, N, C, HxW, group, mask);
  }
  // The saved statistics are constants to autograd: they are taken anew, so that second derivatives see through them.
  const int64_t size = C / group * HxW;
  const Tensor x = input.reshape({N, group, size});
  const Tensor centered = x - x.mean({2}, true);
  const Tensor scale = at::rsqrt((centered * centered).mean({2}, true) + eps);
  const Tensor xhat = centered * scale;
  TensorTuple3 result;
  Tensor dx;
  const auto add = [&dx](const Tensor& term) { dx = dx.defined() ? dx + term : term; };
  if (grad_mean.defined()) {
    add(grad_mean.reshape({N, group, 1}).expand(x.sizes()) / static_cast<double>(size));
  }
  if (grad_rstd.defined()) {
    add(grad_rstd.reshape({N, group, 1}) * -(scale * scale) * xhat / static_cast<double>(size));
  }
  if (!grad.defined()) {
    if (mask[0]) {
      std::get<0>(result) = dx.reshape(input.sizes());
    }
    return result;
  }
  const Tensor g = grad.reshape({N, C, HxW});
  if (mask[0]) {
    const Tensor v = (weight.defined() ? g * weight.reshape({1, C, 1}) : g).reshape({N, group, size});
    add(scale * (v - v.mean({2}, true) - xhat * (v * xhat).mean({2}, true)));
    std::get<0>(result) = dx.reshape(input.sizes());
  }
  if (mask[1]) {
    std::get<1>(result) = (g * xhat.reshape({N, C, HxW})).sum({0, 2});
  }
  if (mask[2]) {
    std::get<2>(result) = g.sum({0, 2});
  }
  return result;
}

// ---- embedding -----------------------------------------------------------------------------------------------------

Tensor embedding_dense_double_backward(const Tensor& grad, const Tensor& indices, int64_t padding_idx) {
  at::DimVector sizes(indices.sizes().begin(), indices.sizes().end());
  sizes.push_back(grad.size(-1));
  const Tensor picked = grad.index_select(0, indices.reshape({-1})).view(sizes);
  return padding_idx < 0 ? picked : picked.masked_fill((indices == padding_idx).unsqueeze(-1), 0);
}

// ---- gated linear unit ---------------------------------------------------------------------------------------------

Tensor glu_double_backward_grad_output(const Tensor& grad, const Tensor& self, int64_t dim) {
  const int64_t half = self.size(dim) / 2;
  const Tensor value = self.narrow(dim, 0, half), gate = self.narrow(dim, half, half).sigmoid();
  return gate * (grad.narrow(dim, 0, half) + grad.narrow(dim, half, half) * value * (1 - gate));
}

Tensor glu_double_backward(const Tensor& grad, const Tensor& grad_output, const Tensor& self, int64_t dim) {
  const int64_t half = self.size(dim) / 2;
  const Tensor value = self.narrow(dim, 0, half), gate = self.narrow(dim, half, half).sigmoid();
  const Tensor for_value = grad.narrow(dim, 0, half), for_gate = grad.narrow(dim, half, half);
  const Tensor slope = grad_output * gate * (1 - gate);
  return at::cat({for_gate * slope, slope * (for_value + for_gate * value * (1 - 2 * gate))}, dim);
}

// ---- losses --------------------------------------------------------------------------------------------------------

Tensor reduced_loss_grad(const Tensor& elements, at::IntArrayRef sizes) {
  return at::sum_to(elements, sizes);
}

/// Sums what a backward pass over rows of classes would give for each class to the shape of its grad_output.
Tensor row_loss_grad(const Tensor& elements, const Tensor& grad_output) {
  return (grad_output.dim() == 1 && elements.dim() == 2 ? elements.sum(1) : elements.sum())
      .reshape(grad_output.sizes());
}

/// Gradients of multi_margin_loss_backward for grad_output and self.
std::tuple<Tensor, Tensor> multi_margin_loss_double_backward(
    const Tensor& grad,
    const Tensor& grad_output,
    const Tensor& self,
    const Tensor& target,
    const at::Scalar& p,
    const at::Scalar& margin,
    const Tensor& weight,
    int64_t reduction,
    std::array<bool, 2> mask) {
  std::tuple<Tensor, Tensor> result;
  if (mask[0]) {
    const Tensor slopes =
        at::multi_margin_loss_backward(at::ones_like(grad_output), self, target, p, margin, weight, reduction);
    std::get<0>(result) = row_loss_grad(grad * slopes, grad_output);
  }
  if (mask[1]) {
    if (p.toDouble() == 1) {
      std::get<1>(result) = at::zeros_like(self);
      return result;
    }
    // Each gap that is open pulls at its own class and at the target's with twice the difference of their gradients.
    const Tensor x = self.dim() == 2 ? self : self.reshape({1, -1});
    const Tensor v = grad.reshape(x.sizes());
    const Tensor y = target.reshape({-1, 1});
    const Tensor open = (x - x.gather(1, y) + margin > 0).to(self.scalar_type()).scatter(1, y, 0);
    Tensor pull = open * (v - v.gather(1, y)) * 2;
    if (weight.defined()) {
      pull = pull * weight.reshape({-1}).index_select(0, y.reshape({-1})).reshape({-1, 1});
    }
    pull = pull.scatter_add(1, y, -pull.sum(1, /*keepdim=*/true));
    const double count =
        static_cast<double>(x.size(1)) * (reduction == at::Reduction::Mean ? static_cast<double>(x.size(0)) : 1.0);
    std::get<1>(result) = (pull * grad_output.reshape({-1, 1}) / count).reshape(self.sizes());
  }
  return result;
}

Tensor mse_loss_double_backward(const Tensor& grad, const Tensor& self, int64_t reduction) {
  return per_element(2 * grad, reduction, self.numel());
}

Tensor smooth_l1_loss_double_backward(
    const Tensor& grad, const Tensor& self, const Tensor& target, int64_t reduction, double beta) {
  // With beta = 0 this is the absolute value, which is straight on either side.
  if (beta == 0) {
    return at::zeros_like(grad);
  }
  const Tensor quadratic = ((self - target).abs() < beta).to(grad.scalar_type());
  return per_element(grad * quadratic / beta, reduction, self.numel());
}

Tensor huber_loss_double_backward(
    const Tensor& grad, const Tensor& self, const Tensor& target, int64_t reduction, double delta) {
  const Tensor quadratic = ((self - target).abs() < delta).to(grad.scalar_type());
  return per_element(grad * quadratic, reduction, self.numel());
}

/// Tangents of gradients of losses. The derivative by the scores is a diagonal matrix, so it is that of the way back;
/// of a loss of the difference, that by the target is the same with the other sign.
Tensor mse_loss_backward_tangent(
    const Tensor& grad,
    const Tensor& grad_t,
    const Tensor& self,
    const Tensor& self_t,
    const Tensor& target,
    const Tensor& target_t,
    int64_t reduction) {
  const Tensor moved = moved_difference(self_t, target_t);
  return sum_of(
      grad_t.defined() ? at::mse_loss_backward(grad_t, self, target, reduction) : grad_t,
      moved.defined() ? mse_loss_double_backward(moved * grad, self, reduction) : moved);
}

Tensor smooth_l1_loss_backward_tangent(
    const Tensor& grad,
    const Tensor& grad_t,
    const Tensor& self,
    const Tensor& self_t,
    const Tensor& target,
    const Tensor& target_t,
    int64_t reduction,
    double beta) {
  const Tensor moved = moved_difference(self_t, target_t);
  return sum_of(
      grad_t.defined() ? at::smooth_l1_loss_backward(grad_t, self, target, reduction, beta) : grad_t,
      moved.defined() ? smooth_l1_loss_double_backward(moved * grad, self, target, reduction, beta) : moved);
}

Tensor huber_loss_backward_tangent(
    const Tensor& grad,
    const Tensor& grad_t,
    const Tensor& self,
    const Tensor& self_t,
    const Tensor& target,
    const Tensor& target_t,
    int64_t reduction,
    double delta) {
  const Tensor moved = moved_difference(self_t, target_t);
  return sum_of(
      grad_t.defined() ? at::huber_loss_backward(grad_t, self, target, reduction, delta) : grad_t,
      moved.defined() ? huber_loss_double_backward(moved * grad, self, target, reduction, delta) : moved);
}

Tensor soft_margin_loss_double_backward(
    const Tensor& grad, const Tensor& self, const Tensor& target, int64_t reduction) {
  const Tensor right = (self * target).sigmoid();
  return per_element(grad * target * target * right * (1 - right), reduction, self.numel());
}

Tensor binary_cross_entropy_target_backward(
    const Tensor& grad, const Tensor& self, const Tensor& target, const Tensor& weight, int64_t reduction) {
  const Tensor slope = ((-self).log1p() - self.log()) * grad;
  return of_target(per_element(weighted(slope, weight), reduction, self.numel()), target);
}

/// Gradient of binary_cross_entropy_backward for its target.
Tensor binary_cross_entropy_double_backward_target(
    const Tensor& grad, const Tensor& self, const Tensor& target, const Tensor& weight, int64_t reduction) {
  return of_target(per_element(weighted(-grad / (self * (1 - self)), weight), reduction, self.numel()), target);
}

Tensor binary_cross_entropy_double_backward(
    const Tensor& grad, const Tensor& self, const Tensor& target, const Tensor& weight, int64_t reduction) {
  constexpr double kLeast = 1e-12;
  const Tensor spread = (self * (1 - self)).clamp_min(kLeast);
  const Tensor labels = at::native::beside(self, target);
  const Tensor curvature = (self * self - 2 * self * labels + labels) / (spread * spread);
  return per_element(weighted(grad * curvature, weight), reduction, self.numel());
}

Tensor binary_cross_entropy_backward_tangent(
    const Tensor& grad,
    const Tensor& grad_t,
    const Tensor& self,
    const Tensor& self_t,
    const Tensor& target,
    const Tensor& target_t,
    const std::optional<Tensor>& weight,
    int64_t reduction) {
  const Tensor scale = weight.value_or(Tensor());
  Tensor tangent =
      grad_t.defined() ? at::binary_cross_entropy_backward(grad_t, self, target, weight, reduction) : grad_t;
  if (self_t.defined()) {
    tangent = sum_of(tangent, binary_cross_entropy_double_backward(self_t * grad, self, target, scale, reduction));
  }
  if (target_t.defined()) {
    const Tensor moved = at::native::beside(self, target_t) * grad;
    tangent = sum_of(tangent, binary_cross_entropy_double_backward_target(moved, self, self, scale, reduction));
  }
  return tangent;
}

Tensor binary_cross_entropy_with_logits_backward(
    const Tensor& grad,
    const Tensor& self,
    const Tensor& target,
    const Tensor& weight,
    const Tensor& pos_weight,
    int64_t reduction) {
  Tensor slope;
  if (pos_weight.defined()) {
    const Tensor positive = pos_weight * target;
    slope = (positive + 1 - target) * self.sigmoid() - positive;
  } else {
    slope = self.sigmoid() - target;
  }
  return per_element(weighted(slope * grad, weight), reduction, self.numel());
}

Tensor binary_cross_entropy_with_logits_target_backward(
    const Tensor& grad, const Tensor& self, const Tensor& weight, const Tensor& pos_weight, int64_t reduction) {
  // log(1 + exp(-x)) without overflow.
  const Tensor softplus = (-self.abs()).exp().log1p() + (-self).clamp_min(0);
  const Tensor slope = pos_weight.defined() ? (pos_weight - 1) * softplus - self : -self;
  return per_element(weighted(slope * grad, weight), reduction, self.numel());
}

/// `keep` is the probability that an element was kept.
Tensor fused_dropout_backward(const Tensor& grad, const Tensor& mask, double keep) {
  return at::native_dropout_backward(grad, mask, at::native::dropout_scale(grad.scalar_type(), keep));
}

} // namespace torch::autograd::formulas
