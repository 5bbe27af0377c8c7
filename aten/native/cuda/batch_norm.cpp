// Batch and group normalization: the host side of batch_norm.cu. Arguments are checked by
// aten/native/composite/{batch_norm,norm}.cpp and aten/shape/nn.cpp.
#include <aten/Functions.h>
#include <aten/core/Tensor.h>
#include <aten/core/dtype_dispatch.h>
#include <aten/cuda/CUDAContext.h>
#include <aten/native/cuda/batch_norm.h>
#include <aten/native/cuda/copy.h>
#include <aten/native/cuda/workspace.h>
#include <aten/native/support/optional_tensor.h>
#include <c10/cuda/CUDAStream.h>

#include <array>
#include <optional>
#include <tuple>
#include <utility>

namespace at::native {

using TensorTuple3 = std::tuple<Tensor, Tensor, Tensor>;
using OptionalTensor = std::optional<Tensor>;

// Checks, and results that are allocated but not filled.
TensorTuple3 native_batch_norm_meta(
    const Tensor& input,
    const OptionalTensor& weight,
    const OptionalTensor& bias,
    const OptionalTensor& running_mean,
    const OptionalTensor& running_var,
    bool training,
    double momentum,
    double eps);
TensorTuple3 native_batch_norm_backward_meta(
    const Tensor& grad_out,
    const Tensor& input,
    const OptionalTensor& weight,
    const OptionalTensor& running_mean,
    const OptionalTensor& running_var,
    const OptionalTensor& save_mean,
    const OptionalTensor& save_invstd,
    bool train,
    double eps,
    std::array<bool, 3> output_mask);
TensorTuple3 native_group_norm_backward_meta(
    const Tensor& grad_out,
    const Tensor& input,
    const Tensor& mean,
    const Tensor& rstd,
    const OptionalTensor& weight,
    int64_t N,
    int64_t C,
    int64_t HxW,
    int64_t group,
    std::array<bool, 3> output_mask);

namespace {

void check_norm_dtype(const char* op, const TensorBase& t) {
  if (!kFloating.contains(t.scalar_type())) {
    at::detail::dtype_not_supported(op, t.scalar_type(), kFloating.bits);
  }
}

c10::ScalarType statistic_dtype(const TensorBase& input) {
  return input.scalar_type() == kDouble ? kDouble : kFloat;
}

/// Numbers of channels as kernels read them: dense, wide or in the dtype of the elements. Keeps the tensor that they
/// are in.
struct StatInput {
  Tensor tensor;

  StatInput(const OptionalTensor& t, const Tensor& input) : tensor(defined_or_empty(t)) {
    if (tensor.defined()) {
      const bool fits = tensor.scalar_type() == input.scalar_type() || tensor.scalar_type() == statistic_dtype(input);
      tensor = (fits ? tensor : tensor.to(statistic_dtype(input))).contiguous();
    }
  }
  operator cuda::GivenNumbers() const {
    return {
        tensor.defined() ? tensor.const_data_ptr() : nullptr,
        tensor.defined() && isReducedFloatingType(tensor.scalar_type())};
  }
};

/// Dense numbers that kernels write, or none.
cuda::WantedNumbers wanted(const TensorBase& t) {
  return t.defined() ? cuda::WantedNumbers{t.mutable_data_ptr(), isReducedFloatingType(t.scalar_type())}
                     : cuda::WantedNumbers{};
}
cuda::GivenNumbers as_given(const cuda::WantedNumbers& numbers) {
  return {numbers.data, numbers.narrow};
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
  return {
      last ? others : input.size(0), channels, last ? 1 : others / input.size(0), input.scalar_type(),
      c10::cuda::getCurrentCUDAStream()};
}

/// Arrays of wide numbers for each channel, for the length of a call.
class StatBuffer {
 public:
  StatBuffer(const cuda::Channels& p, int64_t arrays)
      : array_bytes_(static_cast<std::size_t>(p.channels) * (p.dtype == kDouble ? 8 : 4)),
        memory_(static_cast<std::size_t>(arrays) * array_bytes_, p.stream) {}
  void* array(int64_t i) const {
    return static_cast<char*>(memory_.data()) + static_cast<std::size_t>(i) * array_bytes_;
  }

