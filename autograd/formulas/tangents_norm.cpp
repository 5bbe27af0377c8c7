// Formulas of forward mode for normalizations, as in tangents.cpp.
#include <autograd/formulas/shared.h>

#include <aten/Functions.h>
#include <aten/core/TensorOperators.h>

#include <array>
#include <optional>
#include <tuple>
#include <vector>

namespace torch::autograd::formulas {

// Defined beside other gradients.
std::tuple<Tensor, Tensor> rms_norm_backward(
    const Tensor& grad,
    const Tensor& input,
    at::IntArrayRef normalized_shape,
    const Tensor& rstd,
    const Tensor& weight,
    std::array<bool, 2> mask);

namespace {

// The tangent of normalized * weight + bias, where weight and bias are read with sizes `shape`.
template <class Normalized>
Tensor affine_tangent(
    const Normalized& normalized,
    IntArrayRef sizes,
    const Tensor& normalized_t,
    const std::optional<Tensor>& weight,
    const Tensor& weight_t,
    const Tensor& bias_t,
    IntArrayRef shape) {
  Tensor tangent = normalized_t;
  if (tangent.defined() && weight.has_value()) {
    tangent = tangent * weight->reshape(shape);
  }
  if (weight_t.defined()) {
    tangent = sum_of(tangent, normalized() * weight_t.reshape(shape));
  }
  return bias_t.defined() ? sum_of(tangent, bias_t.reshape(shape).expand(sizes)) : tangent;
}

/// The backward pass of a normalization: dx = P(w g) with P(v) = rstd (v - mean(v) - xhat mean(v xhat)), dw = sum(g
/// xhat) and db = sum(g). Means are over `dims`, sums over `outer`; mean, rstd and weight broadcast.
struct NormBackward {
  Tensor input, mean, rstd;
  at::DimVector dims, outer;

  Tensor mean_of(const Tensor& t) const {
    return t.mean(dims, /*keepdim=*/true);
  }
  Tensor sum_of(const Tensor& t) const {
    return outer.empty() ? t : t.sum(outer);
  }

  /// What was saved is a constant to autograd: derivatives of the tangents take it anew. Its eps is what it has beyond
  /// the variance.
  void take_statistics_anew() {
    const Tensor eps = (rstd.pow(-2) - (input - mean).square().mean(dims, true)).detach();
    mean = mean_of(input);
    rstd = ((input - mean).square().mean(dims, true) + eps).rsqrt();
  }

