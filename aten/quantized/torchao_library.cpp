// torchao::, quantization by blocks of plain tensors, in the order of rounding of torchao 0.18: elements of a block of
// `block_size` share a scale and a zero point.
#include <aten/Functions.h>
#include <aten/core/TensorOperators.h>
#include <aten/quantized/operator_table.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

namespace at::quantized {
namespace {

using std::string_view;

/// The sizes of a tensor with each dimension of blocks split in two, and the dimensions within blocks.
struct Blocks {
  Blocks(const char* op, IntArrayRef sizes, IntArrayRef block_size) {
    TORCH_CHECK(
        sizes.size() == block_size.size(), op, ": block_size ", block_size,
        " must have a number for each of the sizes ", sizes);
    for (size_t i = 0; i < sizes.size(); ++i) {
      const int64_t block = block_size[i];
      TORCH_CHECK(
          block > 0 && sizes[i] % block == 0, op, ": size ", sizes[i], " of dimension ", i,
          " must be a multiple of block_size ", block);
      if (block != 1 && block != sizes[i]) {
        split.push_back(sizes[i] / block);
        of_blocks.push_back(sizes[i] / block);
      }
      if (block != 1) {
        within.push_back(static_cast<int64_t>(split.size()));
      }
      split.push_back(block == 1 ? sizes[i] : block);
      of_blocks.push_back(block == 1 ? sizes[i] : 1);
      counts.push_back(sizes[i] / block);
    }
  }

  Tensor view(const char* op, const Tensor& factors) const {
    TORCH_CHECK(
        factors.numel() == c10::multiply_integers(counts), op, ": expected one number for each block, ",
        IntArrayRef(counts), ", got ", factors.sizes());
    return factors.reshape(of_blocks);
  }

