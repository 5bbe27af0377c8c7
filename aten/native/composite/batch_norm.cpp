// Batch and instance normalization: checks, running statistics, and the public operators.

#include <aten/Functions.h>
#include <aten/core/OpMathType.h>
#include <aten/core/TensorOperators.h>
#include <aten/core/Tensor.h>
#include <aten/core/TensorSpec.h>
#include <aten/native/support/batch_norm_parts.h>
#include <aten/native/support/optional_tensor.h>
#include <aten/native/support/cpu_isa.h>
#include <aten/shape/operand_checks.h>
#include <c10/core/GradMode.h>

#include <cmath>

namespace at::native {
namespace {

using TensorTuple3 = std::tuple<Tensor, Tensor, Tensor>;
using OptionalTensor = std::optional<Tensor>;

constexpr void (*forward_table[])(const BatchNorm&) = {
    v2::batch_norm_forward_kernel, v3::batch_norm_forward_kernel, v4::batch_norm_forward_kernel};

/// Throws unless each tensor that is there has one element a channel, and all of them one dtype that fits the input.
/// Returns that dtype.
c10::ScalarType check_channels(
    const char* op, const Tensor& input, std::initializer_list<std::pair<const char*, const Tensor*>> tensors) {
  const int64_t channels = input.size(1);
  const bool narrow = input.scalar_type() == kHalf || input.scalar_type() == kBFloat16;
  std::optional<c10::ScalarType> dtype;
  for (const auto& [name, t] : tensors) {
    if (!t->defined()) {
      continue;
    }
    TORCH_CHECK(t->numel() == channels, name, " should contain ", channels, " elements not ", t->numel());
    TORCH_CHECK(
        t->dim() == 1 || !std::string_view(name).starts_with("running"),
        "TensorAccessor expected 1 dims but tensor has ", t->dim(), ": ", name, " of ", op, " must be a vector");
    TORCH_CHECK(
        t->scalar_type() == input.scalar_type() || (narrow && t->scalar_type() == kFloat),
        std::string_view(name) == "weight" ? "mixed dtype (CPU): expect parameter to have scalar type of Float; " : "",
        "expected scalar type ", input.scalar_type(), " but found ", t->scalar_type(), ": ", name, " of ", op,
        " must have the dtype of the input");
    TORCH_CHECK(
        !dtype.has_value() || *dtype == t->scalar_type(), "mixed dtype (CPU): expect all parameters of ", op,
        " to have the same scalar type; got ", t->scalar_type(), " for ", name, " beside ", dtype.value_or(kFloat));
    TORCH_CHECK(
        t->device() == input.device(),
        "Expected all tensors to be on the same device, but found at least two devices, ", input.device(), " and ",
        t->device(), "! (in ", op, ")");
    dtype = t->scalar_type();
  }
  return dtype.value_or(input.scalar_type());
}

Tensor channel_doubles(const Tensor& input) {
  return at::empty_spec(TensorSpec::like(input, {input.size(1)}, kDouble));
}

void move_towards(const Tensor& running, const Tensor& value, double momentum) {
  if (running.defined()) {
    running.copy_(moved_statistics(running, value, momentum));
  }
}

/// Mean and variance by the input, with the running statistics moved towards them.
void take_statistics(
    BatchNorm& p, const Tensor& input, const Tensor& running_mean, const Tensor& running_var, double momentum) {
  const Tensor mean = channel_doubles(input), variance = channel_doubles(input);
  p.mean = mean;
  p.variance = variance;
  compute_batch_norm_moments(p);
  const double count = static_cast<double>(p.batch * p.spatial);
  move_towards(running_mean, mean, momentum);
  if (running_var.defined()) {
    move_towards(running_var, variance.mul(count / (count - 1)), momentum);
  }
}

void check_statistics_given(const char* op, const Tensor& running_mean, const Tensor& running_var, bool training) {
  TORCH_CHECK(
      training || (running_mean.defined() && running_var.defined()),
      running_mean.defined() ? "running_var" : "running_mean", " must be defined in evaluation mode (in ", op, ")");
}

/// By rows or with channels last; other orders of the input's dimensions are not kept.
Tensor like_in_format(const Tensor& input) {
  return at::empty_like(input, input.options(), input.suggest_memory_format());
}

TensorTuple3 forward_outputs(const Tensor& input, c10::ScalarType dtype, bool training) {
  const int64_t saved = training ? input.size(1) : 0;
  const TensorSpec stat = TensorSpec::like(input, {saved}, dtype);
  return {like_in_format(input), at::empty_spec(stat), at::empty_spec(stat)};
}

TensorTuple3 backward_outputs(const Tensor& input, c10::ScalarType dtype, std::array<bool, 3> mask) {
  const auto channel = [&] { return at::empty_spec(TensorSpec::like(input, {input.size(1)}, dtype)); };
  return {mask[0] ? like_in_format(input) : Tensor(), mask[1] ? channel() : Tensor(), mask[2] ? channel() : Tensor()};
}

c10::ScalarType check_forward(
    const Tensor& input,
    const OptionalTensor& weight,
    const OptionalTensor& bias,
    const OptionalTensor& running_mean,
    const OptionalTensor& running_var,
    bool training) {
  const Tensor w = defined_or_empty(weight), b = defined_or_empty(bias), m = defined_or_empty(running_mean),
               v = defined_or_empty(running_var);
  check_statistics_given("native_batch_norm", m, v, training);
  return check_channels(
      "native_batch_norm", input, {{"running_mean", &m}, {"running_var", &v}, {"weight", &w}, {"bias", &b}});
}

c10::ScalarType check_backward(
    const Tensor& grad_out,
    const Tensor& input,
    const OptionalTensor& weight,
    const OptionalTensor& running_mean,
    const OptionalTensor& running_var,
    const OptionalTensor& save_mean,
    const OptionalTensor& save_invstd,
    bool train) {
  const Tensor w = defined_or_empty(weight);
  const Tensor m = defined_or_empty(train ? save_mean : running_mean),
               v = defined_or_empty(train ? save_invstd : running_var);
  TORCH_CHECK(
      m.defined() && v.defined(),
      "native_batch_norm_backward: the statistics that the forward pass used must be given");
  // The others as well: which device computes follows from all tensors.
  for (const OptionalTensor* t : {&running_mean, &running_var, &save_mean, &save_invstd}) {
    if (const Tensor other = defined_or_empty(*t); other.defined()) {
      at::shape::check_same_device("native_batch_norm_backward", {&input, &other});
    }
  }
  TORCH_CHECK(
      grad_out.sizes() == input.sizes() && grad_out.scalar_type() == input.scalar_type(),
      "native_batch_norm_backward: grad_out must be like input; got ", grad_out.sizes(), " of ", grad_out.scalar_type(),
      " for ", input.sizes(), " of ", input.scalar_type());
  const c10::ScalarType dtype = check_channels(
      "native_batch_norm_backward", input,
      {{train ? "save_mean" : "running_mean", &m}, {train ? "save_invstd" : "running_var", &v}});
  check_channels("native_batch_norm_backward", input, {{"weight", &w}});
  return w.defined() ? w.scalar_type() : dtype;
}

} // namespace

TensorTuple3 native_batch_norm(
    const Tensor& input,
    const OptionalTensor& weight,
    const OptionalTensor& bias,
    const OptionalTensor& running_mean,
    const OptionalTensor& running_var,
    bool training,
    double momentum,
    double eps) {
  const c10::ScalarType dtype = check_forward(input, weight, bias, running_mean, running_var, training);
  TensorTuple3 results = forward_outputs(input, dtype, training);
  const auto& [output, save_mean, save_invstd] = results;
  const Tensor run_mean = defined_or_empty(running_mean), run_var = defined_or_empty(running_var);
  const auto format = batch_norm_format(input);
  BatchNorm p = batch_norm_problem(input, format, eps);
  if (training) {
    take_statistics(p, input, run_mean, run_var, momentum);
    save_mean.copy_(Tensor(p.mean));
    save_invstd.copy_(Tensor(p.variance).add(eps).rsqrt());
  } else {
    p.mean = run_mean.to(kDouble).contiguous();
    p.variance = run_var.to(kDouble).contiguous();
  }
  const Tensor w = defined_or_empty(weight), b = defined_or_empty(bias);
  if (w.defined()) {
    p.weight = w.contiguous();
  }
  if (b.defined()) {
    p.bias = b.contiguous();
  }
  const Tensor dense = output.is_contiguous(format) ? output : at::empty_like(input, input.options(), format);
  p.output = dense;
  forward_table[cpu_isa_level()](p);
  if (!dense.is_same(output)) {
    output.copy_(dense);
  }
  return results;
}

TORCH_API TensorTuple3 native_batch_norm_meta(
    const Tensor& input,
    const OptionalTensor& weight,
    const OptionalTensor& bias,
    const OptionalTensor& running_mean,
    const OptionalTensor& running_var,
    bool training,
    double,
    double) {
  return forward_outputs(input, check_forward(input, weight, bias, running_mean, running_var, training), training);
}

TensorTuple3 native_batch_norm_backward(
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
  const c10::ScalarType dtype =
      check_backward(grad_out, input, weight, running_mean, running_var, save_mean, save_invstd, train);
  TensorTuple3 grads = backward_outputs(input, dtype, output_mask);
  const auto& [grad_input, grad_weight, grad_bias] = grads;
  const auto format = batch_norm_format(input);
  BatchNorm p = batch_norm_problem(input, format, eps);
  const Tensor grad = grad_out.contiguous(format), w = defined_or_empty(weight);
  p.grad = grad;
  p.train = train;
  p.mean = (train ? *save_mean : *running_mean).to(kDouble).contiguous();
  // Saved is the reciprocal of the deviation, eps included.
  p.variance = train ? save_invstd->to(kDouble).pow(-2).contiguous() : running_var->to(kDouble).contiguous();
  if (train) {
    p.eps = 0;
  }
  if (w.defined()) {
    p.weight = w.contiguous();
  }
  p.grad_weight = grad_weight;
  p.grad_bias = grad_bias;
  Tensor dense;
  if (grad_input.defined()) {
    dense = grad_input.is_contiguous(format) ? grad_input : at::empty_like(input, input.options(), format);
    p.grad_input = dense;
  }
  compute_batch_norm_backward(p);
  if (dense.defined() && !dense.is_same(grad_input)) {
    grad_input.copy_(dense);
  }
  return grads;
}

TORCH_API TensorTuple3 native_batch_norm_backward_meta(
    const Tensor& grad_out,
    const Tensor& input,
    const OptionalTensor& weight,
    const OptionalTensor& running_mean,
    const OptionalTensor& running_var,
    const OptionalTensor& save_mean,
    const OptionalTensor& save_invstd,
    bool train,
    double,
    std::array<bool, 3> output_mask) {
  return backward_outputs(
      input, check_backward(grad_out, input, weight, running_mean, running_var, save_mean, save_invstd, train),
      output_mask);
}

std::tuple<Tensor, Tensor> batch_norm_update_stats(
    const Tensor& input, const OptionalTensor& running_mean, const OptionalTensor& running_var, double momentum) {
  const Tensor run_mean = defined_or_empty(running_mean), run_var = defined_or_empty(running_var);
  const c10::ScalarType dtype =
      check_channels("batch_norm_update_stats", input, {{"running_mean", &run_mean}, {"running_var", &run_var}});
  TORCH_CHECK(input.numel() != 0, "input tensor must have at least one element, but got input_sizes = ", input.sizes());
  BatchNorm p = batch_norm_problem(input, batch_norm_format(input), 0);
  take_statistics(p, input, run_mean, run_var, momentum);
  return {Tensor(p.mean).to(dtype), Tensor(p.variance).to(dtype)};
}

// ---- public forms --------------------------------------------------------------------------------------------------

std::tuple<Tensor, Tensor, Tensor, Tensor, int64_t> _batch_norm_impl_index(
    const Tensor& input,
    const OptionalTensor& weight,
    const OptionalTensor& bias,
    const OptionalTensor& running_mean,
    const OptionalTensor& running_var,
    bool training,
    double momentum,
    double eps,
    bool) {
  const Tensor reserve = at::empty({0}, input.options().dtype(kByte));
  if (input.numel() == 0) {
    // A copy that hangs on the graph, so that the parameters get gradients of zero.
    Tensor out = input.clone();
    if (weight.has_value() && weight->defined()) {
      out = out * weight->select(0, 0);
    }
    if (bias.has_value() && bias->defined()) {
      out = out + bias->select(0, 0);
    }
    const Tensor none = at::empty({0}, input.options());
    return {out, none, none, reserve, 0};
  }
  const auto [out, mean, invstd] =
      at::native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps);
  return {out, mean, invstd, reserve, 0};
}

