#include <aten/native/support/batch_norm_parts.h>

#include <aten/Functions.h>
#include <aten/core/TensorSpec.h>
#include <aten/core/dtype_dispatch.h>
#include <aten/native/support/cpu_isa.h>
#include <c10/util/Exception.h>

#include <cmath>

namespace at::native {

namespace {

constexpr void (*moments_table[])(const BatchNorm&) = {
    v2::batch_norm_moments, v3::batch_norm_moments, v4::batch_norm_moments};
constexpr void (*backward_table[])(const BatchNorm&) = {
    v2::batch_norm_backward_kernel, v3::batch_norm_backward_kernel, v4::batch_norm_backward_kernel};

Tensor channel_vector(const Tensor& input, c10::ScalarType dtype) {
  return at::empty_spec(TensorSpec::like(input, {input.size(1)}, dtype));
}

BatchNorm backward_problem(const Tensor& grad, const BatchNormSaved& saved) {
  const auto format = batch_norm_format(saved.input);
  BatchNorm p = batch_norm_problem(saved.input, format, /*eps=*/0);
  p.grad = grad.contiguous(format);
  p.weight = saved.weight;
  p.mean = saved.mean.to(kDouble);
  p.variance = saved.invstd.to(kDouble).pow(-2);
  p.train = true;
  return p;
}

} // namespace

c10::MemoryFormat batch_norm_format(const Tensor& input) {
  for (const auto format : {c10::MemoryFormat::ChannelsLast, c10::MemoryFormat::ChannelsLast3d}) {
    const bool fits = input.dim() == (format == c10::MemoryFormat::ChannelsLast ? 4 : 5);
    if (fits && !input.is_contiguous() && input.is_contiguous(format)) {
      return format;
    }
  }
  return c10::MemoryFormat::Contiguous;
}

BatchNorm batch_norm_problem(const Tensor& input, c10::MemoryFormat format, double eps) {
  BatchNorm p;
  p.input = input.contiguous(format);
  p.batch = input.size(0);
  p.channels = input.size(1);
  p.spatial = 1;
  for (int64_t d = 2; d < input.dim(); ++d) {
    p.spatial *= input.size(d);
  }
  // Also where each channel has one element: rows of channels.
  p.channels_last = format != c10::MemoryFormat::Contiguous || p.spatial == 1;
  p.eps = eps;
  return p;
}

void compute_batch_norm_moments(const BatchNorm& problem) {
  moments_table[cpu_isa_level()](problem);
}

void compute_batch_norm_backward(const BatchNorm& problem) {
  backward_table[cpu_isa_level()](problem);
}

Tensor moved_statistics(const Tensor& running, const Tensor& value, double momentum) {
  return running.to(kDouble).mul(1 - momentum).add(value.view(running.sizes()), momentum).to(running.scalar_type());
}

BatchNormStatistics batch_norm_statistics(
    const Tensor& input,
    const Tensor& weight,
    const Tensor& running_mean,
    const Tensor& running_var,
    double momentum,
    double eps) {
  const c10::ScalarType dtype = input.scalar_type();
  BatchNorm p = batch_norm_problem(input, batch_norm_format(input), eps);
  const Tensor means = channel_vector(input, kDouble), variances = channel_vector(input, kDouble);
  p.mean = means;
  p.variance = variances;
  compute_batch_norm_moments(p);
  BatchNormStatistics made{
      means.to(dtype), variances.add(eps).rsqrt().to(dtype), channel_vector(input, dtype), Tensor(), Tensor()};
  const Tensor factors = weight.defined() ? weight.contiguous() : Tensor();
  dispatch("batch_norm_statistics", dtype, kFloatDouble, [&]<class T> {
    const double* const variance = variances.const_data_ptr<double>();
    const T* const factor = factors.defined() ? factors.const_data_ptr<T>() : nullptr;
    T* const scale = made.scale.mutable_data_ptr<T>();
    for (int64_t c = 0; c < p.channels; ++c) {
      const double invstd = variance[c] == 0 && eps == 0 ? 0 : 1 / std::sqrt(variance[c] + eps);
      scale[c] = static_cast<T>(invstd) * (factor ? factor[c] : T(1));
    }
  });
  if (running_mean.defined()) {
    made.running_mean = moved_statistics(running_mean, means, momentum);
  }
  if (running_var.defined()) {
    const double count = static_cast<double>(p.batch * p.spatial);
    made.running_var = moved_statistics(running_var, variances.mul(count / (count - 1)), momentum);
  }
  return made;
}

BatchNormGradients batch_norm_gradients(const Tensor& grad, const BatchNormSaved& saved, std::array<bool, 2> wanted) {
  const auto channel = [&] { return channel_vector(saved.input, saved.input.scalar_type()); };
  BatchNormGradients made{
      channel(), channel(), channel(), wanted[0] ? channel() : Tensor(), wanted[1] ? channel() : Tensor()};
  BatchNorm p = backward_problem(grad, saved);
  p.grad_scale = made.scale;
  p.grad_slope = made.slope;
  p.grad_shift = made.shift;
  p.grad_weight = made.weight;
  p.grad_bias = made.bias;
  compute_batch_norm_backward(p);
  return made;
}

std::tuple<Tensor, Tensor, Tensor> batch_norm_activation_backward(
    const Tensor& grad, const BatchNormSaved& saved, std::array<bool, 2> wanted, onednn::Activation activation) {
  TORCH_CHECK(
      saved.input.scalar_type() == kFloat, "batch_norm_activation_backward: expected floats, got ",
      saved.input.scalar_type());
  const auto channel = [&] { return channel_vector(saved.input, kFloat); };
  BatchNorm p = backward_problem(grad, saved);
  const Tensor input = at::empty_like(saved.input, saved.input.options(), batch_norm_format(saved.input)),
               weight = wanted[0] ? channel() : Tensor(), bias = wanted[1] ? channel() : Tensor();
  p.activation = activation;
  p.scale = saved.scale;
  p.bias = saved.bias;
  p.grad_input = input;
  p.grad_weight = weight;
  p.grad_bias = bias;
  compute_batch_norm_backward(p);
  return {input, weight, bias};
}

} // namespace at::native
