// Normalizations: the public operators, and backward passes that give only the gradients asked for.

#include <aten/Functions.h>
#include <aten/core/OpMathType.h>
#include <aten/core/TensorOperators.h>
#include <aten/core/Tensor.h>
#include <aten/core/dtype_dispatch.h>
#include <aten/core/TensorSpec.h>
#include <aten/native/support/optional_tensor.h>
#include <aten/native/cpu/norm.h>
#include <aten/native/support/cpu_isa.h>
#include <aten/shape/functions.h>
#include <aten/shape/norm_checks.h>
#include <aten/shape/operand_checks.h>
#include <c10/util/accumulate.h>

#include <limits>

namespace at::native {
namespace {

constexpr void (*layer_norm_backward_table[])(const NormBackward&) = {
    v2::layer_norm_backward_kernel, v3::layer_norm_backward_kernel, v4::layer_norm_backward_kernel};
constexpr void (*group_norm_backward_table[])(const NormBackward&) = {
    v2::group_norm_backward_kernel, v3::group_norm_backward_kernel, v4::group_norm_backward_kernel};

using TensorTuple3 = std::tuple<Tensor, Tensor, Tensor>;

/// Gradients of a backward pass as asked for: like the input, and twice like the weights.
TensorTuple3 wanted_gradients(
    const Tensor& input, IntArrayRef weight_sizes, c10::ScalarType weight_dtype, std::array<bool, 3> mask) {
  const auto like = [&](bool wanted, IntArrayRef sizes, c10::ScalarType dtype) {
    return wanted ? at::empty_spec(TensorSpec::like(input, sizes, dtype)) : Tensor();
  };
  return {
      like(mask[0], input.sizes(), input.scalar_type()), like(mask[1], weight_sizes, weight_dtype),
      like(mask[2], weight_sizes, weight_dtype)};
}

void check_statistics(
    const char* op, const Tensor& grad, const Tensor& input, const Tensor& mean, const Tensor& rstd, int64_t rows) {
  TORCH_CHECK(
      grad.sizes() == input.sizes() && grad.scalar_type() == input.scalar_type(), op,
      ": grad_out must be like input; got ", grad.sizes(), " of ", grad.scalar_type(), " for ", input.sizes(), " of ",
      input.scalar_type());
  TORCH_CHECK(
      mean.numel() == rows && rstd.numel() == rows && mean.scalar_type() == rstd.scalar_type(), op,
      ": mean and rstd must have ", rows, " elements each; got ", mean.numel(), " and ", rstd.numel());
}

TensorTuple3 layer_norm_backward_spec(
    const Tensor& input, IntArrayRef normalized_shape, const Tensor& mean, std::array<bool, 3> mask) {
  return wanted_gradients(input, normalized_shape, mean.scalar_type(), mask);
}

void check_layer_norm_backward(
    const Tensor& grad_out,
    const Tensor& input,
    IntArrayRef normalized_shape,
    const Tensor& mean,
    const Tensor& rstd,
    const std::optional<Tensor>& weight,
    const std::optional<Tensor>& bias) {
  const int64_t leading = at::shape::check_layer_norm(input, normalized_shape, weight, bias);
  const auto dtype = at::shape::check_norm_dtypes(input, weight, bias);
  check_statistics(
      "native_layer_norm_backward", grad_out, input, mean, rstd,
      c10::multiply_integers(input.sizes().slice(0, leading)));
  TORCH_CHECK(
      mean.scalar_type() == dtype, "native_layer_norm_backward: mean must have the dtype of the weights, ", dtype,
      "; got ", mean.scalar_type());
}

void check_group_norm_backward(
    const Tensor& grad_out,
    const Tensor& input,
    const Tensor& mean,
    const Tensor& rstd,
    const std::optional<Tensor>& weight,
    int64_t N,
    int64_t C,
    int64_t HxW,
    int64_t group) {
  const auto spec =
      at::shape::native_group_norm("native_group_norm_backward", input, weight, {}, N, C, HxW, group, 0.0);
  check_statistics("native_group_norm_backward", grad_out, input, mean, rstd, N * group);
  TORCH_CHECK(
      mean.scalar_type() == spec[1].dtype, "native_group_norm_backward: mean must have the dtype of the weights, ",
      spec[1].dtype, "; got ", mean.scalar_type());
}

TensorBase contiguous_or_none(const Tensor& t) {
  return t.defined() ? static_cast<const TensorBase&>(t).contiguous() : TensorBase();
}

NormBackward common_arguments(
    const Tensor& grad_out,
    const Tensor& input,
    const Tensor& mean,
    const Tensor& rstd,
    const std::optional<Tensor>& weight,
    const TensorTuple3& grads) {
  NormBackward p;
  p.grad = contiguous_or_none(grad_out);
  p.input = contiguous_or_none(input);
  p.mean = contiguous_or_none(mean);
  p.rstd = contiguous_or_none(rstd);
  p.weight = contiguous_or_none(defined_or_empty(weight));
  p.grad_input = std::get<0>(grads);
  p.grad_weight = std::get<1>(grads);
  p.grad_bias = std::get<2>(grads);
  return p;
}

} // namespace

Tensor layer_norm(
    const Tensor& input,
    IntArrayRef normalized_shape,
    const std::optional<Tensor>& weight,
    const std::optional<Tensor>& bias,
    double eps,
    bool) {
  return std::get<0>(at::native_layer_norm(input, normalized_shape, weight, bias, eps));
}

// ---- RMS norm ------------------------------------------------------------------------------------------------------

TORCH_API double rms_norm_eps(const Tensor& input, std::optional<double> eps) {
  return eps.value_or(
      input.scalar_type() == kDouble ? std::numeric_limits<double>::epsilon()
                                     : double(std::numeric_limits<float>::epsilon()));
}

namespace {

/// The dimensions that are normalized; throws where they are not the last ones of the input.
DimVector rms_norm_dims(const Tensor& input, IntArrayRef normalized_shape, const std::optional<Tensor>& weight) {
  DimVector dims;
  for (int64_t d = at::shape::check_layer_norm(input, normalized_shape, weight, std::nullopt); d < input.dim(); ++d) {
    dims.push_back(d);
  }
  return dims;
}

Tensor widened(const Tensor& t) {
  return isReducedFloatingType(t.scalar_type()) ? t.to(kFloat) : t;
}

std::tuple<Tensor, Tensor> rms_norm_by_operators(
    const Tensor& input, IntArrayRef normalized_shape, const std::optional<Tensor>& weight, std::optional<double> eps) {
  const DimVector dims = rms_norm_dims(input, normalized_shape, weight);
  const Tensor wide = widened(input);
  Tensor factors = at::rsqrt(wide.mul(wide).mean(dims, /*keepdim=*/true).add(rms_norm_eps(input, eps)));
  Tensor result = wide * factors;
  if (given(weight)) {
    result = result * *weight;
  }
  return {result.scalar_type() == input.scalar_type() ? result : result.to(input.scalar_type()), std::move(factors)};
}

} // namespace

/// A new tensor for what rows are multiplied with.
TORCH_API Tensor
check_rms_norm(const Tensor& input, IntArrayRef normalized_shape, const std::optional<Tensor>& weight) {
  DimVector sizes(input.sizes().begin(), input.sizes().end());
  for (const int64_t d : rms_norm_dims(input, normalized_shape, weight)) {
    sizes[static_cast<size_t>(d)] = 1;
  }
  if (given(weight)) {
    at::shape::check_same_device("_fused_rms_norm", {&input, &*weight});
  }
  return at::empty(sizes, input.options().dtype(at::toOpMathType(input.scalar_type())));
}

std::tuple<Tensor, Tensor> _fused_rms_norm(
    const Tensor& input, IntArrayRef normalized_shape, const std::optional<Tensor>& weight, std::optional<double> eps) {
  if (!kFloating.contains(input.scalar_type())) {
    at::detail::dtype_not_supported("_fused_rms_norm", input.scalar_type(), kFloating.bits);
  }
  return rms_norm_by_operators(input, normalized_shape, weight, eps);
}

Tensor rms_norm(
    const Tensor& input, IntArrayRef normalized_shape, const std::optional<Tensor>& weight, std::optional<double> eps) {
  const bool floating =
      isFloatingType(input.scalar_type()) && (!given(weight) || isFloatingType(weight->scalar_type()));
  return std::get<0>(
      floating ? at::_fused_rms_norm(input, normalized_shape, weight, eps)
               : rms_norm_by_operators(input, normalized_shape, weight, eps));
}

// ---- group norm, and backward passes -------------------------------------------------------------------------------

Tensor group_norm(
    const Tensor& input,
    int64_t num_groups,
    const std::optional<Tensor>& weight,
    const std::optional<Tensor>& bias,
    double eps,
    bool) {
  const int64_t batch = input.size(0), channels = input.size(1);
  const int64_t spatial = c10::multiply_integers(input.sizes().slice(2));
  const Tensor result =
      std::get<0>(at::native_group_norm(input.contiguous(), weight, bias, batch, channels, spatial, num_groups, eps));
  return result.contiguous(input.suggest_memory_format());
}

TensorTuple3 native_layer_norm_backward(
    const Tensor& grad_out,
    const Tensor& input,
    IntArrayRef normalized_shape,
    const Tensor& mean,
    const Tensor& rstd,
    const std::optional<Tensor>& weight,
    const std::optional<Tensor>& bias,
    std::array<bool, 3> output_mask) {
  check_layer_norm_backward(grad_out, input, normalized_shape, mean, rstd, weight, bias);
  TensorTuple3 grads = layer_norm_backward_spec(input, normalized_shape, mean, output_mask);
  NormBackward p = common_arguments(grad_out, input, mean, rstd, weight, grads);
  p.rows = mean.numel();
  p.size = c10::multiply_integers(normalized_shape);
  layer_norm_backward_table[cpu_isa_level()](p);
  return grads;
}

TORCH_API TensorTuple3 native_layer_norm_backward_meta(
    const Tensor& grad_out,
    const Tensor& input,
    IntArrayRef normalized_shape,
    const Tensor& mean,
    const Tensor& rstd,
    const std::optional<Tensor>& weight,
    const std::optional<Tensor>& bias,
    std::array<bool, 3> output_mask) {
  check_layer_norm_backward(grad_out, input, normalized_shape, mean, rstd, weight, bias);
  return layer_norm_backward_spec(input, normalized_shape, mean, output_mask);
}

TensorTuple3 native_group_norm_backward(
    const Tensor& grad_out,
    const Tensor& input,
    const Tensor& mean,
    const Tensor& rstd,
    const std::optional<Tensor>& weight,
    int64_t N,
    int64_t C,
    int64_t HxW,
    int64_t group,
    std::array<bool, 3> output_mask) {
  check_group_norm_backward(grad_out, input, mean, rstd, weight, N, C, HxW, group);
  TensorTuple3 grads = wanted_gradients(input, {C}, mean.scalar_type(), output_mask);
  if (input.numel() == 0) {
    for (Tensor* grad : {&std::get<0>(grads), &std::get<1>(grads), &std::get<2>(grads)}) {
      if (grad->defined()) {
        grad->zero_();
      }
    }
    return grads;
  }
  NormBackward p = common_arguments(grad_out, input, mean, rstd, weight, grads);
  p.rows = N;
  p.size = HxW;
  p.channels = C;
  p.groups = group;
  group_norm_backward_table[cpu_isa_level()](p);
  return grads;
}

TORCH_API TensorTuple3 native_group_norm_backward_meta(
    const Tensor& grad_out,
    const Tensor& input,
    const Tensor& mean,
    const Tensor& rstd,
    const std::optional<Tensor>& weight,
    int64_t N,
    int64_t C,
    int64_t HxW,
    int64_t group,
    std::array<bool, 3> output_mask) {
  check_group_norm_backward(grad_out, input, mean, rstd, weight, N, C, HxW, group);
  return wanted_gradients(input, {C}, mean.scalar_type(), output_mask);
}

} // namespace at::native