TensorTuple3 _batch_norm_impl_index_backward(
    int64_t impl_index,
    const Tensor& input,
    const Tensor& grad_output,
    const OptionalTensor& weight,
    const OptionalTensor& running_mean,
    const OptionalTensor& running_var,
    const OptionalTensor& save_mean,
    const OptionalTensor& save_var_transform,
    bool train,
    double eps,
    std::array<bool, 3> output_mask,
    const Tensor&) {
  TORCH_CHECK(
      impl_index == 0, "Unsupported impl_index in _batch_norm_impl_index_backward: ", impl_index,
      "; only 0 exists here");
  if (input.numel() == 0) {
    const Tensor none = defined_or_empty(weight);
    const int64_t channels = input.size(1);
    const auto zeros = [&] { return at::zeros({channels}, (none.defined() ? none : input).options()); };
    return {
        output_mask[0] ? at::zeros_like(input) : Tensor(), output_mask[1] ? zeros() : Tensor(),
        output_mask[2] ? zeros() : Tensor()};
  }
  return at::native_batch_norm_backward(
      grad_output, input, weight, running_mean, running_var, save_mean, save_var_transform, train, eps, output_mask);
}

Tensor batch_norm(
    const Tensor& input,
    const OptionalTensor& weight,
    const OptionalTensor& bias,
    const OptionalTensor& running_mean,
    const OptionalTensor& running_var,
    bool training,
    double momentum,
    double eps,
    bool cudnn_enabled) {
  return std::get<0>(at::_batch_norm_impl_index(
      input, weight, bias, running_mean, running_var, training, momentum, eps, cudnn_enabled));
}

