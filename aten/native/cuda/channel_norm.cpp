// Batch and group normalization: the host side of channel_norm.cu. Arguments are checked by
// aten/native/composite/{batch_norm,norm}.cpp and aten/shape/nn.cpp.
#include <aten/Functions.h>
#include <aten/core/Tensor.h>
#include <aten/core/dtype_dispatch.h>
#include <aten/cuda/CUDAContext.h>
#include <aten/native/cuda/channel_norm.h>
#include <aten/native/cuda/copy.h>
#include <aten/native/cuda/workspace.h>
#include <aten/native/optional_tensor.h>
#include <c10/cuda/CUDAStream.h>

#include <array>
#include <optional>
#include <tuple>

namespace at::native {

using Three = std::tuple<Tensor, Tensor, Tensor>;
using OptionalTensor = std::optional<Tensor>;

// Checks, and results that are allocated but not filled.
Three native_batch_norm_meta(const Tensor& input, const OptionalTensor& weight, const OptionalTensor& bias, const OptionalTensor& running_mean, const OptionalTensor& running_var, bool training, double momentum, double eps);
Three native_batch_norm_backward_meta(const Tensor& grad_out, const Tensor& input, const OptionalTensor& weight, const OptionalTensor& running_mean, const OptionalTensor& running_var, const OptionalTensor& save_mean, const OptionalTensor& save_invstd, bool train, double eps, std::array<bool, 3> output_mask);
Three native_group_norm_backward_meta(const Tensor& grad_out, const Tensor& input, const Tensor& mean, const Tensor& rstd, const OptionalTensor& weight, int64_t N, int64_t C, int64_t HxW, int64_t group, std::array<bool, 3> output_mask);

namespace {

void check_dtype(const char* op, const TensorBase& t) {
  if (!kFloating.contains(t.scalar_type())) {
    at::detail::dtype_not_supported(op, t.scalar_type(), kFloating.bits);
  }
}

c10::ScalarType statistic_dtype(const TensorBase& input) {
  return input.scalar_type() == kDouble ? kDouble : kFloat;
}

/// A tensor as kernels want statistics and weights: dense, float or double. Undefined stays undefined.
Tensor as_statistic(const Tensor& t, c10::ScalarType dtype) {
  return t.defined() ? t.to(dtype).contiguous() : t;
}

const void* data_or_null(const Tensor& t) {
  return t.defined() ? t.const_data_ptr() : nullptr;
}
void* mutable_or_null(const Tensor& t) {
  return t.defined() ? t.mutable_data_ptr() : nullptr;
}

MemoryFormat dense_format(const Tensor& t) {
  for (const auto format : {MemoryFormat::ChannelsLast, MemoryFormat::ChannelsLast3d}) {
    const bool fits = t.dim() == (format == MemoryFormat::ChannelsLast ? 4 : 5);
    if (fits && !t.is_contiguous() && t.is_contiguous(format)) {
      return format;
    }
  }
  return MemoryFormat::Contiguous;
}

/// Elements that lie in `format`.
cuda::Channels channels_of(const Tensor& input, MemoryFormat format) {
  const int64_t channels = input.size(1), others = channels == 0 ? 0 : input.numel() / channels;
  const bool last = format != MemoryFormat::Contiguous || others == input.size(0);
  return {last ? others : input.size(0), channels, last ? 1 : others / input.size(0), input.scalar_type(),
          c10::cuda::getCurrentCUDAStream()};
}

struct Statistics {
  Tensor mean, variance;
};

/// Two arrays with a number for each channel.
template <class Launch>
void with_parts(const cuda::Channels& p, int64_t numbers, Launch launch) {
  const int splits = cuda::channel_splits(p, at::cuda::getCurrentDeviceProperties()->multiProcessorCount);
  const cuda::Workspace parts(static_cast<std::size_t>(numbers * p.channels * splits) * (p.dtype == kDouble ? 8 : 4), p.stream);
  launch(splits, parts.data());
}

Statistics moments(const cuda::Channels& p, const Tensor& x) {
  const auto options = x.options().dtype(statistic_dtype(x));
  const Statistics s{at::empty({p.channels}, options), at::empty({p.channels}, options)};
  with_parts(p, 3, [&](int splits, void* parts) {
    cuda::launch_channel_moments(p, splits, x.const_data_ptr(), parts, s.mean.mutable_data_ptr(), s.variance.mutable_data_ptr());
  });
  return s;
}

struct Sums {
  Tensor sum, moment;
};

Sums products(const cuda::Channels& p, const Tensor& g, const Tensor& x, const Tensor& mean) {
  const Sums s{at::empty({p.channels}, mean.options()), at::empty({p.channels}, mean.options())};
  with_parts(p, 2, [&](int splits, void* parts) {
    cuda::launch_channel_sums(
        p, splits, g.const_data_ptr(), x.const_data_ptr(), mean.const_data_ptr(), parts, s.sum.mutable_data_ptr(),
        s.moment.mutable_data_ptr());
  });
  return s;
}

/// What apply_affine multiplies with.
struct AffineFactors {
  Tensor mean, factor, offset, g_factor;

