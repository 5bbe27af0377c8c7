// Normalization and pooling of quantized tensors.
#include <aten/Functions.h>
#include <aten/core/TensorOperators.h>
#include <aten/quantized/QTensorImpl.h>
#include <c10/util/Exception.h>

namespace at::native {
namespace {

Tensor ones_like_or(const std::optional<Tensor>& weight, const Tensor& mean) {
  return weight.has_value() && weight->defined() ? *weight : at::ones_like(mean);
}

} // namespace

// In PyTorch's order of rounding: factors of integers, not of the numbers that they stand for.
Tensor quantized_batch_norm(
    const Tensor& input,
    const std::optional<Tensor>& weight,
    const std::optional<Tensor>& bias,
    const Tensor& mean,
    const Tensor& var,
    double eps,
    double scale,
    int64_t zero_point) {
  TORCH_CHECK(
      input.dim() >= 2 && input.is_quantized() && mean.sizes() == IntArrayRef({input.size(1)}) &&
          var.sizes() == mean.sizes(),
      "quantized::batch_norm: expected a quantized input of at least 2 dimensions and a mean and a variance for each "
      "channel, got ",
      input.sizes(), ", ", mean.sizes(), " and ", var.sizes());
  const Tensor inverse = (1.0 / at::sqrt(var + static_cast<double>(static_cast<float>(eps))).to(kDouble)).to(kFloat);
  const Tensor gain = inverse * ones_like_or(weight, mean);
  const Tensor shift = mean * inverse * ones_like_or(weight, mean);
  const Tensor term = bias.has_value() && bias->defined() ? *bias - shift : -shift;
  DimVector sizes(static_cast<size_t>(input.dim()), 1);
  sizes[1] = input.size(1);
  const Tensor factors = (gain.to(kDouble) * (at::q_scale(input) / scale)).to(kFloat).view(sizes);
  const Tensor terms = (term.to(kDouble) / scale).to(kFloat).view(sizes);
  const Tensor centered = integers_of(input).to(kFloat) - static_cast<double>(at::q_zero_point(input));
  const Tensor steps = at::addcmul(terms, centered, factors);
  const Tensor rounded = at::quantize_per_tensor(steps, 1, zero_point, input.scalar_type());
  return make_quantized(integers_of(rounded), Quantizer::per_tensor(scale, zero_point, input.scalar_type()));
}

Tensor quantized_max_pool1d(
    const Tensor& self,
    IntArrayRef kernel_size,
    IntArrayRef stride,
    IntArrayRef padding,
    IntArrayRef dilation,
    bool ceil_mode) {
  return at::max_pool1d(self, kernel_size, stride, padding, dilation, ceil_mode);
}

Tensor quantized_max_pool2d(
    const Tensor& self,
    IntArrayRef kernel_size,
    IntArrayRef stride,
    IntArrayRef padding,
    IntArrayRef dilation,
    bool ceil_mode) {
  return at::max_pool2d(self, kernel_size, stride, padding, dilation, ceil_mode);
}

Tensor quantized_max_pool3d(
    const Tensor& self,
    IntArrayRef kernel_size,
    IntArrayRef stride,
    IntArrayRef padding,
    IntArrayRef dilation,
    bool ceil_mode) {
  return at::max_pool3d(self, kernel_size, stride, padding, dilation, ceil_mode);
}

} // namespace at::native