TensorTuple3 _native_batch_norm_legit(
    const Tensor& input,
    const OptionalTensor& weight,
    const OptionalTensor& bias,
    Tensor& running_mean,
    Tensor& running_var,
    bool training,
    double momentum,
    double eps) {
  return at::native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps);
}

TensorTuple3 _native_batch_norm_legit_no_stats(
    const Tensor& input,
    const OptionalTensor& weight,
    const OptionalTensor& bias,
    bool training,
    double momentum,
    double eps) {
  return at::native_batch_norm(input, weight, bias, {}, {}, training, momentum, eps);
}

TensorTuple3 _native_batch_norm_legit_no_training(
    const Tensor& input,
    const OptionalTensor& weight,
    const OptionalTensor& bias,
    const Tensor& running_mean,
    const Tensor& running_var,
    double momentum,
    double eps) {
  return at::native_batch_norm(input, weight, bias, running_mean, running_var, false, momentum, eps);
}

Tensor instance_norm(
    const Tensor& input,
    const OptionalTensor& weight,
    const OptionalTensor& bias,
    const OptionalTensor& running_mean,
    const OptionalTensor& running_var,
    bool use_input_stats,
    double momentum,
    double eps,
    bool cudnn_enabled) {
  const Tensor mean = defined_or_empty(running_mean), var = defined_or_empty(running_var);
  TORCH_CHECK(
      use_input_stats || (mean.defined() && var.defined()),
      "Expected running_mean and running_var to be defined when use_input_stats is false");
  // Every channel of every sample is a channel of one batch.
  const int64_t batch = input.size(0), channels = input.size(1);
  DimVector sizes(input.sizes().begin(), input.sizes().end());
  sizes[0] = 1;
  sizes[1] = batch * channels;
  const auto repeated = [&](const OptionalTensor& t) {
    return t.has_value() && t->defined() ? t->repeat({batch}) : Tensor();
  };
  const Tensor means = repeated(running_mean), vars = repeated(running_var);
  const Tensor out = at::batch_norm(
      input.contiguous().view(sizes), repeated(weight), repeated(bias), means, vars, use_input_stats, momentum, eps,
      cudnn_enabled);
  const auto average_into = [&](const Tensor& running, const Tensor& all) {
    if (running.defined()) {
      running.detach().copy_(all.view({batch, channels}).mean({0}));
    }
  };
  average_into(mean, means);
  average_into(var, vars);
  return out.view(input.sizes());
}