 private:
  std::size_t array_bytes_;
  cuda::Workspace memory_;
};

/// launch(splits, parts) with `numbers` wide numbers for each channel and split, where there is more than one split.
template <class Launch>
void with_parts(const cuda::Channels& p, int64_t numbers, Launch launch) {
  const int splits = cuda::channel_splits(p, at::cuda::getCurrentDeviceProperties()->multiProcessorCount);
  if (splits == 1) {
    return launch(splits, nullptr);
  }
  const StatBuffer parts(p, numbers * splits);
  launch(splits, parts.array(0));
}

void moments(const cuda::Channels& p, const Tensor& x, const cuda::MomentsTo& to) {
  with_parts(
      p, 3, [&](int splits, void* parts) { cuda::launch_channel_moments(p, splits, x.const_data_ptr(), parts, to); });
}

void sums(
    const cuda::Channels& p,
    const Tensor& g,
    const Tensor& x,
    cuda::GivenNumbers mean,
    int64_t width,
    const cuda::SumsTo& to) {
  with_parts(p, 2, [&](int splits, void* parts) {
    cuda::launch_channel_sums(p, splits, g.const_data_ptr(), x.const_data_ptr(), mean, width, parts, to);
  });
}

/// The mean and 1 / deviation that elements are normalized by: what is saved of them where that is wide, else arrays of
/// their own.
struct NormalizedBy {
  std::optional<StatBuffer> own;
  cuda::MomentsTo to{};

  NormalizedBy(const cuda::Channels& p, const TensorBase& mean, const TensorBase& invstd, double momentum, double eps) {
    to.mean = wanted(mean);
    to.invstd = wanted(invstd);
    to.momentum = momentum;
    to.eps = eps;
    if (to.mean.narrow) {
      own.emplace(p, 2);
      to.save_mean = std::exchange(to.mean, {own->array(0), false});
      to.save_invstd = std::exchange(to.invstd, {own->array(1), false});
    }
  }
};

/// `wanted`, or where it lies otherwise a tensor in `format` that is to be copied there.
Tensor target_in(const Tensor& wanted, MemoryFormat format) {
  return wanted.is_contiguous(format) ? wanted : at::empty_like(wanted, wanted.options(), format);
}
void finish(const Tensor& wanted, const Tensor& written) {
  if (wanted.defined() && written.defined() && !written.is_same(wanted)) {
    cuda::copy_on_device(wanted, written);
  }
}

/// Running statistics where the kernel can move them, written back when done.
struct Running {
  Tensor given, used;