  std::vector<int64_t> split, of_blocks, within, counts; // counts: blocks in each dimension
};

struct Bounds {
  double low, high;
};

Bounds bounds_of(const char* op, ScalarType dtype) {
  switch (dtype) {
    case kByte:
      return {0, 255};
    case kChar:
      return {-128, 127};
    case kShort:
      return {-32768, 32767};
    case kInt:
      return {std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()};
    case kFloat8_e4m3fn:
      return {-448, 448};
    case kFloat8_e5m2:
      return {-57344, 57344};
    default:
      TORCH_CHECK_VALUE(
          false, op, ": Unsupported dtype: ", dtype,
          "; supported: uint8, int8, int16, int32, float8_e4m3fn, float8_e5m2");
  }
}

/// Those of the dtype, or narrower ones.
Bounds checked_bounds(
    const char* op, ScalarType dtype, const std::optional<Scalar>& low, const std::optional<Scalar>& high) {
  const Bounds all = bounds_of(op, dtype);
  const Bounds given{low.has_value() ? low->toDouble() : all.low, high.has_value() ? high->toDouble() : all.high};
  TORCH_CHECK(
      given.low >= all.low && given.high <= all.high && given.low < given.high, op, ": quant_min ", given.low,
      " and quant_max ", given.high, " must be within the range of ", dtype, ", ", all.low, " to ", all.high);
  return given;
}

void check_floating(const char* op, ScalarType dtype) {
  TORCH_CHECK(
      dtype == kFloat || dtype == kHalf || dtype == kBFloat16, op, ": expected float32, float16 or bfloat16, got ",
      dtype);
}

bool has_numbers(const std::optional<Tensor>& t) {
  return t.has_value() && t->defined() && t->numel() > 0;
}

Tensor quantize_affine(
    const Tensor& input,
    IntArrayRef block_size,
    const Tensor& scale,
    const std::optional<Tensor>& zero_point,
    ScalarType dtype,
    const std::optional<Scalar>& low,
    const std::optional<Scalar>& high) {
  constexpr const char* kOp = "torchao::quantize_affine";
  check_floating(kOp, input.scalar_type());
  const Blocks blocks(kOp, input.sizes(), block_size);
  const Bounds bounds = checked_bounds(kOp, dtype, low, high);
  Tensor steps = at::round(input.reshape(blocks.split) * (1.0 / blocks.view(kOp, scale)));
  if (has_numbers(zero_point)) {
    steps = steps + blocks.view(kOp, *zero_point);
  }
  return steps.clamp(bounds.low, bounds.high).view(input.sizes()).to(dtype);
}

Tensor dequantize_affine(
    const Tensor& input,
    IntArrayRef block_size,
    const Tensor& scale,
    const std::optional<Tensor>& zero_point,
    ScalarType input_dtype,
    const std::optional<Scalar>& low,
    const std::optional<Scalar>& high,
    ScalarType dtype) {
  constexpr const char* kOp = "torchao::dequantize_affine";
  TORCH_CHECK(input.scalar_type() == input_dtype, kOp, ": Expected: ", input_dtype, ", got: ", input.scalar_type());
  check_floating(kOp, dtype);
  checked_bounds(kOp, input_dtype, low, high);
  const Blocks blocks(kOp, input.sizes(), block_size);
  Tensor numbers = input.to(dtype).reshape(blocks.split);
  if (has_numbers(zero_point)) {
    numbers = numbers - blocks.view(kOp, *zero_point).to(dtype);
  }
  return (numbers * blocks.view(kOp, scale)).view(input.sizes()).to(dtype);
}

/// The smallest positive number of full precision.
double smallest_normal(ScalarType dtype) {
  return dtype == kHalf ? 6.103515625e-05 : static_cast<double>(std::numeric_limits<float>::min());
}

/// Scales and zero points for ranges from `least` <= 0 to `most` >= 0.
std::tuple<Tensor, Tensor> affine_qparams(
    string_view mapping, const Tensor& least, const Tensor& most, const Bounds& bounds, double eps) {
  if (mapping == "ASYMMETRIC") {
    const Tensor scale = ((most - least) / (bounds.high - bounds.low)).clamp_min(eps);
    return {scale, (bounds.low - at::round(least / scale)).clamp(bounds.low, bounds.high)};
  }
  TORCH_CHECK(
      mapping == "SYMMETRIC" || mapping == "SYMMETRIC_NO_CLIPPING_ERR",
      "torchao::choose_qparams_affine: Unsupported mapping type: ", mapping,
      "; supported: SYMMETRIC, SYMMETRIC_NO_CLIPPING_ERR, ASYMMETRIC");
  Tensor scale;
  if (mapping == "SYMMETRIC") {
    scale = at::maximum(-least, most) / ((bounds.high - bounds.low) / 2);
  } else {
    scale = at::maximum(least / bounds.low, most / bounds.high);
  }
  const auto middle = static_cast<int64_t>((bounds.high + bounds.low + 1) / 2);
  return {scale.clamp_min(eps), at::full_like(scale, middle)};
}

std::tuple<Tensor, Tensor> choose_qparams_affine(
    const std::optional<Tensor>& given,
    string_view mapping,
    IntArrayRef block_size,
    ScalarType target_dtype,
    const std::optional<Scalar>& low,
    const std::optional<Scalar>& high,
    std::optional<double> eps,
    std::optional<ScalarType> scale_dtype,
    std::optional<ScalarType> zero_point_dtype,
    bool keepdim) {
  constexpr const char* kOp = "torchao::choose_qparams_affine";
  TORCH_CHECK(given.has_value() && given->defined(), kOp, ": expected an input");
  const Tensor& input = *given;
  check_floating(kOp, input.scalar_type());
  const Bounds bounds = checked_bounds(kOp, target_dtype, low, high);
  const Blocks blocks(kOp, input.sizes(), block_size);
  const Tensor x = input.reshape(blocks.split);
  const bool whole = blocks.within.empty();
  const Tensor least = (whole ? x : at::amin(x, blocks.within, keepdim)).clamp_max(0);
  const Tensor most = (whole ? x : at::amax(x, blocks.within, keepdim)).clamp_min(0);
  auto [scale, zero_point] =
      affine_qparams(mapping, least, most, bounds, eps.value_or(smallest_normal(input.scalar_type())));
  if (keepdim) {
    scale = scale.reshape(blocks.counts);
    zero_point = zero_point.reshape(blocks.counts);
  }
  if (!zero_point_dtype.has_value() && mapping == "ASYMMETRIC") {
    zero_point_dtype = kInt;
  }
  return {
      scale.to(scale_dtype.value_or(input.scalar_type())),
      zero_point.to(zero_point_dtype.value_or(scale.scalar_type()))};
}

// ---- float8 ----------------------------------------------------------------------

bool is_float8(ScalarType dtype) {
  return dtype == kFloat8_e4m3fn || dtype == kFloat8_e5m2;
}

Tensor choose_scale_float8(
    const Tensor& tensor,
    IntArrayRef block_size,
    ScalarType float8_dtype,
    ScalarType scale_dtype,
    std::optional<double> low,
    std::optional<double> high) {
  constexpr const char* kOp = "torchao::choose_scale_float8";
  TORCH_CHECK(
      is_float8(float8_dtype) && (scale_dtype == kFloat || scale_dtype == ScalarType::Float8_e8m0fnu), kOp,
      ": expected float8_e4m3fn or float8_e5m2 with scales of float32 or float8_e8m0fnu, got ", float8_dtype, " and ",
      scale_dtype);
  const Blocks blocks(kOp, tensor.sizes(), block_size);
  const Tensor x = tensor.reshape(blocks.split).abs();
  Tensor most = blocks.within.empty() ? x : at::amax(x, blocks.within, true);
  most = low.has_value() ? most.clamp_min(*low) : most;
  most = high.has_value() ? most.clamp_max(*high) : most;
  const Tensor scale = (most / bounds_of(kOp, float8_dtype).high).reshape(blocks.counts);
  return (scale_dtype == kFloat ? scale : at::exp2(at::round(at::log2(scale)))).to(kFloat);
}

/// A scale as broadcasting takes it: elements of a block have the same one.
Tensor expanded_scale(const char* op, Tensor scale, IntArrayRef sizes) {
  const auto dims = static_cast<size_t>(scale.dim());
  const bool is_by_block = scale.numel() != 1 && dims == sizes.size();
  TORCH_CHECK(
      scale.numel() == 1 || is_by_block, op, ": the scale has sizes ", scale.sizes(), ", the tensor ", sizes,
      ": both must have the same number of dimensions");
  for (size_t i = 0; is_by_block && i < dims; ++i) {
    const auto dim = static_cast<int64_t>(i);
    const int64_t blocks = scale.size(dim);
    TORCH_CHECK(
        blocks > 0 && sizes[i] % blocks == 0, op, ": size ", sizes[i], " of dimension ", i,
        " is not evenly divisible by that of the scale, ", blocks);
    scale = blocks == 1 || blocks == sizes[i] ? scale : scale.repeat_interleave(sizes[i] / blocks, dim);
  }
  return scale;
}

Tensor quantize_float8(const Tensor& tensor, const Tensor& scale, ScalarType dtype) {
  constexpr const char* kOp = "torchao::quantize_affine_float8_non_decomposed";
  TORCH_CHECK(is_float8(dtype), kOp, ": expected float8_e4m3fn or float8_e5m2, got ", dtype);
  const double largest = bounds_of(kOp, dtype).high;
  return (tensor.to(kFloat) / expanded_scale(kOp, scale, tensor.sizes())).clamp(-largest, largest).to(dtype);
}

Tensor dequantize_float8(const Tensor& tensor, const Tensor& scale, ScalarType dtype) {
  constexpr const char* kOp = "torchao::dequantize_affine_float8_non_decomposed";
  return (tensor.to(kFloat) * expanded_scale(kOp, scale, tensor.sizes())).to(dtype);
}

// ---- products --------------------------------------------------------------------

Tensor int_matmul(const Tensor& a, const Tensor& b) {
  return at::_int_mm(a, b);
}

Tensor int_scaled_matmul(const Tensor& a, const Tensor& b, const Tensor& scales) {
  return at::_int_mm(a, b).to(scales.scalar_type()) * scales;
}

// ---- table -----------------------------------------------------------------------

using c10::impl::builtin_kernel;

constexpr OperatorRow kTorchaoRows[] = {
    {"torchao::choose_qparams_affine", "",
     "choose_qparams_affine(Tensor? input, str mapping_type, SymInt[] block_size, ScalarType target_dtype, Scalar? "
     "quant_min=None, Scalar? quant_max=None, float? eps=None, ScalarType? scale_dtype=None, ScalarType? "
     "zero_point_dtype=None, bool keepdim=False) -> (Tensor, Tensor)",
     builtin_kernel<&choose_qparams_affine>()},
    {"torchao::choose_scale_float8", "",
     "choose_scale_float8(Tensor tensor, SymInt[] block_size, ScalarType float8_dtype=24, ScalarType scale_dtype=6, "
     "float? hp_value_lb=None, float? hp_value_ub=None) -> Tensor",
     builtin_kernel<&choose_scale_float8>()},
    {"torchao::dequantize_affine", "",
     "dequantize_affine(Tensor input, SymInt[] block_size, Tensor scale, Tensor? zero_point, ScalarType input_dtype, "
     "Scalar? quant_min=None, Scalar? quant_max=None, ScalarType output_dtype=6) -> Tensor",
     builtin_kernel<&dequantize_affine>()},
    {"torchao::dequantize_affine_float8_non_decomposed", "",
     "dequantize_affine_float8_non_decomposed(Tensor tensor, Tensor scale, ScalarType output_dtype=6) -> Tensor",
     builtin_kernel<&dequantize_float8>()},
    {"torchao::int_matmul", "", "int_matmul(Tensor a, Tensor b) -> Tensor", builtin_kernel<&int_matmul>()},
    {"torchao::int_scaled_matmul", "", "int_scaled_matmul(Tensor a, Tensor b, Tensor scales1) -> Tensor",
     builtin_kernel<&int_scaled_matmul>()},
    {"torchao::quantize_affine", "",
     "quantize_affine(Tensor input, SymInt[] block_size, Tensor scale, Tensor? zero_point, ScalarType output_dtype, "
     "Scalar? quant_min=None, Scalar? quant_max=None) -> Tensor",
     builtin_kernel<&quantize_affine>()},
    {"torchao::quantize_affine_float8_non_decomposed", "",
     "quantize_affine_float8_non_decomposed(Tensor tensor, Tensor scale, ScalarType float8_dtype=24) -> Tensor",
     builtin_kernel<&quantize_float8>()},
};

constinit OperatorTable kTorchaoOperators("aten/quantized/torchao_library.cpp", kTorchaoRows);
const RegisteredTable kTorchaoRegistered(kTorchaoOperators);

} // namespace
} // namespace at::quantized