// ---- forms that name what happens to the running statistics
// ----------------------------------------------------------------

namespace {

/// What a library keeps for its backward pass. There is none here.
Tensor no_reserve(const Tensor& input) {
  return at::empty({0}, input.options().dtype(kByte));
}

} // namespace

std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor> _native_batch_norm_legit_functional(
    const Tensor& input,
    const OptionalTensor& weight,
    const OptionalTensor& bias,
    const Tensor& running_mean,
    const Tensor& running_var,
    bool training,
    double momentum,
    double eps) {
  Tensor mean = running_mean.clone(), var = running_var.clone();
  auto [out, save_mean, save_invstd] = at::native_batch_norm(input, weight, bias, mean, var, training, momentum, eps);
  return {std::move(out), std::move(save_mean), std::move(save_invstd), std::move(mean), std::move(var)};
}

std::tuple<Tensor, Tensor, Tensor, Tensor> _batch_norm_with_update(
    const Tensor& input,
    const OptionalTensor& weight,
    const OptionalTensor& bias,
    Tensor& running_mean,
    Tensor& running_var,
    double momentum,
    double eps) {
  auto [out, save_mean, save_invstd] =
      at::native_batch_norm(input, weight, bias, running_mean, running_var, /*training=*/true, momentum, eps);
  return {std::move(out), std::move(save_mean), std::move(save_invstd), no_reserve(input)};
}

