// The activations of pointwise.h.
#include <aten/Functions.h>
#include <aten/core/TensorOperators.h>
#include <autograd/formulas/shared.h>

#include <c10/util/Exception.h>

#include <cmath>

namespace torch::autograd::formulas {

namespace {

const double kSqrtHalf = std::sqrt(0.5);
const double kSqrtTwoOverPi = std::sqrt(2.0 / 3.14159265358979323846);
// The density of the normal distribution at zero.
const double kNormalPeak = kSqrtTwoOverPi / 2.0;
// The cubic term of gelu's tanh form.
constexpr double kGeluCubic = 0.044715;

} // namespace

// ---- activations ---------------------------------------------------------------------------------------------------
/// Built of operators that have gradients themselves, unlike the fused backward kernels.
Tensor infinitely_differentiable_gelu_backward(const Tensor& grad, const Tensor& self, std::string_view approximate) {
  if (approximate == "tanh") {
    const Tensor square = self * self;
    const Tensor t = (kSqrtTwoOverPi * (self + kGeluCubic * square * self)).tanh();
    const Tensor inner_slope = kSqrtTwoOverPi * (1 + 3 * kGeluCubic * square);
    return grad * (0.5 * (1 + t) + 0.5 * self * (1 - t * t) * inner_slope);
  }
  const Tensor cdf = 0.5 * (1 + (self * kSqrtHalf).erf());
  const Tensor density = kNormalPeak * (-0.5 * self * self).exp();
  return grad * (cdf + self * density);
}

/// The gradients of the fused backward operators with respect to the activation's input.
Tensor gelu_double_backward(const Tensor& ggI, const Tensor& gO, const Tensor& input, std::string_view approximate) {
  if (approximate == "tanh") {
    const Tensor square = input * input;
    const Tensor t = (kSqrtTwoOverPi * (input + kGeluCubic * square * input)).tanh();
    const Tensor t_slope = 1 - t * t;
    const Tensor first = kSqrtTwoOverPi * (1 + 3 * kGeluCubic * square);
    const Tensor second = (6 * kGeluCubic * kSqrtTwoOverPi) * input;
    // d/dx of (1 + t) / 2 + x (1 - t^2) u' / 2, with t = tanh(u).
    const Tensor slope = t_slope * first + 0.5 * input * t_slope * (second - 2 * t * first * first);
    return ggI * gO * slope;
  }
  const Tensor density = kNormalPeak * (-0.5 * input * input).exp();
  return ggI * gO * density * (2 - input * input);
}

Tensor infinitely_differentiable_silu_backward(const Tensor& grad, const Tensor& self) {
  const Tensor sigmoid = self.sigmoid();
  return grad * (sigmoid * (1 + self * (1 - sigmoid))).conj();
}

Tensor infinitely_differentiable_mish_backward(const Tensor& grad, const Tensor& self) {
  const Tensor sigmoid = self.sigmoid();
  const Tensor t = at::softplus(self).tanh();
  return grad * (t + self * sigmoid * (1 - t * t));
}

Tensor silu_double_backward(const Tensor& ggI, const Tensor& gO, const Tensor& input) {
  const Tensor sigmoid = input.sigmoid();
  return ggI.conj() * gO * (sigmoid * (1 - sigmoid) * (2 + input * (1 - 2 * sigmoid))).conj();
}

Tensor mish_double_backward(const Tensor& ggI, const Tensor& gO, const Tensor& input) {
  const Tensor sigmoid = input.sigmoid();
  const Tensor t = at::softplus(input).tanh();
  const Tensor t_slope = (1 - t * t) * sigmoid;
  return ggI * gO * t_slope * (2 + input * (1 - sigmoid - 2 * t * sigmoid));
}

Tensor infinitely_differentiable_logit_backward(const Tensor& grad, const Tensor& self, std::optional<double> eps) {
  const Tensor slope = grad / (self * (1 - self));
  const double low = eps.value_or(0.0);
  const double high = eps.has_value() ? 1.0 - *eps : 1.0;
  const Tensor inside = self.ge(low).logical_and(self.le(high));
  // With eps the input is clamped, so outside is flat; without, there is nothing outside.
  const Tensor outside = at::full({}, eps.has_value() ? 0.0 : std::nan(""), self.options());
  return at::where(inside, slope, outside);
}

Tensor softplus_double_backward(const Tensor& grad, const Tensor& input, const Scalar& beta, const Scalar& threshold) {
  const Tensor x = input * beta;
  const Tensor sigmoid = x.sigmoid();
  return (sigmoid * (1 - sigmoid) * grad * beta).masked_fill(x.ge(threshold), 0);
}

Tensor elu_double_backward(
    const Tensor& grad,
    const Tensor& grad_output,
    const Scalar& alpha,
    const Scalar& scale,
    const Scalar& input_scale,
    bool is_result,
    const Tensor& self_or_result) {
  const double negative_coefficient = alpha.toDouble() * scale.toDouble();
  const double input_coefficient = input_scale.toDouble();
  const Tensor product = grad * grad_output;
  const Tensor curved = is_result ? product * input_coefficient
                                  : product * (self_or_result * input_coefficient).exp() *
          (negative_coefficient * input_coefficient * input_coefficient);
  return at::where(self_or_result.lt(0), curved, at::zeros({}, curved.options()));
}

/// Gradients of _prelu_kernel_backward for grad_output, self and weight, from those of its two results.
std::tuple<Tensor, Tensor, Tensor> prelu_double_backward(
    const Tensor& grad_grad_self,
    const Tensor& grad_grad_weight,
    const Tensor& grad_output,
    const Tensor& self,
    const Tensor& weight,
    std::array<bool, 3> mask) {
  const Tensor positive = self > 0;
  const auto add = [](const Tensor& a, const Tensor& b) { return a.defined() ? a + b : b; };
  std::tuple<Tensor, Tensor, Tensor> result;
  auto& [for_output, for_self, for_weight] = result;
  if (grad_grad_self.defined()) {
    for_output = at::where(positive, grad_grad_self, grad_grad_self * weight);
    for_weight = at::where(positive, 0, grad_grad_self * grad_output);
  }
  if (grad_grad_weight.defined()) {
    for_output = add(for_output, at::where(positive, 0, grad_grad_weight * self));
    for_self = at::where(positive, 0, grad_grad_weight * grad_output);
  } else {
    for_self = at::zeros_like(self);
  }
  if (!mask[0]) {
    for_output = Tensor();
  }
  if (!mask[1]) {
    for_self = Tensor();
  }
  if (!mask[2]) {
    for_weight = Tensor();
  }
  return result;
}

/// Of both results of _prelu_kernel_backward.
std::vector<Tensor> prelu_backward_tangents(
    const Tensor& grad_output,
    const Tensor& grad_output_t,
    const Tensor& self,
    const Tensor& self_t,
    const Tensor& weight,
    const Tensor& weight_t) {
  Tensor of_self, of_weight;
  if (grad_output_t.defined()) {
    std::tie(of_self, of_weight) = at::_prelu_kernel_backward(grad_output_t, self, weight);
  }
  if (self_t.defined() || weight_t.defined()) {
    // Second derivatives are a symmetric matrix: it is that of the way back.
    const auto [unused, for_self, for_weight] =
        prelu_double_backward(self_t, weight_t, grad_output, self, weight, {false, true, true});
    of_self = sum_of(of_self, for_self);
    of_weight = sum_of(of_weight, for_weight);
  }
  return {of_self, of_weight};
}

Tensor log_sigmoid_double_backward(const Tensor& grad, const Tensor& input) {
  const Tensor sigmoid = input.sigmoid();
  return grad * (sigmoid - 1) * sigmoid;
}

} // namespace torch::autograd::formulas
