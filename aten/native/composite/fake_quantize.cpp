// Rounding to the steps of a quantized tensor, in floating point.
#include <aten/Functions.h>
#include <aten/core/TensorOperators.h>
#include <aten/core/TensorSpec.h>
#include <aten/iterator/MemoryOverlap.h>
#include <aten/ops/_fused_moving_avg_obs_fq_helper.h>
#include <c10/core/DeferredStorage.h>
#include <c10/core/WrapDimMinimal.h>
#include <c10/util/DimVector.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace at::native {
namespace {

void check_range(int64_t quant_min, int64_t quant_max) {
  TORCH_CHECK(
      quant_min <= quant_max, "`quant_min` should be less than or         equal to `quant_max`. Got ", quant_min,
      " and ", quant_max);
}

void check_dtype(const char* kernel, const Tensor& self) {
  TORCH_CHECK_NOT_IMPLEMENTED(
      at::isFloatingType(self.scalar_type()), "\"", kernel, "\" not implemented for '", self.scalar_type(), "'");
}

/// `steps` are the elements in steps, not yet rounded; all three broadcast. NaN becomes quant_min.
std::tuple<Tensor, Tensor> quantized(
    const Tensor& steps,
    const Tensor& scale,
    const Tensor& zero_point,
    int64_t quant_min,
    int64_t quant_max,
    ScalarType dtype) {
  const Tensor rounded = steps.round() + zero_point;
  const Tensor low = at::scalar_tensor(quant_min, rounded.options()),
               high = at::scalar_tensor(quant_max, rounded.options());
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
      scale.numel() == zero_point.numel(), "scale and zero-point need to have the same dimensions, got ", scale.sizes(),
      " and ", zero_point.sizes());
  c10::maybe_wrap_dim(axis, self.dim()); // throws unless it is a dimension
  TORCH_CHECK(axis >= 0, "`axis` must be between 0 and number of dimensions of input, ", self.dim(), ", got ", axis);
  TORCH_CHECK(
      scale.numel() == self.size(axis),
      "dimensions of scale and zero-point are not consistent with input tensor: ", scale.numel(),
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
      zero_point >= quant_min && zero_point <= quant_max,
      "`zero_point` must be between `quant_min` and `quant_max`. Got ", zero_point, " for the range ", quant_min,
      " to ", quant_max);
  check_dtype("fake_quantize_tensor_cachemask_kernel_type_handling", self);
  const Tensor input = wide(self);
  // In float whatever the dtype, as the quantized kernels have it.
  const double inverse = 1.0f / static_cast<float>(scale);
  return quantized(
      input * inverse, at::scalar_tensor(static_cast<float>(scale), input.options()),
      at::scalar_tensor(zero_point, input.options()), quant_min, quant_max, self.scalar_type());
}