std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor, Tensor> _batch_norm_with_update_functional(
    const Tensor& input,
    const OptionalTensor& weight,
    const OptionalTensor& bias,
    const Tensor& running_mean,
    const Tensor& running_var,
    double momentum,
    double eps) {
  auto [out, save_mean, save_invstd, mean, var] = at::native::_native_batch_norm_legit_functional(
      input, weight, bias, running_mean, running_var, /*training=*/true, momentum, eps);
  return {std::move(out),    std::move(save_mean), std::move(save_invstd),
          no_reserve(input), std::move(mean),      std::move(var)};
}

std::tuple<Tensor, Tensor, Tensor, Tensor> _batch_norm_no_update(
    const Tensor& input,
    const OptionalTensor& weight,
    const OptionalTensor& bias,
    const OptionalTensor& running_mean,
    const OptionalTensor& running_var,
    double momentum,
    double eps) {
  TORCH_CHECK_VALUE(defined_or_empty(running_mean).defined(), "running_mean must be defined in evaluation mode");
  TORCH_CHECK_VALUE(defined_or_empty(running_var).defined(), "running_var must be defined in evaluation mode");
  auto [out, save_mean, save_invstd] =
      at::native_batch_norm(input, weight, bias, running_mean, running_var, /*training=*/false, momentum, eps);
  return {std::move(out), std::move(save_mean), std::move(save_invstd), no_reserve(input)};
}

TensorTuple3 batch_norm_backward(
    const Tensor& grad_out,
    const Tensor& input,
    const Tensor& weight,
    const OptionalTensor& running_mean,
    const OptionalTensor& running_var,
    const OptionalTensor& save_mean,
    const OptionalTensor& save_var,
    bool update,
    double eps,
    std::array<bool, 3> output_mask,
    const Tensor&) {
  return at::native_batch_norm_backward(
      grad_out, input, weight, running_mean, running_var, save_mean, save_var, update, eps, output_mask);
}

