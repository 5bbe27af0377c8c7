// quantized_decomposed::, the operators that graphs of quantized models are written in: codes are plain integer
// tensors, and scales and zero points come as arguments. Formulas are those of PyTorch 2.15, in its order of rounding.
#include <aten/Functions.h>
#include <aten/core/TensorOperators.h>
#include <aten/core/dispatch/BuiltinRegistration.h>
#include <c10/util/Exception.h>

#include <limits>
#include <tuple>

namespace at::native {
namespace {

using Pair = std::tuple<Tensor, Tensor>;

/// The range of a dtype of codes; throws for others.
std::pair<double, double> code_range(const char* op, ScalarType dtype) {
  switch (dtype) {
    case kByte:
      return {0, 255};
    case kChar:
      return {-128, 127};
    case kUInt16:
      return {0, 65535};
    case kShort:
      return {-32768, 32767};
    case kInt:
      return {std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()};
    case kFloat8_e5m2:
      return {-57344, 57344};
    case kFloat8_e4m3fn:
      return {-448, 448};
    default:
      TORCH_CHECK_VALUE(
          false, "Unsupported dtype: ", dtype, ". ", op,
          ": codes are uint8, int8, uint16, int16, int32, float8_e5m2 or float8_e4m3fn");
  }
}

void check_bounds(const char* op, int64_t low, int64_t high, ScalarType dtype) {
  const auto [lowest, highest] = code_range(op, dtype);
  TORCH_CHECK(
      static_cast<double>(low) >= lowest, "quant_min out of bounds for dtype, quant_min_lower_bound: ", lowest,
      " quant_min: ", low, " (", op, ", ", dtype, ")");
  TORCH_CHECK(
      static_cast<double>(high) <= highest, "quant_max out of bounds for dtype, quant_max_upper_bound: ", highest,
      " quant_max: ", high, " (", op, ", ", dtype, ")");
}

void check_dtype(const char* op, const Tensor& input, ScalarType dtype) {
  TORCH_CHECK(
      input.scalar_type() == dtype, "Expecting input to have dtype: ", dtype, ", but got ", input.scalar_type(), " (",
      op, ")");
}

/// input in float32, which halves become.
Tensor float_input(const char* op, const Tensor& input) {
  const ScalarType dtype = input.scalar_type();
  TORCH_CHECK(
      dtype == kFloat || dtype == kHalf || dtype == kBFloat16,
      "Expecting input to have dtype torch.float32, but got dtype: ", dtype, " (", op, ")");
  return input.to(kFloat);
}

void check_one_element(const char* op, const char* name, const Tensor& t) {
  TORCH_CHECK(
      t.numel() == 1, "Expecting ", name, " tensor to be one element, but received : ", t.numel(), " (", op, ")");
}

/// One number for each index of `axis`, shaped so that it meets input there.
Tensor along_axis(const char* op, const Tensor& input, const Tensor& numbers, int64_t axis) {
  TORCH_CHECK(
      axis < input.dim() && axis >= -input.dim(), "Expecting axis to be < ", input.dim(), ", got ", axis, " (", op,
      ")");
  DimVector sizes(static_cast<size_t>(input.dim()), 1);
  sizes[static_cast<size_t>(axis < 0 ? axis + input.dim() : axis)] = numbers.size(0);
  return numbers.view(sizes);
}

Tensor quantize_per_tensor_decomposed(
    const Tensor& input, double scale, int64_t zero_point, int64_t low, int64_t high, ScalarType dtype) {
  constexpr const char* kOp = "quantized_decomposed::quantize_per_tensor";
  const Tensor x = float_input(kOp, input);
  check_bounds(kOp, low, high, dtype);
  return (x * (1.0 / scale)).round().add(zero_point).clamp(low, high).to(dtype);
}

Tensor quantize_per_tensor_decomposed_tensor(
    const Tensor& input, const Tensor& scale, const Tensor& zero_point, int64_t low, int64_t high, ScalarType dtype) {
  constexpr const char* kOp = "quantized_decomposed::quantize_per_tensor.tensor";
  check_one_element(kOp, "zero_point", zero_point);
  check_one_element(kOp, "scale", scale);
  return quantize_per_tensor_decomposed(input, scale.item<double>(), zero_point.item<int64_t>(), low, high, dtype);
}

Tensor quantize_per_tensor_decomposed_tensor2(
    const Tensor& input,
    const Tensor& scale,
    const Tensor& zero_point,
    const Tensor& low,
    const Tensor& high,
    ScalarType dtype) {
  return quantize_per_tensor_decomposed_tensor(
      input, scale, zero_point, low.item<int64_t>(), high.item<int64_t>(), dtype);
}

Tensor dequantize_per_tensor_decomposed(
    const Tensor& input,
    double scale,
    int64_t zero_point,
    int64_t,
    int64_t,
    ScalarType dtype,
    std::optional<ScalarType> out_dtype) {
  constexpr const char* kOp = "quantized_decomposed::dequantize_per_tensor";
  check_dtype(kOp, input, dtype);
  code_range(kOp, dtype);
  return (input.to(out_dtype.value_or(kFloat)) - zero_point) * scale;
}

Tensor dequantize_per_tensor_decomposed_tensor(
    const Tensor& input,
    const Tensor& scale,
    const Tensor& zero_point,
    int64_t low,
    int64_t high,
    ScalarType dtype,
    std::optional<ScalarType> out_dtype) {
  constexpr const char* kOp = "quantized_decomposed::dequantize_per_tensor.tensor";
  check_one_element(kOp, "zero_point", zero_point);
  check_one_element(kOp, "scale", scale);
  return dequantize_per_tensor_decomposed(
      input, scale.item<double>(), zero_point.item<int64_t>(), low, high, dtype, out_dtype);
}

Tensor dequantize_per_tensor_decomposed_tensor2(
    const Tensor& input,
    const Tensor& scale,
    const Tensor& zero_point,
    const Tensor& low,
    const Tensor& high,
    ScalarType dtype,
    std::optional<ScalarType> out_dtype) {
  return dequantize_per_tensor_decomposed_tensor(
      input, scale, zero_point, low.item<int64_t>(), high.item<int64_t>(), dtype, out_dtype);
}

/// Scale and zero point of the range from the smallest to the largest element, which holds 0; double and long of one
/// element each.
Pair choose_qparams(
    const char* op, const Tensor& input, int64_t low, int64_t high, double eps, ScalarType dtype, bool symmetric) {
  const ScalarType from = input.scalar_type();
  TORCH_CHECK(
      from == kFloat || from == kHalf || from == kBFloat16,
      "Expecting input to have dtype torch.float32/16/b16, but got dtype: ", from, " (", op, ")");
  code_range(op, dtype);
  TORCH_CHECK(
      low <= 0 && 0 <= high, "Used-specified quantization range must include 0. Got ", low, " to ", high, " (", op,
      ")");
  TORCH_CHECK(
      low < high, "qmin must be less than qmax for user-specified quantization range. Got ", low, " and ", high, " (",
      op, ")");
  const auto [least, most] = at::aminmax(input);
  const Tensor zero = at::zeros_like(least);
  const Tensor negative = at::minimum(least, zero);
  Tensor positive = at::maximum(most, zero);
  const Tensor smallest = at::full({}, eps, input.options().dtype(kFloat));
  const double steps = static_cast<double>(high - low);
  Tensor scale, zero_point;
  if (symmetric) {
    positive = at::maximum(-negative, positive);
    scale = at::maximum(positive / (steps / 2), smallest);
    zero_point = at::full({1}, dtype == kByte ? 128 : 0, input.options().dtype(kLong));
  } else {
    scale = at::maximum((positive - negative) / steps, smallest);
    zero_point = (low - (negative / scale).round().to(kInt)).clamp(low, high);
  }
  return {scale.reshape({1}).to(kDouble), zero_point.reshape({1}).to(kLong)};
}

Pair choose_qparams_tensor(const Tensor& input, int64_t low, int64_t high, double eps, ScalarType dtype) {
  return choose_qparams("quantized_decomposed::choose_qparams", input, low, high, eps, dtype, false);
}

Pair choose_qparams_symmetric_tensor(const Tensor& input, int64_t low, int64_t high, double eps, ScalarType dtype) {
  return choose_qparams("quantized_decomposed::choose_qparams_symmetric", input, low, high, eps, dtype, true);
}

Tensor quantize_per_channel_decomposed(
    const Tensor& input,
    const Tensor& scales,
    const Tensor& zero_points,
    int64_t axis,
    int64_t low,
    int64_t high,
    ScalarType dtype) {
  constexpr const char* kOp = "quantized_decomposed::quantize_per_channel";
  const Tensor x = float_input(kOp, input);
  const Tensor scale = along_axis(kOp, x, scales, axis), zero = along_axis(kOp, x, zero_points, axis);
  check_bounds(kOp, low, high, dtype);
  return (x * (1.0 / scale)).round().add(zero).clamp(low, high).to(dtype);
}

Tensor dequantize_per_channel_decomposed(
    const Tensor& input,
    const Tensor& scales,
    const std::optional<Tensor>& zero_points,
    int64_t axis,
    int64_t low,
    int64_t high,
    ScalarType dtype,
    std::optional<ScalarType> out_dtype) {
  constexpr const char* kOp = "quantized_decomposed::dequantize_per_channel";
  check_dtype(kOp, input, dtype);
  const Tensor scale = along_axis(kOp, input, scales, axis);
  check_bounds(kOp, low, high, dtype);
  const bool shifted = zero_points.has_value() && zero_points->defined();
  const Tensor codes = shifted ? input - along_axis(kOp, input, *zero_points, axis) : input;
  return (codes * scale).to(out_dtype.value_or(kFloat));
}

Pair choose_qparams_per_token(const Tensor& input, ScalarType dtype) {
  TORCH_CHECK(dtype == kChar, "unsupported dtype in choose_qparams_per_token: ", dtype, "; it must be int8");
  Tensor scales = input.abs().amax(-1, true);
  if (scales.scalar_type() == kHalf) {
    scales = scales.to(kFloat);
  }
  scales = scales.clamp_min(1e-5).div(127);
  return {scales, at::zeros_like(scales)};
}

Pair choose_qparams_per_token_asymmetric(const Tensor& input, ScalarType) {
  const Tensor low = input.amin(-1, true), high = input.amax(-1, true);
  const Tensor negative = at::minimum(low, at::zeros_like(low)), positive = at::maximum(high, at::zeros_like(high));
  const Tensor scale = ((positive - negative) / 255.0).clamp_min(std::numeric_limits<float>::epsilon());
  const Tensor from_low = negative / scale, from_high = positive / scale;
  const Tensor zero_point = at::where((-128 + from_low) + (127 + from_high) > 0, -128 - from_low, 127 - from_high);
  return {scale.to(kDouble), zero_point.clamp(-128, 127).round().to(kLong)};
}

Tensor quantize_per_token(
    const Tensor& input, const Tensor& scales, const Tensor& zero_points, int64_t low, int64_t high, ScalarType dtype) {
  constexpr const char* kOp = "quantized_decomposed::quantize_per_token";
  check_bounds(kOp, low, high, dtype);
  const int64_t tokens = input.dim() == 0 ? 1 : c10::multiply_integers(input.sizes().slice(0, input.dim() - 1));
  TORCH_CHECK(
      tokens == scales.numel() && tokens == zero_points.numel(), "num_tokens: ", tokens, " scales: ", scales.sizes(),
      " zero_points: ", zero_points.sizes(), ": ", kOp, " takes one of each for a token");
  return input.mul(1.0 / scales).add(zero_points).round().clamp(low, high).to(dtype);
}

Tensor dequantize_per_token(
    const Tensor& input,
    const Tensor& scales,
    const Tensor& zero_points,
    int64_t,
    int64_t,
    ScalarType,
    ScalarType output_dtype) {
  return ((input - zero_points) * scales).to(output_dtype);
}

/// The matrix as rows of groups; checks its sizes.
Tensor in_groups(const char* op, const Tensor& input, const Tensor& scales, int64_t group_size) {
  TORCH_CHECK(group_size > 1, "group_size must be > 1, got ", group_size, " (", op, ")");
  TORCH_CHECK(input.dim() == 2, "input must be 2-dimensional, got sizes ", input.sizes(), " (", op, ")");
  const int64_t width = input.size(1);
  const int64_t size = group_size > width && scales.dim() > 0 && scales.size(-1) == 1 ? width : group_size;
  TORCH_CHECK(
      size > 0 && width % size == 0, "input.shape[-1] must be divisible by group_size, got ", width, " and ", size,
      " (", op, ")");
  return input.reshape({-1, size});
}

Tensor quantize_per_channel_group(
    const Tensor& input,
    const Tensor& scales,
    const Tensor& zero_points,
    int64_t low,
    int64_t high,
    ScalarType dtype,
    int64_t group_size) {
  constexpr const char* kOp = "quantized_decomposed::quantize_per_channel_group";
  const Tensor rows = in_groups(kOp, input, scales, group_size);
  TORCH_CHECK(rows.is_meta() || !rows.isnan().any().item<bool>(), "to_quant must not contain NaNs (", kOp, ")");
  return rows.mul(1.0 / scales.reshape({-1, 1}))
      .add(zero_points.reshape({-1, 1}))
      .round()
      .clamp(low, high)
      .to(dtype)
      .reshape(input.sizes());
}

Tensor dequantize_per_channel_group(
    const Tensor& input,
    const Tensor& scales,
    const std::optional<Tensor>& zero_points,
    int64_t,
    int64_t,
    ScalarType,
    int64_t group_size,
    ScalarType output_dtype) {
  const Tensor rows = in_groups("quantized_decomposed::dequantize_per_channel_group", input, scales, group_size);
  const bool shifted = zero_points.has_value() && zero_points->defined();
  const Tensor zero = shifted ? zero_points->reshape({-1, 1}) : at::zeros({}, scales.options().dtype(kInt));
  return rows.sub(zero).mul(scales.reshape({-1, 1})).reshape(input.sizes()).to(output_dtype);
}

Tensor fake_quant_per_channel(
    const Tensor& input, const Tensor& scales, const Tensor& zero_points, int64_t axis, int64_t low, int64_t high) {
  constexpr const char* kOp = "quantized_decomposed::fake_quant_per_channel";
  TORCH_CHECK(
      input.scalar_type() == kFloat,
      "Expecting input to have dtype torch.float32, but got dtype: ", input.scalar_type(), " (", kOp, ")");
  along_axis(kOp, input, scales, axis);
  return at::fake_quantize_per_channel_affine(input, scales.to(kFloat), zero_points.to(kInt), axis, low, high);
}

Tensor convert_element_type_no_fuse(const Tensor& input, ScalarType dtype) {
  return input.to(dtype, /*non_blocking=*/false, /*copy=*/true);
}

// ---- tables --------------------------------------------------------------------

using c10::DispatchKey;
using c10::impl::builtin_kernel;

constexpr int kDecomposedOperators = 19;
c10::impl::BuiltinSlot decomposed_slots[kDecomposedOperators];

constexpr const char* kDecomposedPlace = "aten/quantized/decomposed.cpp";

constexpr c10::impl::BuiltinDefinition kDecomposedDefinitions[kDecomposedOperators] = {
    {"quantized_decomposed::_choose_qparams_per_token_asymmetric_impl", "",
     "_choose_qparams_per_token_asymmetric_impl(Tensor input, ScalarType dtype) -> (Tensor, Tensor)", kDecomposedPlace,
     &decomposed_slots[0]},
    {"quantized_decomposed::choose_qparams", "tensor",
     "choose_qparams.tensor(Tensor input, int quant_min, int quant_max, float eps, ScalarType dtype) -> (Tensor, "
     "Tensor)",
     kDecomposedPlace, &decomposed_slots[1]},
    {"quantized_decomposed::choose_qparams_per_token", "",
     "choose_qparams_per_token(Tensor input, ScalarType dtype) -> (Tensor, Tensor)", kDecomposedPlace,
     &decomposed_slots[2]},
    {"quantized_decomposed::choose_qparams_per_token_asymmetric", "",
     "choose_qparams_per_token_asymmetric(Tensor input, ScalarType dtype) -> (Tensor, Tensor)", kDecomposedPlace,
     &decomposed_slots[3]},
    {"quantized_decomposed::choose_qparams_symmetric", "tensor",
     "choose_qparams_symmetric.tensor(Tensor input, int quant_min, int quant_max, float eps, ScalarType dtype) -> "
     "(Tensor, Tensor)",
     kDecomposedPlace, &decomposed_slots[4]},
    {"quantized_decomposed::convert_element_type", "no_fuse",
     "convert_element_type.no_fuse(Tensor input, ScalarType dtype) -> Tensor", kDecomposedPlace, &decomposed_slots[5]},
    {"quantized_decomposed::dequantize_per_channel", "",
     "dequantize_per_channel(Tensor input, Tensor scales, Tensor? zero_points, int axis, int quant_min, int quant_max, "
     "ScalarType dtype, *, ScalarType? out_dtype=None) -> Tensor",
     kDecomposedPlace, &decomposed_slots[6]},
    {"quantized_decomposed::dequantize_per_channel_group", "",
     "dequantize_per_channel_group(Tensor input, Tensor scales, Tensor? zero_points, int quant_min, int quant_max, "
     "ScalarType dtype, int group_size, ScalarType output_dtype) -> Tensor",
     kDecomposedPlace, &decomposed_slots[7]},
    {"quantized_decomposed::dequantize_per_tensor", "",
     "dequantize_per_tensor(Tensor input, float scale, int zero_point, int quant_min, int quant_max, ScalarType dtype, "
     "*, ScalarType? out_dtype=None) -> Tensor",
     kDecomposedPlace, &decomposed_slots[8]},
    {"quantized_decomposed::dequantize_per_tensor", "tensor",
     "dequantize_per_tensor.tensor(Tensor input, Tensor scale, Tensor zero_point, int quant_min, int quant_max, "
     "ScalarType dtype, *, ScalarType? out_dtype=None) -> Tensor",
     kDecomposedPlace, &decomposed_slots[9]},
    {"quantized_decomposed::dequantize_per_tensor", "tensor2",
     "dequantize_per_tensor.tensor2(Tensor input, Tensor scale, Tensor zero_point, Tensor quant_min, Tensor quant_max, "
     "ScalarType dtype, *, ScalarType? out_dtype=None) -> Tensor",
     kDecomposedPlace, &decomposed_slots[10]},
    {"quantized_decomposed::dequantize_per_token", "",
     "dequantize_per_token(Tensor input, Tensor scales, Tensor zero_points, int quant_min, int quant_max, ScalarType "
     "dtype, ScalarType output_dtype) -> Tensor",
     kDecomposedPlace, &decomposed_slots[11]},
    {"quantized_decomposed::fake_quant_per_channel", "",
     "fake_quant_per_channel(Tensor input, Tensor scales, Tensor zero_points, int axis, int quant_min, int quant_max) "
     "-> Tensor",
     kDecomposedPlace, &decomposed_slots[12]},
    {"quantized_decomposed::quantize_per_channel", "",
     "quantize_per_channel(Tensor input, Tensor scales, Tensor zero_points, int axis, int quant_min, int quant_max, "
     "ScalarType dtype) -> Tensor",
     kDecomposedPlace, &decomposed_slots[13]},
    {"quantized_decomposed::quantize_per_channel_group", "",
     "quantize_per_channel_group(Tensor input, Tensor scales, Tensor zero_points, int quant_min, int quant_max, "
     "ScalarType dtype, int group_size) -> Tensor",
     kDecomposedPlace, &decomposed_slots[14]},
    {"quantized_decomposed::quantize_per_tensor", "",
     "quantize_per_tensor(Tensor input, float scale, int zero_point, int quant_min, int quant_max, ScalarType dtype) "
     "-> Tensor",
     kDecomposedPlace, &decomposed_slots[15]},
    {"quantized_decomposed::quantize_per_tensor", "tensor",
     "quantize_per_tensor.tensor(Tensor input, Tensor scale, Tensor zero_point, int quant_min, int quant_max, "
     "ScalarType dtype) -> Tensor",
     kDecomposedPlace, &decomposed_slots[16]},
    {"quantized_decomposed::quantize_per_tensor", "tensor2",
     "quantize_per_tensor.tensor2(Tensor input, Tensor scale, Tensor zero_point, Tensor quant_min, Tensor quant_max, "
     "ScalarType dtype) -> Tensor",
     kDecomposedPlace, &decomposed_slots[17]},
    {"quantized_decomposed::quantize_per_token", "",
     "quantize_per_token(Tensor input, Tensor scales, Tensor zero_points, int quant_min, int quant_max, ScalarType "
     "dtype) -> Tensor",
     kDecomposedPlace, &decomposed_slots[18]},
};

constexpr c10::impl::BuiltinKernelRow kDecomposedKernels[kDecomposedOperators] = {
    {"quantized_decomposed::_choose_qparams_per_token_asymmetric_impl", "", DispatchKey::CompositeImplicitAutograd,
     builtin_kernel<&choose_qparams_per_token_asymmetric>(), kDecomposedPlace},
    {"quantized_decomposed::choose_qparams", "tensor", DispatchKey::CompositeExplicitAutograd,
     builtin_kernel<&choose_qparams_tensor>(), kDecomposedPlace},
    {"quantized_decomposed::choose_qparams_per_token", "", DispatchKey::CompositeExplicitAutograd,
     builtin_kernel<&choose_qparams_per_token>(), kDecomposedPlace},
    {"quantized_decomposed::choose_qparams_per_token_asymmetric", "", DispatchKey::CompositeImplicitAutograd,
     builtin_kernel<&choose_qparams_per_token_asymmetric>(), kDecomposedPlace},
    {"quantized_decomposed::choose_qparams_symmetric", "tensor", DispatchKey::CompositeExplicitAutograd,
     builtin_kernel<&choose_qparams_symmetric_tensor>(), kDecomposedPlace},
    {"quantized_decomposed::convert_element_type", "no_fuse", DispatchKey::CompositeExplicitAutograd,
     builtin_kernel<&convert_element_type_no_fuse>(), kDecomposedPlace},
    {"quantized_decomposed::dequantize_per_channel", "", DispatchKey::CompositeExplicitAutograd,
     builtin_kernel<&dequantize_per_channel_decomposed>(), kDecomposedPlace},
    {"quantized_decomposed::dequantize_per_channel_group", "", DispatchKey::CompositeExplicitAutograd,
     builtin_kernel<&dequantize_per_channel_group>(), kDecomposedPlace},
    {"quantized_decomposed::dequantize_per_tensor", "", DispatchKey::CompositeExplicitAutograd,
     builtin_kernel<&dequantize_per_tensor_decomposed>(), kDecomposedPlace},
    {"quantized_decomposed::dequantize_per_tensor", "tensor", DispatchKey::CompositeExplicitAutograd,
     builtin_kernel<&dequantize_per_tensor_decomposed_tensor>(), kDecomposedPlace},
    {"quantized_decomposed::dequantize_per_tensor", "tensor2", DispatchKey::CompositeExplicitAutograd,
     builtin_kernel<&dequantize_per_tensor_decomposed_tensor2>(), kDecomposedPlace},
    {"quantized_decomposed::dequantize_per_token", "", DispatchKey::CompositeExplicitAutograd,
     builtin_kernel<&dequantize_per_token>(), kDecomposedPlace},
    {"quantized_decomposed::fake_quant_per_channel", "", DispatchKey::CompositeImplicitAutograd,
     builtin_kernel<&fake_quant_per_channel>(), kDecomposedPlace},
    {"quantized_decomposed::quantize_per_channel", "", DispatchKey::CompositeExplicitAutograd,
     builtin_kernel<&quantize_per_channel_decomposed>(), kDecomposedPlace},
    {"quantized_decomposed::quantize_per_channel_group", "", DispatchKey::CompositeExplicitAutograd,
     builtin_kernel<&quantize_per_channel_group>(), kDecomposedPlace},
    {"quantized_decomposed::quantize_per_tensor", "", DispatchKey::CompositeExplicitAutograd,
     builtin_kernel<&quantize_per_tensor_decomposed>(), kDecomposedPlace},
    {"quantized_decomposed::quantize_per_tensor", "tensor", DispatchKey::CompositeExplicitAutograd,
     builtin_kernel<&quantize_per_tensor_decomposed_tensor>(), kDecomposedPlace},
    {"quantized_decomposed::quantize_per_tensor", "tensor2", DispatchKey::CompositeExplicitAutograd,
     builtin_kernel<&quantize_per_tensor_decomposed_tensor2>(), kDecomposedPlace},
    {"quantized_decomposed::quantize_per_token", "", DispatchKey::CompositeExplicitAutograd,
     builtin_kernel<&quantize_per_token>(), kDecomposedPlace},
};

const c10::impl::BuiltinDefinitions kDecomposedDefined(kDecomposedDefinitions);
const c10::impl::BuiltinKernels kDecomposedImplemented(kDecomposedKernels);

} // namespace
} // namespace at::native
