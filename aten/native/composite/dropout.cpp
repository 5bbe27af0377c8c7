// Dropout in its forms: elements or whole channels, zeroed or set to the value of a saturated SELU unit.

#include <aten/Functions.h>
#include <aten/TensorOperators.h>
#include <aten/core/Tensor.h>

#include <cmath>

namespace at::native {
namespace {

void check_probability(double p) {
  TORCH_CHECK(p >= 0 && p <= 1, "dropout probability has to be between 0 and 1, but got ", p);
}

/// Noise like the input, or one value for each channel of each sample.
Tensor empty_noise(const Tensor& input, bool by_feature) {
  if (!by_feature) return at::empty_like(input);
  TORCH_CHECK(input.dim() >= 2, "Feature dropout requires at least 2 dimensions in the input, got ", input.dim());
  DimVector sizes(input.dim(), 1);
  sizes[0] = input.size(0);
  sizes[1] = input.size(1);
  return at::empty(sizes, input.options());
}

/// What dropout multiplies by and adds; `keep` says that the input passes unchanged.
struct Noise {
  bool keep = false;
  Tensor factor, offset;
};

Noise make_noise(const Tensor& input, double p, bool train, bool by_feature, bool alpha) {
  check_probability(p);
  if (p == 0 || !train || input.numel() == 0) return {true, {}, {}};
  if (p == 1) return {false, at::zeros({}, input.options()), {}};
  Tensor noise = empty_noise(input, by_feature).bernoulli_(1 - p);
  if (!alpha) return {false, noise.div_(1 - p), {}};
  // Dropped units take SELU's limit for large negative inputs; scale and offset keep mean and variance.
  constexpr double kSaturation = 1.7580993408473766;
  const double scale = 1 / std::sqrt((kSaturation * kSaturation * p + 1) * (1 - p));
  const Tensor offset = noise.add(-1).mul_(kSaturation * scale).add_(kSaturation * scale * p);
  return {false, noise.mul_(scale), offset};
}

Tensor apply(const Tensor& input, const Noise& noise) {
  if (noise.keep) return input;
  const Tensor scaled = input * noise.factor;
  return noise.offset.defined() ? scaled + noise.offset : scaled;
}

Tensor& apply_(Tensor& input, const Noise& noise) {
  if (noise.keep) return input;
  input.mul_(noise.factor);
  if (noise.offset.defined()) input.add_(noise.offset);
  return input;
}

} // namespace

Tensor dropout(const Tensor& input, double p, bool train) {
  return apply(input, make_noise(input, p, train, false, false));
}
Tensor& dropout_(Tensor& self, double p, bool train) {
  return apply_(self, make_noise(self, p, train, false, false));
}
Tensor feature_dropout(const Tensor& input, double p, bool train) {
  return apply(input, make_noise(input, p, train, true, false));
}
Tensor& feature_dropout_(Tensor& self, double p, bool train) {
  return apply_(self, make_noise(self, p, train, true, false));
}
Tensor alpha_dropout(const Tensor& input, double p, bool train) {
  return apply(input, make_noise(input, p, train, false, true));
}
Tensor& alpha_dropout_(Tensor& self, double p, bool train) {
  return apply_(self, make_noise(self, p, train, false, true));
}
Tensor feature_alpha_dropout(const Tensor& input, double p, bool train) {
  return apply(input, make_noise(input, p, train, true, true));
}
Tensor& feature_alpha_dropout_(Tensor& self, double p, bool train) {
  return apply_(self, make_noise(self, p, train, true, true));
}

std::tuple<Tensor, Tensor> native_dropout(const Tensor& input, double p, std::optional<bool> train) {
  check_probability(p);
  const auto mask_options = input.options().dtype(kBool);
  if (!train.value_or(true)) return {input.clone(), at::ones(input.sizes(), mask_options)};
  Tensor mask = at::empty_like(input, mask_options);
  mask.bernoulli_(1 - p);
  return {input.mul(mask).mul_(p == 1 ? 0.0 : 1 / (1 - p)), mask};
}

Tensor native_dropout_backward(const Tensor& grad_output, const Tensor& mask, double scale) {
  return grad_output * mask * scale;
}

} // namespace at::native