std::tuple<Tensor, Tensor, Tensor, Tensor> cudnn_batch_norm(
    const Tensor& input,
    const Tensor& weight,
    const OptionalTensor& bias,
    const OptionalTensor& running_mean,
    const OptionalTensor& running_var,
    bool training,
    double exponential_average_factor,
    double epsilon) {
  auto [out, save_mean, save_invstd] = at::native_batch_norm(
      input, weight, bias, running_mean, running_var, training, exponential_average_factor, epsilon);
  return {std::move(out), std::move(save_mean), std::move(save_invstd), no_reserve(input)};
}

TensorTuple3 cudnn_batch_norm_backward(
    const Tensor& input,
    const Tensor& grad_output,
    const Tensor& weight,
    const OptionalTensor& running_mean,
    const OptionalTensor& running_var,
    const OptionalTensor& save_mean,
    const OptionalTensor& save_var,
    double epsilon,
    const Tensor&) {
  return at::native_batch_norm_backward(
      grad_output, input, weight, running_mean, running_var, save_mean, save_var, /*train=*/true, epsilon,
      {true, true, true});
}

// ---- steps of a batch norm over several processes
// ------------------------------------------------------------------------

namespace {

/// A tensor as sums are made of it: half and bfloat16 as float.
Tensor as_sum(const Tensor& t) {
  return t.to(c10::toOpMathType(t.scalar_type()));
}

/// The dimensions but that of channels.
DimVector other_dims(const char* op, const Tensor& input) {
  TORCH_CHECK(
      input.dim() >= 2 && input.is_floating_point(), op, ": expected a floating input of at least 2 dimensions, got ",
      input.sizes(), " of ", input.scalar_type());
  DimVector dims;
  for (int64_t d = 0; d < input.dim(); ++d) {
    if (d != 1) {
      dims.push_back(d);
    }
  }
  return dims;
}

/// One number for each channel, as it meets the input.
Tensor by_channel(const char* op, const char* name, const Tensor& t, const Tensor& input) {
  TORCH_CHECK(
      t.dim() == 1 && t.size(0) == input.size(1), op, ": ", name, " must have one element for each of ", input.size(1),
      " channels, got ", t.sizes());
  DimVector sizes(input.dim(), 1);
  sizes[1] = t.size(0);
  return as_sum(t).view(sizes);
}

void check_like_input(const char* op, const Tensor& grad_out, const Tensor& input) {
  TORCH_CHECK(
      grad_out.sizes() == input.sizes(), op, ": grad_out must have the sizes of input, ", input.sizes(), "; got ",
      grad_out.sizes());
}

} // namespace

std::tuple<Tensor, Tensor> batch_norm_stats(const Tensor& input, double eps) {
  const DimVector dims = other_dims("batch_norm_stats", input);
  const auto [variance, mean] = at::var_mean(as_sum(input), IntArrayRef(dims), /*correction=*/0, /*keepdim=*/false);
  return {mean, variance.add(eps).rsqrt()};
}

Tensor batch_norm_elemt(
    const Tensor& input,
    const OptionalTensor& weight,
    const OptionalTensor& bias,
    const Tensor& mean,
    const Tensor& invstd,
    double) {
  constexpr const char* kOp = "batch_norm_elemt";
  other_dims(kOp, input);
  const Tensor w = defined_or_empty(weight), b = defined_or_empty(bias);
  Tensor factor = by_channel(kOp, "invstd", invstd, input);
  if (w.defined()) {
    factor = factor * by_channel(kOp, "weight", w, input);
  }
  Tensor result = (as_sum(input) - by_channel(kOp, "mean", mean, input)) * factor;
  if (b.defined()) {
    result = result + by_channel(kOp, "bias", b, input);
  }
  return result.to(input.scalar_type());
}