  /// Of the gradients for (input, weight, bias), as far as asked for.
  std::vector<Tensor> tangents(
      const Tensor& grad,
      const Tensor& grad_t,
      const Tensor& input_t,
      const Tensor& weight,
      const Tensor& weight_t,
      const std::array<bool, 3>& mask) const {
    const Tensor xhat = (input - mean) * rstd;
    const auto project = [&](const Tensor& v) { return rstd * (v - mean_of(v) - xhat * mean_of(v * xhat)); };
    const auto weighted = [&](const Tensor& t) { return t.defined() && weight.defined() ? t * weight : t; };
    const Tensor xhat_t = input_t.defined() ? project(input_t) : input_t;
    Tensor of_input, of_weight;
    if (mask[0]) {
      const Tensor v = weighted(grad);
      const Tensor v_t = formulas::sum_of(weighted(grad_t), weight_t.defined() ? grad * weight_t : weight_t);
      of_input = v_t.defined() ? project(v_t) : v_t;
      if (input_t.defined()) {
        const Tensor turned = xhat_t * mean_of(v * xhat) + xhat * mean_of(v * xhat_t);
        const Tensor scaled = project(v) * rstd * mean_of(xhat * input_t);
        of_input = formulas::sum_of(of_input, -(rstd * turned + scaled));
      }
    }
    if (mask[1]) {
      of_weight = formulas::sum_of(
          grad_t.defined() ? sum_of(grad_t * xhat) : grad_t, xhat_t.defined() ? sum_of(grad * xhat_t) : xhat_t);
    }
    return {of_input, of_weight, mask[2] && grad_t.defined() ? sum_of(grad_t) : Tensor()};
  }
};

} // namespace

// The derivative of (x - mean(x)) * rstd(x) is a symmetric matrix, so that its backward pass without weight is the
// derivative along a tangent, too.

Tensor layer_norm_tangent(
    const Tensor& input,
    const Tensor& input_t,
    const std::optional<Tensor>& weight,
    const Tensor& weight_t,
    const Tensor& bias_t,
    const Tensor& mean,
    const Tensor& rstd,
    IntArrayRef normalized_shape,
    double eps) {
  Tensor normalized_t;
  if (input_t.defined()) {
    normalized_t = std::get<0>(at::native_layer_norm_backward(
        input_t, input, normalized_shape, mean, rstd, std::nullopt, std::nullopt, {true, false, false}));
  }
  const auto normalized = [&] { return std::get<0>(at::native_layer_norm(input, normalized_shape, {}, {}, eps)); };
  return affine_tangent(normalized, input.sizes(), normalized_t, weight, weight_t, bias_t, normalized_shape);
}

std::vector<Tensor> layer_norm_backward_tangents(
    const Tensor& grad,
    const Tensor& grad_t,
    const Tensor& input,
    const Tensor& input_t,
    IntArrayRef normalized_shape,
    const Tensor& mean,
    const Tensor& rstd,
    const std::optional<Tensor>& weight,
    const Tensor& weight_t,
    std::array<bool, 3> mask) {
  const int64_t leading = input.dim() - static_cast<int64_t>(normalized_shape.size());
  NormBackward backward{input, mean, rstd, {}, {}};
  for (int64_t d = 0; d < input.dim(); ++d) {
    (d < leading ? backward.outer : backward.dims).push_back(d);
  }
  if (is_differentiated_again(grad, grad_t, input, input_t)) {
    backward.take_statistics_anew();
  }
  return backward.tangents(grad, grad_t, input_t, weight.value_or(Tensor()), weight_t, mask);
}

Tensor batch_norm_tangent(
    const Tensor& input,
    const Tensor& input_t,
    const std::optional<Tensor>& weight,
    const Tensor& weight_t,
    const Tensor& bias_t,
    const std::optional<Tensor>& running_mean,
    const std::optional<Tensor>& running_var,
    const Tensor& save_mean,
    const Tensor& save_invstd,
    bool training,
    double eps) {
  std::vector<int64_t> shape(static_cast<size_t>(input.dim()), 1);
  shape[1] = input.size(1);
  Tensor normalized_t;
  if (input_t.defined()) {
    normalized_t = std::get<0>(at::native_batch_norm_backward(
        input_t, input, std::nullopt, running_mean, running_var, save_mean, save_invstd, training, eps,
        {true, false, false}));
  }
  const auto normalized = [&] {
    // The running statistics have been updated: these are without.
    return training ? std::get<0>(at::native_batch_norm(input, {}, {}, {}, {}, true, 0.0, eps))
                    : std::get<0>(at::native_batch_norm(input, {}, {}, running_mean, running_var, false, 0.0, eps));
  };
  return affine_tangent(normalized, input.sizes(), normalized_t, weight, weight_t, bias_t, shape);
}

/// Of the result, the means and the reciprocal deviations.
std::vector<Tensor> group_norm_tangents(
    const Tensor& input,
    const Tensor& input_t,
    const std::optional<Tensor>& weight,
    const Tensor& weight_t,
    const Tensor& bias_t,
    const Tensor& mean,
    const Tensor& rstd,
    int64_t N,
    int64_t C,
    int64_t HxW,
    int64_t group,
    double eps) {
  const int64_t size = C / group * HxW;
  const auto by_groups = [&](const Tensor& t) { return t.reshape({N, group, size}); };
  std::vector<int64_t> shape(static_cast<size_t>(input.dim()), 1);
  shape[1] = C;
  Tensor normalized_t, mean_t, rstd_t;
  if (input_t.defined() && !is_differentiated_again(input, input_t)) {
    // Each sample's channels as weights of their own: sums over them give what the statistics need.
    const auto joined = [&](const Tensor& t) { return t.reshape({1, N * C, HxW}); };
    const auto [of_input, of_weight, of_bias] = at::native_group_norm_backward(
        joined(input_t), joined(input), mean.reshape({1, N * group}), rstd.reshape({1, N * group}), std::nullopt, 1,
        N * C, HxW, N * group, {true, true, true});
    const auto mean_of_groups = [&](const Tensor& t) {
      return t.reshape({N, group, C / group}).sum(2) / static_cast<double>(size);
    };
    normalized_t = of_input.reshape(input.sizes());
    mean_t = mean_of_groups(of_bias);
    rstd_t = -rstd * rstd * mean_of_groups(of_weight);
  } else if (input_t.defined()) {
    // The saved statistics are constants to autograd: they are taken anew.
    const Tensor x = by_groups(input), x_t = by_groups(input_t), centered = x - x.mean({2}, true);
    const Tensor scale = at::rsqrt((centered * centered).mean({2}, true) + eps), xhat = centered * scale;
    const Tensor means = x_t.mean({2}, true), along = (xhat * x_t).mean({2}, true);
    normalized_t = (scale * (x_t - means - xhat * along)).reshape(input.sizes());
    mean_t = means.squeeze(2);
    rstd_t = (-scale * scale * along).squeeze(2);
  }
  const auto normalized = [&] {
    return std::get<0>(at::native_group_norm(input, std::nullopt, std::nullopt, N, C, HxW, group, eps));
  };
  const Tensor tangent = affine_tangent(normalized, input.sizes(), normalized_t, weight, weight_t, bias_t, shape);
  return {tangent, mean_t, rstd_t};
}

Tensor rms_norm_tangent(
    const Tensor& input,
    const Tensor& input_t,
    IntArrayRef normalized_shape,
    const std::optional<Tensor>& weight,
    const Tensor& weight_t,
    std::optional<double> eps,
    const Tensor& rstd) {
  Tensor normalized_t;
  if (input_t.defined()) {
    normalized_t = std::get<0>(rms_norm_backward(input_t, input, normalized_shape, rstd, Tensor(), {true, false}));
  }
  const auto normalized = [&] { return std::get<0>(at::_fused_rms_norm(input, normalized_shape, std::nullopt, eps)); };
  return affine_tangent(normalized, input.sizes(), normalized_t, weight, weight_t, Tensor(), normalized_shape);
}

} // namespace torch::autograd::formulas