  AffineFactors(const Tensor& mean, int64_t count, bool backward)
      : mean(mean), factor(at::empty({count}, mean.options())), offset(at::empty({count}, mean.options())),
        g_factor(backward ? at::empty({count}, mean.options()) : Tensor()) {}
};

void apply(const cuda::Channels& p, const Tensor& x, const Tensor& g, const AffineFactors& by, const Tensor& out) {
  cuda::launch_channel_affine(
      p, x.const_data_ptr(), data_or_null(g), by.mean.const_data_ptr(), by.factor.const_data_ptr(), by.offset.const_data_ptr(),
      data_or_null(by.g_factor), out.mutable_data_ptr());
}

/// `wanted`, or where it lies otherwise a tensor in `format` that is to be copied there.
Tensor target_in(const Tensor& wanted, MemoryFormat format) {
  return wanted.is_contiguous(format) ? wanted : at::empty_like(wanted, wanted.options(), format);
}
void finish(const Tensor& wanted, const Tensor& written) {
  if (wanted.defined() && written.defined() && !written.is_same(wanted)) {
    cuda::copy_on_device(wanted, written);
  }
}

/// Running statistics as the kernel wants them, written back when done.
struct Running {
  Tensor given, used;

  Running(const OptionalTensor& t, c10::ScalarType dtype) : given(defined_or_empty(t)), used(as_statistic(given, dtype)) {}
  void finish() const {
    if (given.defined() && !used.is_same(given)) {
      cuda::copy_on_device(given, used.view(given.sizes()));
    }
  }
};

void zero_if_defined(const Three& tensors) {
  for (const Tensor* t : {&std::get<0>(tensors), &std::get<1>(tensors), &std::get<2>(tensors)}) {
    if (t->defined()) {
      Tensor(*t).zero_();
    }
  }
}

} // namespace

Three native_batch_norm_cuda(const Tensor& input, const OptionalTensor& weight, const OptionalTensor& bias, const OptionalTensor& running_mean, const OptionalTensor& running_var, bool training, double momentum, double eps) {
  check_dtype("native_batch_norm", input);
  const Three results = native_batch_norm_meta(input, weight, bias, running_mean, running_var, training, momentum, eps);
  const auto& [output, save_mean, save_invstd] = results;
  if (input.numel() == 0) {
    zero_if_defined(results);
    return results;
  }
  const auto dtype = statistic_dtype(input);
  const auto format = dense_format(input);
  const Tensor x = input.contiguous(format), w = as_statistic(defined_or_empty(weight), dtype), b = as_statistic(defined_or_empty(bias), dtype);
  const cuda::Channels p = channels_of(x, format);
  const Running run_mean(running_mean, dtype), run_var(running_var, dtype);
  const Statistics s = training ? moments(p, x) : Statistics{run_mean.used, run_var.used};
  const Tensor invstd = training ? at::empty({p.channels}, s.mean.options()) : Tensor();
  const AffineFactors by(s.mean, p.channels, /*backward=*/false);
  cuda::launch_batch_norm_forward(
      {p.channels, dtype == kDouble, static_cast<double>(p.outer * p.inner), momentum, eps, training, s.mean.const_data_ptr(),
       s.variance.const_data_ptr(), data_or_null(w), data_or_null(b), mutable_or_null(invstd),
       training ? mutable_or_null(run_mean.used) : nullptr, training ? mutable_or_null(run_var.used) : nullptr,
       by.factor.mutable_data_ptr(), by.offset.mutable_data_ptr(), p.stream});
  const Tensor dense = target_in(output, format);
  apply(p, x, Tensor(), by, dense);
  finish(output, dense);
  if (training) {
    run_mean.finish();
    run_var.finish();
    cuda::copy_on_device(save_mean, s.mean);
    cuda::copy_on_device(save_invstd, invstd);
  }
  return results;
}

Three native_batch_norm_backward_cuda(const Tensor& grad_out, const Tensor& input, const OptionalTensor& weight, const OptionalTensor& running_mean, const OptionalTensor& running_var, const OptionalTensor& save_mean, const OptionalTensor& save_invstd, bool train, double eps, std::array<bool, 3> output_mask) {
  check_dtype("native_batch_norm_backward", input);
  const Three grads = native_batch_norm_backward_meta(grad_out, input, weight, running_mean, running_var, save_mean, save_invstd, train, eps, output_mask);
  const auto& [grad_input, grad_weight, grad_bias] = grads;
  if (input.numel() == 0) {
    zero_if_defined(grads);
    return grads;
  }
  const auto dtype = statistic_dtype(input);
  const auto format = dense_format(input);
  const Tensor x = input.contiguous(format), g = grad_out.contiguous(format), w = as_statistic(defined_or_empty(weight), dtype);
  const Tensor mean = as_statistic(train ? *save_mean : *running_mean, dtype), spread = as_statistic(train ? *save_invstd : *running_var, dtype);
  const cuda::Channels p = channels_of(x, format);
  const Sums s = products(p, g, x, mean);
  const AffineFactors by(mean, p.channels, /*backward=*/true);
  const Tensor for_weight = grad_weight.defined() ? at::empty({p.channels}, mean.options()) : Tensor();
  const Tensor for_bias = grad_bias.defined() ? at::empty({p.channels}, mean.options()) : Tensor();
  cuda::launch_batch_norm_backward(
      {p.channels, dtype == kDouble, train, static_cast<double>(p.outer * p.inner), eps, spread.const_data_ptr(), data_or_null(w),
       s.sum.const_data_ptr(), s.moment.const_data_ptr(), mutable_or_null(for_weight), mutable_or_null(for_bias),
       by.factor.mutable_data_ptr(), by.offset.mutable_data_ptr(), by.g_factor.mutable_data_ptr(), p.stream});
  finish(grad_weight, for_weight);
  finish(grad_bias, for_bias);
  if (grad_input.defined()) {
    const Tensor dense = target_in(grad_input, format);
    apply(p, x, g, by, dense);
    finish(grad_input, dense);
  }
  return grads;
}

std::tuple<Tensor, Tensor> batch_norm_update_stats_cuda(const Tensor& input, const OptionalTensor& running_mean, const OptionalTensor& running_var, double momentum) {
  check_dtype("batch_norm_update_stats", input);
  TORCH_CHECK(input.numel() != 0, "input tensor must have at least one element, but got input_sizes = ", input.sizes());
  const auto wanted = std::get<1>(native_batch_norm_meta(input, {}, {}, running_mean, running_var, /*training=*/true, momentum, 0)).scalar_type();
  const auto dtype = statistic_dtype(input);
  const auto format = dense_format(input);
  const Tensor x = input.contiguous(format);
  const cuda::Channels p = channels_of(x, format);
  const Running run_mean(running_mean, dtype), run_var(running_var, dtype);
  const Statistics s = moments(p, x);
  const Tensor invstd = at::empty({p.channels}, s.mean.options());
  cuda::launch_batch_norm_forward(
      {p.channels, dtype == kDouble, static_cast<double>(p.outer * p.inner), momentum, 0, /*training=*/true, s.mean.const_data_ptr(),
       s.variance.const_data_ptr(), nullptr, nullptr, invstd.mutable_data_ptr(), mutable_or_null(run_mean.used),
       mutable_or_null(run_var.used), nullptr, nullptr, p.stream});
  run_mean.finish();
  run_var.finish();
  return {s.mean.to(wanted), s.variance.to(wanted)};
}

// ---- groups ------------------------------------------------------------------------------------

namespace cuda {

void group_norm_kernel(const TensorBase& input, const std::optional<Tensor>& weight, const std::optional<Tensor>& bias, int64_t N, int64_t C, int64_t HxW, int64_t group, double eps, const TensorBase& out, const TensorBase& mean, const TensorBase& rstd) {
  check_dtype("native_group_norm", input);
  if (input.numel() == 0) {
    mean.zero_();
    rstd.zero_();
    return;
  }
  const auto dtype = statistic_dtype(input);
  const Tensor x = Tensor(input).contiguous(), w = as_statistic(defined_or_empty(weight), dtype), b = as_statistic(defined_or_empty(bias), dtype);
  const cudaStream_t stream = c10::cuda::getCurrentCUDAStream();
  const GroupNorm p{N, group, C / group, HxW, dtype == kDouble, eps, stream};
  const Statistics s = moments({1, N * group, C / group * HxW, input.scalar_type(), stream}, x);
  const Tensor reciprocal = at::empty({N * group}, s.mean.options());
  const AffineFactors by(at::empty({N * C}, s.mean.options()), N * C, /*backward=*/false);
  launch_group_norm_forward(
      p, s.mean.const_data_ptr(), s.variance.const_data_ptr(), data_or_null(w), data_or_null(b), reciprocal.mutable_data_ptr(),
      by.mean.mutable_data_ptr(), by.factor.mutable_data_ptr(), by.offset.mutable_data_ptr());
  apply({1, N * C, HxW, input.scalar_type(), stream}, x, Tensor(), by, Tensor(out));
  copy_on_device(mean, s.mean.view(mean.sizes()));
  copy_on_device(rstd, reciprocal.view(rstd.sizes()));
}

} // namespace cuda

Three native_group_norm_backward_cuda(const Tensor& grad_out, const Tensor& input, const Tensor& mean, const Tensor& rstd, const OptionalTensor& weight, int64_t N, int64_t C, int64_t HxW, int64_t group, std::array<bool, 3> output_mask) {
  check_dtype("native_group_norm_backward", input);
  const Three grads = native_group_norm_backward_meta(grad_out, input, mean, rstd, weight, N, C, HxW, group, output_mask);
  const auto& [grad_input, grad_weight, grad_bias] = grads;
  if (input.numel() == 0) {
    zero_if_defined(grads);
    return grads;
  }
  const auto dtype = statistic_dtype(input);
  const Tensor x = input.contiguous(), g = grad_out.contiguous(), w = as_statistic(defined_or_empty(weight), dtype);
  const Tensor means = as_statistic(mean, dtype), reciprocals = as_statistic(rstd, dtype);
  const cudaStream_t stream = c10::cuda::getCurrentCUDAStream();
  const cuda::GroupNorm p{N, group, C / group, HxW, dtype == kDouble, 0, stream};
  const cuda::Channels channels{1, N * C, HxW, input.scalar_type(), stream};
  const AffineFactors by(at::empty({N * C}, means.options()), N * C, /*backward=*/true);
  cuda::launch_group_norm_means(p, means.const_data_ptr(), by.mean.mutable_data_ptr());
  const Sums s = products(channels, g, x, by.mean);
  cuda::launch_group_norm_backward(
      p, reciprocals.const_data_ptr(), data_or_null(w), s.sum.const_data_ptr(), s.moment.mutable_data_ptr(), by.factor.mutable_data_ptr(),
      by.offset.mutable_data_ptr(), by.g_factor.mutable_data_ptr());
  if (grad_input.defined()) {
    const Tensor dense = target_in(grad_input, MemoryFormat::Contiguous);
    apply(channels, x, g, by, dense);
    finish(grad_input, dense);
  }
  if (grad_weight.defined()) {
    cuda::copy_on_device(grad_weight, s.moment.view({N, C}).sum(0));
  }
  if (grad_bias.defined()) {
    cuda::copy_on_device(grad_bias, s.sum.view({N, C}).sum(0));
  }
  return grads;
}

} // namespace at::native
