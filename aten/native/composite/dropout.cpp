// Dropout in its forms: elements or whole channels, zeroed or set to the value of a saturated SELU unit.

#include <aten/Functions.h>
#include <aten/core/Tensor.h>
#include <aten/core/TensorOperators.h>
#include <aten/core/dtype_dispatch.h>
#include <aten/native/support/dropout.h>

#include <cmath>

namespace at::native {
namespace {

void check_probability(double p) {
  TORCH_CHECK(p >= 0 && p <= 1, "dropout probability has to be between 0 and 1, but got ", p);
}

/// Noise like the input, or one value for each channel of each sample.
Tensor empty_noise(const Tensor& input, bool by_feature) {
  if (!by_feature) {
    return at::empty_like(input);
  }
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
  if (p == 0 || !train || input.numel() == 0) {
    return {true, {}, {}};
  }
  if (p == 1) {
    return {false, at::zeros({}, input.options()), {}};
  }
  Tensor noise = empty_noise(input, by_feature).bernoulli_(1 - p);
  // Complex numbers of two halves are not divided.
  if (!alpha) {
    return {false, noise.scalar_type() == kComplexHalf ? noise.mul_(1 / (1 - p)) : noise.div_(1 - p), {}};
  }
  // Dropped units take SELU's limit for large negative inputs; scale and offset keep mean and variance.
  constexpr double kSaturation = 1.7580993408473766;
  const double scale = 1 / std::sqrt((kSaturation * kSaturation * p + 1) * (1 - p));
  const Tensor offset = noise.add(-1).mul_(kSaturation * scale).add_(kSaturation * scale * p);
  return {false, noise.mul_(scale), offset};
}

/// Whether _fused_dropout has a kernel for the tensor.
bool is_dropped_on_cuda(const Tensor& input) {
  return input.is_cuda() && input.layout() == kStrided && kFloating.contains(input.scalar_type());
}

DropBackward drop_backward_on_cuda = nullptr;

Tensor apply(const Tensor& input, const Noise& noise) {
  if (noise.keep) {
    return input;
  }
  const Tensor scaled = input * noise.factor;
  return noise.offset.defined() ? scaled + noise.offset : scaled;
}

Tensor& apply_(Tensor& input, const Noise& noise) {
  if (noise.keep) {
    return input;
  }
  input.mul_(noise.factor);
  if (noise.offset.defined()) {
    input.add_(noise.offset);
  }
  return input;
}

} // namespace

DropBackward& cuda_drop_backward() {
  return drop_backward_on_cuda;
}

Tensor dropout(const Tensor& input, double p, bool train) {
  if (train && p > 0 && p < 1 && input.numel() != 0 && (is_dropped_in_one_pass(input) || is_dropped_on_cuda(input))) {
    return std::get<0>(at::_fused_dropout(input, 1 - p));
  }
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
  const auto mask_options = input.options().dtype(kBool);
  if (!train.value_or(true)) {
    return {input.clone(), at::ones_like(input, mask_options)};
  }
  TORCH_CHECK(
      p >= 0 && p <= 1, "bernoulli_ expects p to be in [0, 1], but got p=", 1 - p, ": native_dropout keeps 1 - ", p,
      " of its input");
  const double scale = p == 1 ? 0.0 : 1 / (1 - p);
  if (is_dropped_in_one_pass(input)) {
    return drop(input, 1 - p, scale, std::nullopt);
  }
  if (p < 1 && is_dropped_on_cuda(input)) {
    return at::_fused_dropout(input, 1 - p);
  }
  Tensor mask = at::empty_like(input, mask_options);
  mask.bernoulli_(1 - p);
  return {input.mul(mask).mul_(scale), mask};
}

Tensor native_dropout_backward(const Tensor& grad_output, const Tensor& mask, double scale) {
  const bool is_plain_mask = mask.is_cpu() && mask.layout() == kStrided && mask.scalar_type() == kBool;
  if (is_plain_mask && mask.sizes() == grad_output.sizes() && is_dropped_in_one_pass(grad_output) &&
      grad_output.is_non_overlapping_and_dense()) {
    return drop_backward(grad_output, mask, scale);
  }
  if (drop_backward_on_cuda != nullptr && is_dropped_on_cuda(grad_output) && mask.layout() == kStrided &&
      mask.scalar_type() == kBool && mask.device() == grad_output.device() && mask.sizes() == grad_output.sizes()) {
    return drop_backward_on_cuda(grad_output, mask, scale);
  }
  return grad_output * mask * scale;
}

Tensor _masked_scale(const Tensor& self, const Tensor& mask, double scale) {
  TORCH_CHECK(mask.scalar_type() == kByte, "mask should be torch.uint8 dtype, but got ", mask.scalar_type());
  return self * mask * scale;
}

std::tuple<Tensor, Tensor> fused_dropout_cpu(const Tensor& self, double p, std::optional<Generator> generator) {
  TORCH_CHECK(p > 0 && p <= 1, "_fused_dropout: the probability of keeping an element must be in (0, 1], but got ", p);
  return drop(self, p, dropout_scale(self.scalar_type(), p), generator);
}

} // namespace at::native