std::tuple<Tensor, Tensor> _fake_quantize_per_tensor_affine_cachemask_tensor_qparams(
    const Tensor& self,
    const Tensor& scale,
    const Tensor& zero_point,
    const Tensor& fake_quant_enabled,
    int64_t quant_min,
    int64_t quant_max) {
  check_range(quant_min, quant_max);
  check_dtype("fake_quantize_tensor_cachemask_kernel_type_handling", self);
  for (const Tensor* one : {&scale, &zero_point, &fake_quant_enabled}) {
    TORCH_CHECK(
        one->numel() == 1,
        "fake_quantize_per_tensor_affine: scale, zero_point and fake_quant_enabled must have one element, got sizes ",
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

Tensor fake_quantize_per_tensor_affine(
    const Tensor& self, double scale, int64_t zero_point, int64_t quant_min, int64_t quant_max) {
  return std::get<0>(at::fake_quantize_per_tensor_affine_cachemask(self, scale, zero_point, quant_min, quant_max));
}

Tensor fake_quantize_per_tensor_affine_tensor(
    const Tensor& self, const Tensor& scale, const Tensor& zero_point, int64_t quant_min, int64_t quant_max) {
  const Tensor enabled = at::ones({1}, self.options().dtype(kLong));
  return std::get<0>(at::_fake_quantize_per_tensor_affine_cachemask_tensor_qparams(
      self, scale, zero_point, enabled, quant_min, quant_max));
}

std::tuple<Tensor, Tensor> fake_quantize_per_channel_affine_cachemask(
    const Tensor& self,
    const Tensor& scale,
    const Tensor& zero_point,
    int64_t axis,
    int64_t quant_min,
    int64_t quant_max) {
  TORCH_CHECK(
      scale.scalar_type() == kFloat || scale.scalar_type() == kBFloat16, "Scale must be Float or BFloat16, found ",
      scale.scalar_type());
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
      input * along_axis(step.reciprocal()), along_axis(step), along_axis(zero_point), quant_min, quant_max,
      self.scalar_type());
}

Tensor fake_quantize_per_channel_affine(
    const Tensor& self,
    const Tensor& scale,
    const Tensor& zero_point,
    int64_t axis,
    int64_t quant_min,
    int64_t quant_max) {
  return std::get<0>(
      at::fake_quantize_per_channel_affine_cachemask(self, scale, zero_point, axis, quant_min, quant_max));
}

Tensor fake_quantize_cachemask_backward(const Tensor& grad, const Tensor& mask) {
  TORCH_CHECK(mask.scalar_type() == kBool, "`mask` must be a tensor of bools, got ", mask.scalar_type());
  TORCH_CHECK(
      mask.sizes() == grad.sizes(), "`mask` and `dY` are not the same size: `mask` is size ", mask.numel(),
      " and `dY` is size ", grad.numel());
  return grad * mask;
}

// ---- scale and zero point that are learned
// ---------------------------------------------------------------------------------

namespace {

void check_learnable(
    const Tensor& grad,
    const Tensor& self,
    const Tensor& scale,
    const Tensor& zero_point,
    int64_t quant_min,
    int64_t quant_max) {
  TORCH_CHECK(
      grad.sizes() == self.sizes(), "`X` and `dY` are not the same size: ", self.sizes(), " and ", grad.sizes());
  check_range(quant_min, quant_max);
  TORCH_CHECK(
      quant_min <= 0 && quant_max >= 0, "Expecting `quant_min` <= 0 and `quant_max` >= 0, got ", quant_min, " and ",
      quant_max);
  for (const Tensor* t : {&grad, &self, &scale, &zero_point}) {
    TORCH_CHECK(
        t->is_floating_point(),
        "_fake_quantize_learnable backward: expected gradient, input, scale and zero point of floating point, got ",
        t->scalar_type());
  }
}

void check_one_element(const Tensor& scale, const Tensor& zero_point) {
  TORCH_CHECK(
      scale.numel() == 1 && zero_point.numel() == 1,
      "_fake_quantize_learnable_per_tensor_affine: scale and zero_point must have one element each, got sizes ",
      scale.sizes(), " and ", zero_point.sizes());
}

/// Gradients for self, scale and zero point; the latter two of each element, not yet summed. Rounding counts as the
/// identity (Esser et al., Learned Step Size Quantization, 2019), and what is cut off as constant.
std::tuple<Tensor, Tensor, Tensor> learnable_gradients(
    const Tensor& grad,
    const Tensor& self,
    const Tensor& scale,
    const Tensor& zero_point,
    int64_t quant_min,
    int64_t quant_max,
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
      input * step.reciprocal().to(input.scalar_type()), step.to(input.scalar_type()), zero, quant_min, quant_max,
      self.scalar_type()));
}

std::tuple<Tensor, Tensor, Tensor> _fake_quantize_learnable_per_tensor_affine_backward(
    const Tensor& grad,
    const Tensor& self,
    const Tensor& scale,
    const Tensor& zero_point,
    int64_t quant_min,
    int64_t quant_max,
    double grad_factor) {
  check_one_element(scale, zero_point);
  check_learnable(grad, self, scale, zero_point, quant_min, quant_max);
  const Tensor input = wide(self);
  // Not round(): PyTorch's derivative lets halves go up, and rounds the rest of negative ones towards zero, too.
  const Tensor zero = (zero_point.reshape({}) + 0.5).clamp(quant_min, quant_max).trunc().to(input.scalar_type());
  auto [to_self, to_scale, to_zero_point] = learnable_gradients(
      grad.to(input.scalar_type()), input, scale.reshape({}).to(input.scalar_type()), zero, quant_min, quant_max,
      grad_factor);
  return {
      to_self.to(self.scalar_type()), to_scale.sum().to(scale.scalar_type()).view(scale.sizes()),
      to_zero_point.sum().to(zero_point.scalar_type()).view(zero_point.sizes())};
}

Tensor _fake_quantize_learnable_per_channel_affine(
    const Tensor& self,
    const Tensor& scale,
    const Tensor& zero_point,
    int64_t axis,
    int64_t quant_min,
    int64_t quant_max,
    double) {
  check_range(quant_min, quant_max);
  const Tensor zero = zero_point.round().clamp(quant_min, quant_max).to(kInt);
  return std::get<0>(native::fake_quantize_per_channel_affine_cachemask(self, scale, zero, axis, quant_min, quant_max));
}

std::tuple<Tensor, Tensor, Tensor> _fake_quantize_learnable_per_channel_affine_backward(
    const Tensor& grad,
    const Tensor& self,
    const Tensor& scale,
    const Tensor& zero_point,
    int64_t axis,
    int64_t quant_min,
    int64_t quant_max,
    double grad_factor) {
  check_learnable(grad, self, scale, zero_point, quant_min, quant_max);
  check_channels(self, scale, zero_point, axis);
  const Tensor input = wide(self);
  auto [to_self, to_scale, to_zero_point] = learnable_gradients(
      grad.to(input.scalar_type()), input, along(input, scale, axis),
      along(input, zero_point.round().clamp(quant_min, quant_max), axis), quant_min, quant_max, grad_factor);
  const auto of_channels = [&](const Tensor& t, ScalarType dtype) {
    return t.transpose(0, axis).flatten(1).sum(1).to(dtype);
  };
  return {
      to_self.to(self.scalar_type()), of_channels(to_scale.unsqueeze(-1), scale.scalar_type()),
      of_channels(to_zero_point.unsqueeze(-1), zero_point.scalar_type())};
}

// ---- an observer of a network's range, and the rounding by what it has seen
// ---------------------------------------------------

namespace {

struct QuantizationStep {
  float scale;
  int64_t zero_point;
};

/// How `low` to `high`, widened to hold 0, is laid on the whole numbers quant_min to quant_max, so that 0 is one of
/// them. `symmetric` puts 0 in the middle of these where the range has numbers of both signs.
QuantizationStep quantization_step(float low, float high, int64_t quant_min, int64_t quant_max, bool symmetric) {
  // Of smaller steps the reciprocal loses too much in reduced precision; PyTorch's limit.
  constexpr float kSmallest = 6.1e-5f;
  low = std::min(low, 0.0f);
  high = std::max(high, 0.0f);
  const bool both_signs = low < 0 && high > 0;
  const int64_t steps = quant_max - quant_min;
  if (symmetric && both_signs) {
    const double below = -static_cast<double>(steps / 2 + 1), above = static_cast<double>(steps / 2);
    const double widest = std::max(std::fabs(low / below), std::fabs(high / above));
    low = static_cast<float>(widest * below);
    high = static_cast<float>(widest * above);
  }
  double scale = (static_cast<double>(high) - low) / static_cast<double>(steps);
  if (static_cast<float>(scale) == 0.0f || std::isinf(1.0f / static_cast<float>(scale))) {
    scale = 0.1;
  }
  if (scale < kSmallest) {
    const float before = static_cast<float>(scale);
    scale = kSmallest;
    if (low == 0.0f) {
      high = kSmallest * static_cast<float>(steps);
    } else if (high == 0.0f) {
      low = -kSmallest * static_cast<float>(steps);
    } else {
      low *= kSmallest / before;
      high *= kSmallest / before;
    }
  }
  // Of the two ends the one whose place has the smaller rounding error.
  const double from_low = static_cast<double>(quant_min) - low / scale,
               from_high = static_cast<double>(quant_max) - high / scale;
  const double low_error = std::fabs(static_cast<double>(quant_min)) + std::fabs(low / scale);
  const double high_error = std::fabs(static_cast<double>(quant_max)) + std::fabs(high / scale);
  double zero = low_error < high_error ? from_low : from_high;
  if (symmetric && both_signs) {
    zero = static_cast<double>(quant_min + quant_max) / 2;
  }
  // A range without an end has no place for 0; any number will do, and this one is PyTorch's.
  const int64_t place = std::isnan(zero)      ? std::numeric_limits<int32_t>::min()
      : zero < static_cast<double>(quant_min) ? quant_min
      : zero > static_cast<double>(quant_max) ? quant_max
                                              : static_cast<int64_t>(std::nearbyint(zero));
  return {static_cast<float>(scale), place};
}

void check_observer_float(const Tensor& t) {
  TORCH_CHECK(t.scalar_type() == kFloat, "expected scalar type Float but found ", t.scalar_type());
}

bool is_switched_on(const Tensor& flag) {
  TORCH_CHECK(flag.numel() == 1, "a Tensor with ", flag.numel(), " elements cannot be converted to Scalar");
  return flag.item().toDouble() >= 1 || flag.item().toDouble() <= -1;
}

/// The running end moved towards what was seen; the first time it takes that over.
Tensor moved_towards(const Tensor& running, const Tensor& seen, double averaging_const) {
  return at::where(running.isinf(), seen, running + (seen - running) * averaging_const);
}

void observe(const Tensor& self, Tensor& running_min, Tensor& running_max, int64_t rows, double averaging_const) {
  const auto [low, high] = at::aminmax(self.reshape({rows, rows == 0 ? 0 : self.numel() / rows}), 1);
  const Tensor new_min = moved_towards(running_min.reshape({rows}), low, averaging_const);
  const Tensor new_max = moved_towards(running_max.reshape({rows}), high, averaging_const);
  running_min.copy_(new_min.view(running_min.sizes()));
  running_max.copy_(new_max.view(running_max.sizes()));
}

void store_quantization_steps(
    const Tensor& running_min,
    const Tensor& running_max,
    Tensor& scale,
    Tensor& zero_point,
    int64_t quant_min,
    int64_t quant_max,
    bool symmetric) {
  const Tensor low = running_min.to(kCPU).contiguous(), high = running_max.to(kCPU).contiguous();
  Tensor steps = empty_contiguous(scale.sizes(), kFloat, kCPU),
         zeros = empty_contiguous(zero_point.sizes(), kLong, kCPU);
  c10::compute_storage(low.storage());
  c10::compute_storage(high.storage());
  for (int64_t i = 0; i < low.numel(); ++i) {
    const QuantizationStep step = quantization_step(
        low.const_data_ptr<float>()[i], high.const_data_ptr<float>()[i], quant_min, quant_max, symmetric);
    steps.mutable_data_ptr<float>()[i] = step.scale;
    zeros.mutable_data_ptr<int64_t>()[i] = step.zero_point;
  }
  scale.copy_(steps);
  zero_point.copy_(zeros);
}

} // namespace

std::tuple<Tensor, Tensor> _fused_moving_avg_obs_fq_helper(
    const Tensor& self,
    const Tensor& observer_on,
    const Tensor& fake_quant_on,
    Tensor& running_min,
    Tensor& running_max,
    Tensor& scale,
    Tensor& zero_point,
    double averaging_const,
    int64_t quant_min,
    int64_t quant_max,
    int64_t ch_axis,
    bool per_row_fake_quant,
    bool symmetric_quant) {
  TORCH_CHECK(
      ch_axis < self.dim(), "Error in fused_moving_avg_obs_fake_quant_cpu: ch_axis must be < self.dim(), got ", ch_axis,
      " for ", self.dim(), " dimensions");
  TORCH_CHECK(
      !per_row_fake_quant || ch_axis == 0,
      "Per-channel FakeQuant in fused_moving_avg_obs_fake_quant is only supported on axis == 0, got ", ch_axis);
  for (const Tensor* t :
       {&self, static_cast<const Tensor*>(&running_min), static_cast<const Tensor*>(&running_max),
        static_cast<const Tensor*>(&scale)}) {
    check_observer_float(*t);
  }
  TORCH_CHECK(
      zero_point.scalar_type() == kInt || zero_point.scalar_type() == kLong, "zero_point must be Int or Long, got ",
      zero_point.scalar_type());
  const int64_t rows = per_row_fake_quant ? self.size(0) : 1;
  for (const Tensor* t : {&running_min, &running_max, &scale, &zero_point}) {
    TORCH_CHECK(
        t->numel() == rows,
        "dimensions of scale and zero-point are not consistent with input tensor: fused_moving_avg_obs_fake_quant "
        "keeps ",
        rows, " of running_min, running_max, scale and zero_point, got sizes ", t->sizes());
    at::assert_no_internal_overlap(*t);
  }
  const bool observes = is_switched_on(observer_on), rounds = is_switched_on(fake_quant_on);
  TORCH_CHECK(
      !rounds || quant_min <= quant_max, "`quant_min` should be less than or equal to `quant_max`. Got ", quant_min,
      " and ", quant_max);
  TORCH_CHECK(
      !rounds || (quant_min >= std::numeric_limits<int32_t>::min() && quant_max <= std::numeric_limits<int32_t>::max()),
      "quant_min and quant_max must be numbers of 32 bits, got ", quant_min, " and ", quant_max);
  if (observes) {
    observe(self.detach(), running_min, running_max, rows, averaging_const);
  }
  if (!rounds) {
    return {self.clone(), at::ones(self.sizes(), self.options().dtype(kBool))};
  }
  store_quantization_steps(running_min, running_max, scale, zero_point, quant_min, quant_max, symmetric_quant);
  if (!per_row_fake_quant) {
    return at::_fake_quantize_per_tensor_affine_cachemask_tensor_qparams(
        self, scale, zero_point, fake_quant_on, quant_min, quant_max);
  }
  return at::fake_quantize_per_channel_affine_cachemask(
      self, scale.reshape({rows}), zero_point.reshape({rows}).to(kInt), 0, quant_min, quant_max);
}

Tensor fused_moving_avg_obs_fake_quant(
    const Tensor& self,
    const Tensor& observer_on,
    const Tensor& fake_quant_on,
    Tensor& running_min,
    Tensor& running_max,
    Tensor& scale,
    Tensor& zero_point,
    double averaging_const,
    int64_t quant_min,
    int64_t quant_max,
    int64_t ch_axis,
    bool per_row_fake_quant,
    bool symmetric_quant) {
  if (self.numel() == 0) {
    return self.clone();
  }
  return std::get<0>(at::_fused_moving_avg_obs_fq_helper(
      self, observer_on, fake_quant_on, running_min, running_max, scale, zero_point, averaging_const, quant_min,
      quant_max, ch_axis, per_row_fake_quant, symmetric_quant));
}

std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor, Tensor> _fused_moving_avg_obs_fq_helper_functional(
    const Tensor& self,
    const Tensor& observer_on,
    const Tensor& fake_quant_on,
    const Tensor& running_min,
    const Tensor& running_max,
    const Tensor& scale,
    const Tensor& zero_point,
    double averaging_const,
    int64_t quant_min,
    int64_t quant_max,
    int64_t ch_axis,
    bool per_row_fake_quant,
    bool symmetric_quant) {
  Tensor low = running_min.clone(), high = running_max.clone(), step = scale.clone(), zero = zero_point.clone();
  auto [output, mask] = at::_fused_moving_avg_obs_fq_helper(
      self, observer_on, fake_quant_on, low, high, step, zero, averaging_const, quant_min, quant_max, ch_axis,
      per_row_fake_quant, symmetric_quant);
  return {std::move(output), std::move(mask), std::move(low), std::move(high), std::move(step), std::move(zero)};
}

} // namespace at::native