  Running(const OptionalTensor& t, const Tensor& input)
      : given(defined_or_empty(t)), used(StatInput(t, input).tensor) {}
  void finish() const {
    if (given.defined() && !used.is_same(given)) {
      cuda::copy_on_device(given, used.view(given.sizes()));
    }
  }
};

void zero_if_defined(const TensorTuple3& tensors) {
  for (const Tensor* t : {&std::get<0>(tensors), &std::get<1>(tensors), &std::get<2>(tensors)}) {
    if (t->defined()) {
      Tensor(*t).zero_();
    }
  }
}

} // namespace

TensorTuple3 native_batch_norm_cuda(
    const Tensor& input,
    const OptionalTensor& weight,
    const OptionalTensor& bias,
    const OptionalTensor& running_mean,
    const OptionalTensor& running_var,
    bool training,
    double momentum,
    double eps) {
  check_norm_dtype("native_batch_norm", input);
  const TensorTuple3 results =
      native_batch_norm_meta(input, weight, bias, running_mean, running_var, training, momentum, eps);
  const auto& [output, save_mean, save_invstd] = results;
  if (input.numel() == 0) {
    zero_if_defined(results);
    return results;
  }
  const auto format = dense_format(input);
  const Tensor x = input.contiguous(format);
  const StatInput w(weight, input), b(bias, input);
  const Running run_mean(running_mean, input), run_var(running_var, input);
  const cuda::Channels p = channels_of(x, format);
  const Tensor dense = target_in(output, format);
  cuda::ChannelAffine by{{}, {}, w, b, !training, eps, 1, p.channels};
  std::optional<NormalizedBy> normalized;
  if (training) {
    cuda::MomentsTo& to = normalized.emplace(p, save_mean, save_invstd, momentum, eps).to;
    to.running_mean = wanted(run_mean.used);
    to.running_var = wanted(run_var.used);
    moments(p, x, to);
    by.mean = as_given(to.mean);
    by.spread = as_given(to.invstd);
  } else {
    by.mean = as_given(wanted(run_mean.used));
    by.spread = as_given(wanted(run_var.used));
  }
  cuda::launch_channel_affine(p, x.const_data_ptr(), by, dense.mutable_data_ptr());
  finish(output, dense);
  if (training) {
    run_mean.finish();
    run_var.finish();
  }
  return results;
}

TensorTuple3 native_batch_norm_backward_cuda(
    const Tensor& grad_out,
    const Tensor& input,
    const OptionalTensor& weight,
    const OptionalTensor& running_mean,
    const OptionalTensor& running_var,
    const OptionalTensor& save_mean,
    const OptionalTensor& save_invstd,
    bool train,
    double eps,
    std::array<bool, 3> output_mask) {
  check_norm_dtype("native_batch_norm_backward", input);
  const TensorTuple3 grads = native_batch_norm_backward_meta(
      grad_out, input, weight, running_mean, running_var, save_mean, save_invstd, train, eps, output_mask);
  const auto& [grad_input, grad_weight, grad_bias] = grads;
  if (input.numel() == 0) {
    zero_if_defined(grads);
    return grads;
  }
  const auto format = dense_format(input);
  const Tensor x = input.contiguous(format), g = grad_out.contiguous(format);
  const StatInput w(weight, input), mean(train ? save_mean : running_mean, input),
      spread(train ? save_invstd : running_var, input);
  const cuda::Channels p = channels_of(x, format);
  std::optional<StatBuffer> factors;
  cuda::SumsTo to{};
  if (grad_input.defined()) {
    factors.emplace(p, 3);
    to.factor = factors->array(0);
    to.offset = factors->array(1);
    to.g_factor = factors->array(2);
  }
  to.grad_weight = wanted(grad_weight);
  to.grad_bias = wanted(grad_bias);
  to.spread = spread;
  to.weight = w;
  to.training = train;
  to.count = static_cast<double>(p.outer * p.inner);
  to.eps = eps;
  sums(p, g, x, mean, 1, to);
  if (grad_input.defined()) {
    const Tensor dense = target_in(grad_input, format);
    cuda::launch_channel_gradient(
        p, x.const_data_ptr(), g.const_data_ptr(), {mean, 1, to.factor, to.offset, to.g_factor},
        dense.mutable_data_ptr());
    finish(grad_input, dense);
  }
  return grads;
}

std::tuple<Tensor, Tensor> batch_norm_update_stats_cuda(
    const Tensor& input, const OptionalTensor& running_mean, const OptionalTensor& running_var, double momentum) {
  check_norm_dtype("batch_norm_update_stats", input);
  TORCH_CHECK(input.numel() != 0, "input tensor must have at least one element, but got input_sizes = ", input.sizes());
  const auto dtype =
      std::get<1>(native_batch_norm_meta(input, {}, {}, running_mean, running_var, /*training=*/true, momentum, 0))
          .scalar_type();
  const auto format = dense_format(input);
  const Tensor x = input.contiguous(format);
  const cuda::Channels p = channels_of(x, format);
  const Running run_mean(running_mean, input), run_var(running_var, input);
  const auto options = x.options().dtype(dtype);
  const Tensor mean = at::empty({p.channels}, options), variance = at::empty({p.channels}, options);
  cuda::MomentsTo to{};
  to.mean = wanted(mean);
  to.variance = wanted(variance);
  to.running_mean = wanted(run_mean.used);
  to.running_var = wanted(run_var.used);
  to.momentum = momentum;
  moments(p, x, to);
  run_mean.finish();
  run_var.finish();
  return {mean, variance};
}

// ---- groups ------------------------------------------------------------------------------------

namespace cuda {

void group_norm_kernel(
    const TensorBase& input,
    const std::optional<Tensor>& weight,
    const std::optional<Tensor>& bias,
    int64_t N,
    int64_t C,
    int64_t HxW,
    int64_t group,
    double eps,
    const TensorBase& out,
    const TensorBase& mean,
    const TensorBase& rstd) {
  check_norm_dtype("native_group_norm", input);
  if (input.numel() == 0) {
    mean.zero_();
    rstd.zero_();
    return;
  }
  const Tensor x = Tensor(input).contiguous();
  const StatInput w(weight, x), b(bias, x);
  const cudaStream_t stream = c10::cuda::getCurrentCUDAStream();
  const Channels groups{1, N * group, C / group * HxW, input.scalar_type(), stream};
  const NormalizedBy normalized(groups, mean, rstd, 0, eps);
  moments(groups, x, normalized.to);
  launch_channel_affine(
      {1, N * C, HxW, input.scalar_type(), stream}, x.const_data_ptr(),
      {as_given(normalized.to.mean), as_given(normalized.to.invstd), w, b, /*spread_is_variance=*/false, eps, C / group,
       C},
      out.mutable_data_ptr());
}

} // namespace cuda

TensorTuple3 native_group_norm_backward_cuda(
    const Tensor& grad_out,
    const Tensor& input,
    const Tensor& mean,
    const Tensor& rstd,
    const OptionalTensor& weight,
    int64_t N,
    int64_t C,
    int64_t HxW,
    int64_t group,
    std::array<bool, 3> output_mask) {
  check_norm_dtype("native_group_norm_backward", input);
  const TensorTuple3 grads =
      native_group_norm_backward_meta(grad_out, input, mean, rstd, weight, N, C, HxW, group, output_mask);
  const auto& [grad_input, grad_weight, grad_bias] = grads;
  if (input.numel() == 0) {
    zero_if_defined(grads);
    return grads;
  }
  const Tensor x = input.contiguous(), g = grad_out.contiguous();
  const StatInput w(weight, input), means(mean, input), reciprocals(rstd, input);
  const cudaStream_t stream = c10::cuda::getCurrentCUDAStream();
  const cuda::GroupNorm p{N, group, C / group, HxW, input.scalar_type(), stream};
  const cuda::Channels channels{1, N * C, HxW, input.scalar_type(), stream};
  const StatBuffer numbers(channels, grad_input.defined() ? 5 : 2);
  cuda::SumsTo to{};
  to.sum = numbers.array(0);
  to.moment = numbers.array(1);
  sums(channels, g, x, means, p.width, to);
  if (grad_input.defined()) {
    const cuda::ChannelGradient by{means, p.width, numbers.array(2), numbers.array(3), numbers.array(4)};
    cuda::launch_group_norm_factors(
        p, reciprocals, w, to.sum, to.moment, numbers.array(2), numbers.array(3), numbers.array(4));
    const Tensor dense = target_in(grad_input, MemoryFormat::Contiguous);
    cuda::launch_channel_gradient(channels, x.const_data_ptr(), g.const_data_ptr(), by, dense.mutable_data_ptr());
    finish(grad_input, dense);
  }
  if (grad_weight.defined() || grad_bias.defined()) {
    cuda::launch_group_norm_weights(p, reciprocals, to.sum, to.moment, wanted(grad_weight), wanted(grad_bias));
  }
  return grads;
}

} // namespace at::native