std::tuple<Tensor, Tensor> batch_norm_gather_stats_with_counts(
    const Tensor& input,
    const Tensor& mean,
    const Tensor& invstd,
    const OptionalTensor& running_mean,
    const OptionalTensor& running_var,
    double momentum,
    double eps,
    const Tensor& counts) {
  constexpr const char* kOp = "batch_norm_gather_stats_with_counts";
  other_dims(kOp, input);
  TORCH_CHECK(
      mean.dim() == 2 && mean.sizes() == invstd.sizes() && counts.numel() == mean.size(0), kOp,
      ": expected mean and invstd as [processes, channels] and a count for each process, got ", mean.sizes(), ", ",
      invstd.sizes(), " and ", counts.sizes());
  const Tensor means = as_sum(mean), count = counts.to(means.scalar_type()).view({-1, 1});
  const Tensor total = count.sum(), center = (means * count).sum(0) / total;
  const Tensor within = as_sum(invstd).pow(-2) - eps;
  const Tensor squares = ((within + (means - center).square()) * count).sum(0);
  const at::NoGradGuard no_grad;
  move_towards(defined_or_empty(running_mean), center, momentum);
  move_towards(defined_or_empty(running_var), squares / (total - 1), momentum);
  return {center, (squares / total + eps).rsqrt()};
}

std::tuple<Tensor, Tensor> batch_norm_gather_stats(
    const Tensor& input,
    const Tensor& mean,
    const Tensor& invstd,
    const OptionalTensor& running_mean,
    const OptionalTensor& running_var,
    double momentum,
    double eps,
    int64_t count) {
  TORCH_CHECK(mean.dim() == 2, "batch_norm_gather_stats: expected mean as [processes, channels], got ", mean.sizes());
  const Tensor counts = at::full({mean.size(0)}, count, as_sum(mean).options());
  return at::batch_norm_gather_stats_with_counts(input, mean, invstd, running_mean, running_var, momentum, eps, counts);
}

std::tuple<Tensor, Tensor, Tensor, Tensor> batch_norm_backward_reduce(
    const Tensor& grad_out,
    const Tensor& input,
    const Tensor& mean,
    const Tensor& invstd,
    const OptionalTensor& weight,
    bool input_g,
    bool weight_g,
    bool bias_g) {
  constexpr const char* kOp = "batch_norm_backward_reduce";
  const DimVector dims = other_dims(kOp, input);
  check_like_input(kOp, grad_out, input);
  const Tensor g = as_sum(grad_out), w = defined_or_empty(weight);
  const Tensor sum_dy = g.sum(dims),
               sum_dy_xmu = (g * (as_sum(input) - by_channel(kOp, "mean", mean, input))).sum(dims);
  const auto dtype = w.defined() ? w.scalar_type() : input.scalar_type();
  return {
      input_g ? sum_dy : Tensor(), input_g ? sum_dy_xmu : Tensor(),
      weight_g ? (sum_dy_xmu * as_sum(invstd)).to(dtype) : Tensor(), bias_g ? sum_dy.to(dtype) : Tensor()};
}

Tensor batch_norm_backward_elemt(
    const Tensor& grad_out,
    const Tensor& input,
    const Tensor& mean,
    const Tensor& invstd,
    const OptionalTensor& weight,
    const Tensor& sum_dy,
    const Tensor& sum_dy_xmu,
    const Tensor& count) {
  constexpr const char* kOp = "batch_norm_backward_elemt";
  other_dims(kOp, input);
  check_like_input(kOp, grad_out, input);
  const Tensor w = defined_or_empty(weight), scale = by_channel(kOp, "invstd", invstd, input);
  const Tensor share = count.sum().to(scale.scalar_type()).reciprocal();
  const Tensor slope = scale.square() * by_channel(kOp, "sum_dy_xmu", sum_dy_xmu, input) * share;
  const Tensor centered = as_sum(input) - by_channel(kOp, "mean", mean, input);
  const Tensor result = as_sum(grad_out) - by_channel(kOp, "sum_dy", sum_dy, input) * share - centered * slope;
  return (result * (w.defined() ? scale * by_channel(kOp, "weight", w, input) : scale)).to(input.scalar_type());
}

} // namespace at::native
