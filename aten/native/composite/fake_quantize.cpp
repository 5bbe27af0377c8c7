// Rounding to the steps of a quantized tensor, in floating point.
#include <aten/Functions.h>
#include <aten/TensorOperators.h>
#include <c10/core/WrapDimMinimal.h>
#include <c10/util/DimVector.h>

namespace at::native {
namespace {

void check_range(int64_t quant_min, int64_t quant_max) {
  TORCH_CHECK(
      quant_min <= quant_max, "`quant_min` should be less than or equal to `quant_max`. Got ", quant_min, " and ", quant_max);
}

void check_dtype(const char* kernel, const Tensor& self) {
  TORCH_CHECK_NOT_IMPLEMENTED(
      at::isFloatingType(self.scalar_type()), "\"", kernel, "\" not implemented for '", self.scalar_type(), "'");
}

/// `steps` are the elements in steps, not yet rounded; all three broadcast. NaN becomes quant_min.
std::tuple<Tensor, Tensor> quantized(
    const Tensor& steps, const Tensor& scale, const Tensor& zero_point, int64_t quant_min, int64_t quant_max, ScalarType dtype) {
  const Tensor rounded = steps.round() + zero_point;
  const Tensor low = at::scalar_tensor(quant_min, rounded.options()), high = at::scalar_tensor(quant_max, rounded.options());
  const Tensor limited = at::fmin(at::fmax(rounded, low), high);
  Tensor mask = rounded.ge(quant_min).logical_and(rounded.le(quant_max));
  return {((limited - zero_point) * scale).to(dtype), std::move(mask)};
}

Tensor wide(const Tensor& self) {
  const bool narrow = self.scalar_type() == kHalf || self.scalar_type() == kBFloat16;
  return narrow ? self.to(kFloat) : self;
}

void check_channels(const Tensor& self, const Tensor& scale, const Tensor& zero_point, int64_t axis) {
  TORCH_CHECK(scale.dim() == 1, "scale should be a 1-D tensor, got sizes ", scale.sizes());
  TORCH_CHECK(zero_point.dim() == 1, "zero point should be a 1-D tensor, got sizes ", zero_point.sizes());
  TORCH_CHECK(
      scale.numel() == zero_point.numel(), "scale and zero-point need to have the same dimensions, got ", scale.sizes(), " and ",
      zero_point.sizes());
  TORCH_CHECK(
      axis >= 0 && axis < self.dim(), "`axis` must be between 0 and number of dimensions of input, ", self.dim(), ", got ", axis);
  TORCH_CHECK(
      scale.numel() == self.size(axis), "dimensions of scale and zero-point are not consistent with input tensor: ", scale.numel(),
      " of them for a dimension of size ", self.size(axis));
}

/// One number for each index of `axis`, so that it broadcasts to `input`.
Tensor along(const Tensor& input, const Tensor& channels, int64_t axis) {
  c10::DimVector shape(input.dim(), 1);
  shape[axis] = channels.numel();
  return channels.to(input.scalar_type()).view(shape);
}

} // namespace

std::tuple<Tensor, Tensor> fake_quantize_per_tensor_affine_cachemask(
    const Tensor& self, double scale, int64_t zero_point, int64_t quant_min, int64_t quant_max) {
  check_range(quant_min, quant_max);
  TORCH_CHECK(
      zero_point >= quant_min && zero_point <= quant_max, "`zero_point` must be between `quant_min` and `quant_max`. Got ",
      zero_point, " for the range ", quant_min, " to ", quant_max);
  check_dtype("fake_quantize_tensor_cachemask_kernel_type_handling", self);
  const Tensor input = wide(self);
  // In float whatever the dtype, as the quantized kernels have it.
  const double inverse = 1.0f / static_cast<float>(scale);
  return quantized(
      input * inverse, at::scalar_tensor(static_cast<float>(scale), input.options()), at::scalar_tensor(zero_point, input.options()),
      quant_min, quant_max, self.scalar_type());
}

std::tuple<Tensor, Tensor> _fake_quantize_per_tensor_affine_cachemask_tensor_qparams(
    const Tensor& self, const Tensor& scale, const Tensor& zero_point, const Tensor& fake_quant_enabled, int64_t quant_min,
    int64_t quant_max) {
  check_range(quant_min, quant_max);
  check_dtype("fake_quantize_tensor_cachemask_kernel_type_handling", self);
  for (const Tensor* one : {&scale, &zero_point, &fake_quant_enabled}) {
    TORCH_CHECK(
        one->numel() == 1, "fake_quantize_per_tensor_affine: scale, zero_point and fake_quant_enabled must have one element, got sizes ",
        one->sizes());
  }
  if (!at::is_nonzero(fake_quant_enabled)) {
    return {self.clone(), at::ones(self.sizes(), self.options().dtype(kBool))};
  }
  const Tensor input = wide(self);
  const Tensor step = scale.reshape({}).to(kFloat);
  return quantized(
      input * step.reciprocal().to(input.scalar_type()), step.to(input.scalar_type()),
      zero_point.reshape({}).to(input.scalar_type()), quant_min, quant_max, self.scalar_type());
}

Tensor fake_quantize_per_tensor_affine(const Tensor& self, double scale, int64_t zero_point, int64_t quant_min, int64_t quant_max) {
  return std::get<0>(at::fake_quantize_per_tensor_affine_cachemask(self, scale, zero_point, quant_min, quant_max));
}

Tensor fake_quantize_per_tensor_affine_tensor(
    const Tensor& self, const Tensor& scale, const Tensor& zero_point, int64_t quant_min, int64_t quant_max) {
  const Tensor enabled = at::ones({1}, self.options().dtype(kLong));
  return std::get<0>(at::_fake_quantize_per_tensor_affine_cachemask_tensor_qparams(
      self, scale, zero_point, enabled, quant_min, quant_max));
}

std::tuple<Tensor, Tensor> fake_quantize_per_channel_affine_cachemask(
    const Tensor& self, const Tensor& scale, const Tensor& zero_point, int64_t axis, int64_t quant_min, int64_t quant_max) {
  TORCH_CHECK(
      scale.scalar_type() == kFloat || scale.scalar_type() == kBFloat16, "Scale must be Float or BFloat16, found ", scale.scalar_type());
  TORCH_CHECK(
      zero_point.scalar_type() == kInt || zero_point.scalar_type() == kFloat || zero_point.scalar_type() == kHalf,
      "Zero-point must be Int32, Float or Half, found ", zero_point.scalar_type());
  check_channels(self, scale, zero_point, axis);
  check_range(quant_min, quant_max);
  check_dtype("fake_quantize_channel_cachemask_cpu_type_handling", self);
  TORCH_CHECK(
      at::is_nonzero(zero_point.ge(quant_min).logical_and(zero_point.le(quant_max)).all()),
      "`zero_point` must be between `quant_min` and `quant_max`.");
  const Tensor input = wide(self);
  const Tensor step = scale.to(kFloat);
  const auto along_axis = [&](const Tensor& t) { return along(input, t, axis); };
  return quantized(
      input * along_axis(step.reciprocal()), along_axis(step), along_axis(zero_point), quant_min, quant_max, self.scalar_type());
}

Tensor fake_quantize_per_channel_affine(
    const Tensor& self, const Tensor& scale, const Tensor& zero_point, int64_t axis, int64_t quant_min, int64_t quant_max) {
  return std::get<0>(at::fake_quantize_per_channel_affine_cachemask(self, scale, zero_point, axis, quant_min, quant_max));
}

Tensor fake_quantize_cachemask_backward(const Tensor& grad, const Tensor& mask) {
  TORCH_CHECK(mask.scalar_type() == kBool, "`mask` must be a tensor of bools, got ", mask.scalar_type());
  TORCH_CHECK(
      mask.sizes() == grad.sizes(), "`mask` and `dY` are not the same size: `mask` is size ", mask.numel(), " and `dY` is size ",
      grad.numel());
  return grad * mask;
}

// ---- scale and zero point that are learned ---------------------------------------------------------------------------------

namespace {

void check_learnable(const Tensor& grad, const Tensor& self, const Tensor& scale, const Tensor& zero_point, int64_t quant_min, int64_t quant_max) {
  TORCH_CHECK(grad.sizes() == self.sizes(), "`X` and `dY` are not the same size: ", self.sizes(), " and ", grad.sizes());
  check_range(quant_min, quant_max);
  TORCH_CHECK(
      quant_min <= 0 && quant_max >= 0, "Expecting `quant_min` <= 0 and `quant_max` >= 0, got ", quant_min, " and ", quant_max);
  for (const Tensor* t : {&grad, &self, &scale, &zero_point}) {
    TORCH_CHECK(
        t->is_floating_point(), "_fake_quantize_learnable backward: expected gradient, input, scale and zero point of floating point, got ",
        t->scalar_type());
  }
}

void check_one_element(const Tensor& scale, const Tensor& zero_point) {
  TORCH_CHECK(
      scale.numel() == 1 && zero_point.numel() == 1,
      "_fake_quantize_learnable_per_tensor_affine: scale and zero_point must have one element each, got sizes ", scale.sizes(), " and ",
      zero_point.sizes());
}

/// Gradients for self, scale and zero point; the latter two of each element, not yet summed. Rounding counts as the identity
/// (Esser et al., Learned Step Size Quantization, 2019), and what is cut off as constant.
std::tuple<Tensor, Tensor, Tensor> learnable_gradients(
    const Tensor& grad, const Tensor& self, const Tensor& scale, const Tensor& zero_point, int64_t quant_min, int64_t quant_max,
    double grad_factor) {
  const Tensor inverse = scale.reciprocal();
  const Tensor place = (self * inverse).round() + zero_point;
  // So that NaN counts as below, where the rounding puts it.
  const Tensor below = place.ge(quant_min).logical_not(), above = place.gt(quant_max);
  const Tensor outside = below.logical_or(above);
  const Tensor error = ((place - zero_point) * scale - self) * inverse;
  const Tensor slope = at::where(below, quant_min - zero_point, at::where(above, quant_max - zero_point, error));
  return {grad * outside.logical_not(), grad * slope * grad_factor, grad * outside * -scale * grad_factor};
}

} // namespace

Tensor _fake_quantize_learnable_per_tensor_affine(
    const Tensor& self, const Tensor& scale, const Tensor& zero_point, int64_t quant_min, int64_t quant_max, double) {
  check_one_element(scale, zero_point);
  check_range(quant_min, quant_max);
  check_dtype("fake_quantize_tensor_cachemask_kernel_type_handling", self);
  const Tensor input = wide(self);
  const Tensor step = scale.reshape({}).to(kFloat);
  const Tensor zero = zero_point.reshape({}).round().clamp(quant_min, quant_max).to(input.scalar_type());
  return std::get<0>(quantized(
      input * step.reciprocal().to(input.scalar_type()), step.to(input.scalar_type()), zero, quant_min, quant_max, self.scalar_type()));
}

std::tuple<Tensor, Tensor, Tensor> _fake_quantize_learnable_per_tensor_affine_backward(
    const Tensor& grad, const Tensor& self, const Tensor& scale, const Tensor& zero_point, int64_t quant_min, int64_t quant_max,
    double grad_factor) {
  check_one_element(scale, zero_point);
  check_learnable(grad, self, scale, zero_point, quant_min, quant_max);
  const Tensor input = wide(self);
  // Not round(): PyTorch's derivative lets halves go up, and rounds the rest of negative ones towards zero, too.
  const Tensor zero = (zero_point.reshape({}) + 0.5).clamp(quant_min, quant_max).trunc().to(input.scalar_type());
  auto [to_self, to_scale, to_zero_point] = learnable_gradients(
      grad.to(input.scalar_type()), input, scale.reshape({}).to(input.scalar_type()), zero, quant_min, quant_max, grad_factor);
  return {
      to_self.to(self.scalar_type()), to_scale.sum().to(scale.scalar_type()).view(scale.sizes()),
      to_zero_point.sum().to(zero_point.scalar_type()).view(zero_point.sizes())};
}

Tensor _fake_quantize_learnable_per_channel_affine(
    const Tensor& self, const Tensor& scale, const Tensor& zero_point, int64_t axis, int64_t quant_min, int64_t quant_max, double) {
  check_range(quant_min, quant_max);
  const Tensor zero = zero_point.round().clamp(quant_min, quant_max).to(kInt);
  return std::get<0>(native::fake_quantize_per_channel_affine_cachemask(self, scale, zero, axis, quant_min, quant_max));
}

std::tuple<Tensor, Tensor, Tensor> _fake_quantize_learnable_per_channel_affine_backward(
    const Tensor& grad, const Tensor& self, const Tensor& scale, const Tensor& zero_point, int64_t axis, int64_t quant_min,
    int64_t quant_max, double grad_factor) {
  check_learnable(grad, self, scale, zero_point, quant_min, quant_max);
  check_channels(self, scale, zero_point, axis);
  const Tensor input = wide(self);
  auto [to_self, to_scale, to_zero_point] = learnable_gradients(
      grad.to(input.scalar_type()), input, along(input, scale, axis),
      along(input, zero_point.round().clamp(quant_min, quant_max), axis), quant_min, quant_max, grad_factor);
  const auto of_channels = [&](const Tensor& t, ScalarType dtype) { return t.transpose(0, axis).flatten(1).sum(1).to(dtype); };
  return {
      to_self.to(self.scalar_type()), of_channels(to_scale.unsqueeze(-1), scale.scalar_type()),
      of_channels(to_zero_point.unsqueeze(-1), zero_point.scalar_type())};
}

} // namespace at::native
