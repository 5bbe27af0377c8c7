// Activations made of other operators: leaky relu with random slopes, prelu's gradient, the sum with relu.
#include <aten/Functions.h>
#include <aten/core/Generator.h>
#include <aten/iterator/ExpandUtils.h>
#include <aten/native/support/store_scalar.h>

#include <tuple>

namespace at::native {

// ---- leaky relu with a random slope ------------------------------------------------------------------------------

namespace {

void check_slopes(const Scalar& lower, const Scalar& upper) {
  TORCH_CHECK(
      lower.toDouble() <= upper.toDouble(), "Lower bound should be less than or equal to the upper bound; rrelu got ",
      lower.toDouble(), " and ", upper.toDouble());
}

double mean_slope(const Scalar& lower, const Scalar& upper) {
  return (lower.toDouble() + upper.toDouble()) / 2;
}

} // namespace

Tensor rrelu(
    const Tensor& self, const Scalar& lower, const Scalar& upper, bool training, std::optional<Generator> generator) {
  check_slopes(lower, upper);
  for (const Scalar& slope : {lower, upper}) {
    check_floating_scalar("rrelu", slope, self.scalar_type());
  }
  return at::rrelu_with_noise(self, at::empty_like(self), lower, upper, training, std::move(generator));
}

Tensor& rrelu_(
    Tensor& self, const Scalar& lower, const Scalar& upper, bool training, std::optional<Generator> generator) {
  check_slopes(lower, upper);
  for (const Scalar& slope : {lower, upper}) {
    check_floating_scalar("rrelu", slope, self.scalar_type());
  }
  return at::rrelu_with_noise_(self, at::empty_like(self), lower, upper, training, std::move(generator));
}

Tensor rrelu_with_noise(
    const Tensor& self,
    const Tensor& noise,
    const Scalar& lower,
    const Scalar& upper,
    bool training,
    std::optional<Generator> generator) {
  check_slopes(lower, upper);
  TORCH_CHECK(
      noise.sizes() == self.sizes(), "noise tensor shape must match self tensor shape. Got self.shape = ", self.sizes(),
      " noise.shape = ", noise.sizes(), " (in rrelu_with_noise)");
  if (!training) {
    return at::leaky_relu(self.contiguous(), mean_slope(lower, upper));
  }
  TORCH_CHECK(
      noise.scalar_type() == self.scalar_type(), "rrelu_with_noise: noise must have the dtype of self, ",
      self.scalar_type(), "; got ", noise.scalar_type());
  const Tensor slopes = at::_rrelu_slopes(self, lower.toDouble(), upper.toDouble(), std::move(generator));
  noise.copy_(slopes);
  return self.contiguous() * slopes;
}

Tensor& rrelu_with_noise_(
    Tensor& self,
    const Tensor& noise,
    const Scalar& lower,
    const Scalar& upper,
    bool training,
    std::optional<Generator> generator) {
  return self.copy_(native::rrelu_with_noise(self, noise, lower, upper, training, std::move(generator)));
}

Tensor rrelu_with_noise_backward(
    const Tensor& grad_output,
    const Tensor& self,
    const Tensor& noise,
    const Scalar& lower,
    const Scalar& upper,
    bool training,
    bool self_is_result) {
  const bool has_noise = training && upper.toDouble() - lower.toDouble() > 1e-6;
  return has_noise ? grad_output * noise
                   : at::leaky_relu_backward(grad_output, self, mean_slope(lower, upper), self_is_result);
}

// ---- prelu -------------------------------------------------------------------------------------------------------

std::tuple<Tensor, Tensor> prelu_backward(const Tensor& grad_output, const Tensor& self, const Tensor& weight) {
  TORCH_CHECK(
      weight.dim() <= 1,
      "prelu_backward: Expected `weight` to be a scalar or 1D tensor, but got ndim = ", weight.dim());
  const int64_t channels = self.dim() > 1 ? self.size(1) : 1;
  TORCH_CHECK(
      weight.numel() == 1 || weight.numel() == channels,
      "Mismatch of parameter numbers and input channel size. Found parameter numbers = ", weight.numel(),
      " and channel size = ", channels, ". (in prelu_backward)");
  c10::DimVector shape(self.dim(), 1);
  if (weight.numel() != 1) {
    shape[1] = weight.numel();
  }
  const auto [grad_self, grad_weight] = at::_prelu_kernel_backward(grad_output, self, weight.reshape(shape));
  return {grad_self, grad_weight.sum_to_size(shape).reshape(weight.sizes())};
}

// ---- sum and relu ------------------------------------------------------------------------------------------------

Tensor add_relu(const Tensor& self, const Tensor& other, const Scalar& alpha) {
  return at::relu(at::add(self, other, alpha));
}
Tensor add_relu_scalar(const Tensor& self, const Scalar& other, const Scalar& alpha) {
  return at::relu(at::add(self, other, alpha));
}

// ---- forms for other orders of derivatives and for functions without side effects
// ------------------------------------

Tensor infinitely_differentiable_gelu_backward(const Tensor& grad, const Tensor& self) {
  constexpr double kRootHalf = 0.70710678118654752440; // sqrt(1/2)
  constexpr double kNormalPeak = 0.39894228040143267794; // 1 / sqrt(2 pi)
  const Tensor distribution = (1 + (self * kRootHalf).erf()) * 0.5;
  const Tensor density = (self * self * -0.5).exp() * kNormalPeak;
  return grad * (distribution + self * density);
}

std::tuple<Tensor, Tensor> rrelu_with_noise_functional(
    const Tensor& self,
    const Tensor& noise,
    const Scalar& lower,
    const Scalar& upper,
    bool training,
    std::optional<Generator> generator) {
  Tensor slopes = noise.clone();
  Tensor result = at::rrelu_with_noise(self, slopes, lower, upper, training, generator);
  return {std::move(result), std::move(slopes)};
}

} // namespace at::native
