// torchao::, layers whose weights are packed: products of 4-bit and float8 weights, attention and bags of embeddings in
// 8 bits. What they compute is what torchao 0.18's sources say; blocks of weights lie as they do there on processors
// without AMX, whatever the processor.
#include <aten/Functions.h>
#include <aten/core/TensorOperators.h>
#include <aten/quantized/operator_table.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <tuple>
#include <utility>

namespace at::quantized {
namespace {

using OptionalTensor = std::optional<Tensor>;

constexpr int64_t kBlockOutputs = 32, kMaxBlockInputs = 128;
constexpr double kLargestFloat8 = 448; // of float8_e4m3fn

bool is_output_dtype(ScalarType dtype) {
  return dtype == kFloat || dtype == kBFloat16 || dtype == kHalf;
}

void check_output_dtype(const char* op, ScalarType dtype) {
  TORCH_CHECK(is_output_dtype(dtype), op, ": output_dtype is ", dtype, ": it must be float32, bfloat16 or float16");
}

void check_bias(const char* op, const OptionalTensor& bias, int64_t outputs) {
  TORCH_CHECK(
      !bias.has_value() || !bias->defined() || (bias->scalar_type() == kFloat && bias->numel() == outputs), op,
      ": the bias must be float32 with a number for each of ", outputs, " outputs");
}

Tensor bias_or_zeros(const OptionalTensor& bias, const Tensor& like, int64_t outputs) {
  return bias.has_value() && bias->defined() ? bias->reshape({outputs})
                                             : at::zeros({outputs}, like.options().dtype(kFloat));
}

/// Parameters of groups (out, groups) as [out / 32, groups, 32].
Tensor blocked(const Tensor& by_group) {
  return by_group.view({-1, kBlockOutputs, by_group.size(1)}).transpose(1, 2).contiguous();
}

/// And back.
Tensor unblocked(const Tensor& blocks) {
  return blocks.transpose(1, 2).reshape({-1, blocks.size(1)});
}

/// A column for each group; a vector has one.
Tensor by_group(const char* op, const Tensor& parameters, int64_t outputs) {
  const Tensor columns = parameters.dim() == 1 ? parameters.unsqueeze(1) : parameters;
  TORCH_CHECK(
      columns.dim() == 2 && columns.size(0) == outputs && columns.size(1) > 0, op, ": scales and zero points are ",
      parameters.sizes(), ": they must be (", outputs, " outputs, groups)");
  return columns;
}

/// A tensor of integers or float8 [out, in] as [out / 32, in / size, size, 32].
Tensor in_blocks(const Tensor& weight, int64_t size) {
  return weight.view({weight.size(0) / kBlockOutputs, kBlockOutputs, weight.size(1) / size, size})
      .permute({0, 2, 3, 1})
      .contiguous();
}

/// What in_blocks was made of.
Tensor out_of_blocks(const Tensor& blocks) {
  return blocks.permute({0, 3, 1, 2}).reshape({blocks.size(0) * blocks.size(3), blocks.size(1) * blocks.size(2)});
}

// ---- 4-bit weights ---------------------------------------------------------------

std::tuple<Tensor, Tensor, Tensor, Tensor> da8w4_linear_prepack(
    const Tensor& weight, const Tensor& given_scales, const Tensor& given_zeros) {
  constexpr const char* kOp = "torchao::da8w4_linear_prepack_cpu";
  TORCH_CHECK(
      weight.dim() == 2 && weight.scalar_type() == kByte, kOp, ": the weight is ", weight.sizes(), " (",
      weight.scalar_type(), "): Weight should be a 2D tensor for packing, uint8 with codes from 0 to 15");
  const int64_t outputs = weight.size(0), inputs = weight.size(1);
  const Tensor scales = by_group(kOp, given_scales, outputs).to(kFloat);
  const Tensor zeros = by_group(kOp, given_zeros, outputs).to(kChar);
  const int64_t groups = scales.size(1);
  TORCH_CHECK(
      zeros.size(1) == groups && inputs % groups == 0, kOp, ": ", groups, " groups of scales and ", zeros.size(1),
      " of zero points for ", inputs, " inputs: there must be as many of either, and they must divide the inputs");
  const int64_t size = std::min(inputs / groups, kMaxBlockInputs);
  TORCH_CHECK(
      outputs > 0 && outputs % kBlockOutputs == 0 && size > 0 && (inputs / groups) % size == 0, kOp, ": the weight is ",
      weight.sizes(), " in groups of ", inputs / groups, ": its outputs must be a multiple of ", kBlockOutputs,
      ", groups at most ", kMaxBlockInputs, " inputs or a multiple of them");
  const Tensor codes = in_blocks(weight.bitwise_and(15), size);
  const Tensor pairs = codes.view({codes.size(0), codes.size(1), size, kBlockOutputs / 2, 2});
  const Tensor packed = pairs.select(4, 0).bitwise_or(pairs.select(4, 1).bitwise_left_shift(4)).contiguous();
  const Tensor centered = weight.view({outputs, groups, -1}).to(kInt) - zeros.unsqueeze(2).to(kInt);
  const Tensor sums = centered.view({outputs, inputs / size, size}).sum(-1, false, kInt);
  return {packed, blocked(scales), blocked(zeros), blocked(sums)};
}

struct Da8w4Shapes {
  int64_t outputs, inputs, block, groups;
};

Da8w4Shapes check_da8w4(
    const char* op,
    const Tensor& input,
    const Tensor& input_scales,
    const Tensor& input_zeros,
    const Tensor& weight,
    const Tensor& scales,
    const Tensor& zeros,
    const Tensor& sums) {
  TORCH_CHECK(
      weight.dim() == 4 && weight.scalar_type() == kByte && weight.size(3) * 2 == kBlockOutputs, op,
      ": unexpected weight shape ", weight.sizes(), " (", weight.scalar_type(),
      "): give what da8w4_linear_prepack_cpu gives");
  const Da8w4Shapes shapes{
      weight.size(0) * kBlockOutputs, weight.size(1) * weight.size(2), weight.size(2),
      scales.dim() == 3 ? scales.size(1) : 0};
  const bool fits =
      shapes.groups > 0 && shapes.inputs % shapes.groups == 0 && (shapes.inputs / shapes.groups) % shapes.block == 0;
  TORCH_CHECK(
      fits && scales.scalar_type() == kFloat && zeros.scalar_type() == kChar && sums.scalar_type() == kInt &&
          scales.sizes() == IntArrayRef({weight.size(0), shapes.groups, kBlockOutputs}) &&
          zeros.sizes() == scales.sizes() &&
          sums.sizes() == IntArrayRef({weight.size(0), weight.size(1), kBlockOutputs}),
      op, ": scales are ", scales.sizes(), ", zero points ", zeros.sizes(), ", compensation ", sums.sizes(),
      ": give what da8w4_linear_prepack_cpu gives");
  TORCH_CHECK(
      input.dim() > 0 && (input.scalar_type() == kByte || input.scalar_type() == kChar) &&
          input.size(-1) == shapes.inputs,
      op, ": the input is ", input.sizes(), " (", input.scalar_type(),
      "): weight and input shapes mismatch, it must be uint8 or int8 of ", shapes.inputs, " columns");
  const int64_t rows = input.numel() / shapes.inputs;
  TORCH_CHECK(
      input_scales.scalar_type() == kFloat && input_scales.numel() == rows &&
          (input.scalar_type() == kChar || (input_zeros.scalar_type() == kInt && input_zeros.numel() == rows)),
      op, ": unexpected input scales shape ", input_scales.sizes(), ", zero points ", input_zeros.sizes(),
      ": there must be a float32 scale for each of ", rows, " rows, and for uint8 an int32 zero point");
  return shapes;
}

/// Sums of integers are exact; each block's are scaled, then added in order, as torchao does.
Tensor da8w4_linear(
    const Tensor& input,
    const Tensor& input_scales,
    const Tensor& input_zeros,
    const Tensor& weight,
    const Tensor& weight_scales,
    const Tensor& weight_zeros,
    const Tensor& compensation,
    const OptionalTensor& bias,
    ScalarType output_dtype) {
  constexpr const char* kOp = "torchao::da8w4_linear_cpu";
  const Da8w4Shapes shapes =
      check_da8w4(kOp, input, input_scales, input_zeros, weight, weight_scales, weight_zeros, compensation);
  check_output_dtype(kOp, output_dtype);
  check_bias(kOp, bias, shapes.outputs);
  const Tensor codes = at::stack({weight.bitwise_and(15), weight.bitwise_right_shift(4)}, -1).flatten(-2);
  const Tensor zeros = unblocked(weight_zeros), scales = unblocked(weight_scales), sums = unblocked(compensation);
  const Tensor centered =
      (out_of_blocks(codes).view({shapes.outputs, shapes.groups, -1}).to(kChar) - zeros.unsqueeze(2))
          .view({shapes.outputs, shapes.inputs});
  const bool has_zeros = input.scalar_type() == kByte;
  const Tensor x = input.reshape({-1, shapes.inputs}), row_scales = input_scales.reshape({-1, 1});
  Tensor y = bias_or_zeros(bias, input, shapes.outputs).expand({x.size(0), shapes.outputs}).contiguous();
  const int64_t blocks_of_group = shapes.inputs / shapes.groups / shapes.block;
  for (int64_t block = 0; block < shapes.inputs / shapes.block; ++block) {
    const int64_t begin = block * shapes.block;
    Tensor product =
        at::_int_mm(x.narrow(1, begin, shapes.block).contiguous(), centered.narrow(1, begin, shapes.block).t());
    if (has_zeros) {
      product = product - input_zeros.reshape({-1, 1}) * sums.select(1, block);
    }
    y += product.to(kFloat) * row_scales * scales.select(1, block / blocks_of_group);
  }
  DimVector sizes(input.sizes());
  sizes.back() = shapes.outputs;
  return y.to(output_dtype).view(sizes);
}

// ---- float8 weights --------------------------------------------------------------

std::tuple<Tensor, Tensor> float8_linear_prepack(const Tensor& weight, const Tensor& given_scales) {
  constexpr const char* kOp = "torchao::float8_linear_prepack_cpu";
  TORCH_CHECK(
      weight.dim() == 2 && weight.scalar_type() == kFloat8_e4m3fn, kOp, ": the weight is ", weight.sizes(), " (",
      weight.scalar_type(), "): Weight should be a 2D tensor for packing, float8_e4m3fn");
  const int64_t outputs = weight.size(0), inputs = weight.size(1);
  if (weight.numel() == 0 || outputs % kBlockOutputs != 0 || inputs % kBlockOutputs != 0) {
    return {weight, given_scales}; // the product takes them as they are
  }
  const bool one_scale = given_scales.numel() == 1;
  const Tensor scales =
      one_scale ? given_scales.to(kFloat).reshape({1}) : by_group(kOp, given_scales, outputs).to(kFloat);
  const int64_t groups = one_scale ? 1 : scales.size(1);
  TORCH_CHECK(inputs % groups == 0, kOp, ": ", inputs, " inputs must be divisible by ", groups, " groups");
  int64_t size = std::min(inputs / groups, kMaxBlockInputs);
  while (inputs / groups % size != 0) {
    size /= 2;
  }
  return {in_blocks(weight, size), one_scale ? scales : blocked(scales)};
}

/// Scales of rows as a column that broadcasts over outputs.
Tensor of_rows(const Tensor& scales) {
  return scales.numel() == 1 ? scales.reshape({}) : scales.reshape({-1, 1});
}

Tensor float8_linear(
    const Tensor& input,
    const Tensor& input_scales,
    const Tensor& weight,
    const Tensor& weight_scales,
    const OptionalTensor& bias,
    ScalarType output_dtype) {
  constexpr const char* kOp = "torchao::float8_linear_cpu";
  check_output_dtype(kOp, output_dtype);
  TORCH_CHECK(
      (weight.dim() == 2 || weight.dim() == 4) && weight.scalar_type() == kFloat8_e4m3fn && weight.numel() > 0 &&
          input.dim() > 0 && input.scalar_type() == kFloat8_e4m3fn,
      kOp, ": the input is ", input.sizes(), " (", input.scalar_type(), "), the weight ", weight.sizes(), " (",
      weight.scalar_type(), "): both must be float8_e4m3fn, the weight what float8_linear_prepack_cpu gives");
  const Tensor plain = weight.dim() == 2 ? weight : out_of_blocks(weight);
  const int64_t outputs = plain.size(0), inputs = plain.size(1);
  TORCH_CHECK(
      input.size(-1) == inputs, kOp, ": weight and input shapes mismatch: the input is ", input.sizes(),
      ", the weight ", outputs, " x ", inputs);
  check_bias(kOp, bias, outputs);
  const Tensor x = input.reshape({-1, inputs}).to(kFloat), w = plain.to(kFloat);
  const int64_t rows = x.size(0);
  const bool by_groups = weight_scales.dim() == 3 && weight_scales.size(1) > 1;
  const int64_t groups = by_groups ? weight_scales.size(1) : 1;
  const bool input_groups = input_scales.numel() != 1 && input_scales.numel() != rows;
  TORCH_CHECK(
      weight_scales.scalar_type() == kFloat && input_scales.scalar_type() == kFloat && inputs % groups == 0 &&
          (weight_scales.numel() == 1 || weight_scales.numel() == outputs * groups) &&
          (!input_groups || (by_groups && input_scales.numel() == rows * groups)),
      kOp, ": unexpected input scales shape, scale shape:", input_scales.sizes(), ", M:", rows, ", num_groups:", groups,
      ", of weights: ", weight_scales.sizes(),
      ": scales must be float32, one, or one for each row or output, or for each of their groups (of inputs only where "
      "weights have them)");
  Tensor y;
  if (by_groups) {
    y = at::zeros({rows, outputs}, x.options());
    const Tensor scales = unblocked(weight_scales),
                 of_group = input_groups ? input_scales.reshape({rows, groups}) : Tensor();
    const int64_t size = inputs / groups;
    for (int64_t group = 0; group < groups; ++group) {
      const Tensor part = at::matmul(x.narrow(1, group * size, size), w.narrow(1, group * size, size).t());
      y += (input_groups ? part * of_group.narrow(1, group, 1) : part) * scales.select(1, group);
    }
  } else {
    y = at::matmul(x, w.t());
  }
  y = input_groups ? y : y * of_rows(input_scales);
  y = by_groups ? y : y * (weight_scales.numel() == 1 ? weight_scales.reshape({}) : weight_scales.reshape({outputs}));
  DimVector sizes(input.sizes());
  sizes.back() = outputs;
  return (y + bias_or_zeros(bias, x, outputs)).to(output_dtype).view(sizes);
}

// ---- attention -------------------------------------------------------------------

struct QuantParams {
  double scale;
  int64_t zero_point;
};

Tensor numbers_of(const Tensor& codes, const QuantParams& params) {
  return (codes.to(kFloat) - params.zero_point) * params.scale;
}

Tensor codes_of(const Tensor& numbers, const QuantParams& params, ScalarType dtype) {
  const Tensor steps = numbers / params.scale;
  return dtype == kByte ? (at::round(steps) + params.zero_point).clamp(0, 255).to(kByte)
                        : steps.clamp(-kLargestFloat8, kLargestFloat8).to(dtype);
}

void check_attention(
    const char* op, const Tensor& query, const Tensor& key, const Tensor& value, const OptionalTensor& mask) {
  const ScalarType dtype = query.scalar_type();
  TORCH_CHECK(
      (dtype == kByte || dtype == kFloat8_e4m3fn) && key.scalar_type() == dtype && value.scalar_type() == dtype, op,
      ": Expected data type be U8 or Float8_e4m3, but got ", dtype, ", ", key.scalar_type(), " and ",
      value.scalar_type());
  TORCH_CHECK(
      query.dim() == 4 && key.dim() == 4 && value.dim() == 4 && query.size(3) == value.size(3) &&
          key.size(3) == value.size(3) && key.size(2) == value.size(2),
      op, ": Accept only 4 dims inputs shape of {B, H, T, K} with the same head size, got ", query.sizes(), ", ",
      key.sizes(), " and ", value.sizes());
  const bool has_mask = mask.has_value() && mask->defined();
  TORCH_CHECK(
      !has_mask ||
          ((mask->scalar_type() == kFloat || mask->scalar_type() == kBFloat16) &&
           (mask->dim() == 2 || mask->dim() == 4)),
      op, ": Expected attention mask be float or bf16 of 2 or 4 dimensions");
}

/// Probabilities are rounded to 8 bits too.
Tensor qscaled_dot_product(
    const Tensor& query,
    const Tensor& key,
    const Tensor& value,
    const OptionalTensor& mask,
    double dropout,
    bool is_causal,
    std::optional<double> scale,
    double q_scale,
    int64_t q_zp,
    double k_scale,
    int64_t k_zp,
    double v_scale,
    int64_t v_zp,
    double a_scale,
    int64_t a_zp,
    double o_scale,
    int64_t o_zp) {
  constexpr const char* kOp = "torchao::qscaled_dot_product";
  check_attention(kOp, query, key, value, mask);
  TORCH_CHECK(!is_causal, kOp, ": is_causal not supported: give a mask");
  TORCH_CHECK(dropout == 0, kOp, ": Currently do not support dropout > 0, got ", dropout);
  const ScalarType dtype = query.scalar_type();
  TORCH_CHECK(
      dtype == kByte || (q_zp == 0 && k_zp == 0 && v_zp == 0 && a_zp == 0 && o_zp == 0), kOp,
      ": Don't accept zero point for Float8_e4m3");
  const QuantParams probabilities{a_scale, a_zp};
  const double factor = scale.value_or(1.0 / std::sqrt(static_cast<double>(query.size(3))));
  Tensor scores =
      at::matmul(numbers_of(query, {q_scale, q_zp}), numbers_of(key, {k_scale, k_zp}).transpose(-2, -1)) * factor;
  if (mask.has_value() && mask->defined() && mask->numel() > 0) {
    scores = scores + mask->to(kFloat);
  }
  const Tensor rounded = numbers_of(codes_of(at::softmax(scores, -1), probabilities, dtype), probabilities);
  const Tensor out = at::matmul(rounded, numbers_of(value, {v_scale, v_zp}));
  return codes_of(out, {o_scale, o_zp}, dtype).transpose(1, 2).contiguous().transpose(1, 2);
}

// ---- embeddings ------------------------------------------------------------------

void check_bags(
    const char* op, const Tensor& weight, const Tensor& indices, const Tensor& offsets, const Tensor& scale) {
  TORCH_CHECK(
      weight.dim() == 2 && (weight.scalar_type() == kChar || weight.scalar_type() == kFloat8_e4m3fn), op,
      ": the weight is ", weight.sizes(), " (", weight.scalar_type(),
      "): only support e4m3fn and int8 weight of 2 dimensions");
  TORCH_CHECK(
      scale.scalar_type() == kFloat && scale.numel() == 1, op, ": expected one float32 scale, got ", scale.sizes());
  TORCH_CHECK(
      indices.dim() == 1 && offsets.dim() == 1 && offsets.numel() > 0 &&
          offsets.scalar_type() == indices.scalar_type() &&
          (indices.scalar_type() == kInt || indices.scalar_type() == kLong),
      op, ": index and offset must be of the same type, int32 or int64, of 1 dimension, with an offset at least; got ",
      indices.sizes(), " (", indices.scalar_type(), ") and ", offsets.sizes(), " (", offsets.scalar_type(), ")");
}

Tensor scaled_embedding_bag(
    const Tensor& weight,
    const Tensor& indices,
    const Tensor& offsets,
    const Tensor& weight_scale,
    double o_scale,
    int64_t mode,
    bool include_last_offset,
    ScalarType output_dtype) {
  constexpr const char* kOp = "torchao::_scaled_embedding_bag";
  check_bags(kOp, weight, indices, offsets, weight_scale);
  TORCH_CHECK(include_last_offset && mode == 0, kOp, ": only support include_last_offset and sum mode (0), got ", mode);
  TORCH_CHECK(
      output_dtype == kFloat || output_dtype == kChar || output_dtype == kFloat8_e4m3fn, kOp,
      ": unsupported output type ", output_dtype, ": it must be float32, int8 or float8_e4m3fn");
  const int64_t count = indices.numel(), bags = offsets.numel() - 1;
  // The last offset is the number of indices, whatever it says.
  const Tensor ends = at::cat({offsets.narrow(0, 0, bags), at::full({1}, count, offsets.options())}).to(kLong);
  const Tensor sizes = ends.diff();
  TORCH_CHECK(
      bags == 0 || (ends.select(0, 0).item<int64_t>() >= 0 && sizes.min().item<int64_t>() >= 0), kOp,
      ": offsets must not fall, nor exceed the ", count, " indices");
  const Tensor used = bags == 0 ? indices.narrow(0, 0, 0)
                                : indices.narrow(0, ends.select(0, 0).item<int64_t>(), sizes.sum().item<int64_t>());
  TORCH_CHECK_INDEX(
      used.numel() == 0 || (used.min().item<int64_t>() >= 0 && used.max().item<int64_t>() < weight.size(0)), kOp,
      ": indices must be from 0 to ", weight.size(0) - 1);
  const Tensor bag_of = at::repeat_interleave(at::arange(bags, sizes.options()), sizes);
  Tensor sums = at::zeros({bags, weight.size(1)}, weight.options().dtype(kFloat));
  sums.index_add_(0, bag_of, weight.index_select(0, used).to(kFloat));
  const auto factor = static_cast<float>(static_cast<double>(weight_scale.item<float>()) / o_scale);
  sums = sums * factor;
  return output_dtype == kChar ? at::round(sums).clamp(-128, 127).to(kChar) : sums.to(output_dtype);
}

// ---- table -----------------------------------------------------------------------

using c10::impl::builtin_kernel;

constexpr OperatorRow kTorchaoLayerRows[] = {
    {"torchao::_scaled_embedding_bag", "",
     "_scaled_embedding_bag(Tensor qweight, Tensor indices, Tensor offsets, Tensor weight_scale, float o_scale, int "
     "mode, bool include_last_offset, ScalarType output_dtype) -> Tensor",
     builtin_kernel<&scaled_embedding_bag>()},
    {"torchao::da8w4_linear_cpu", "",
     "da8w4_linear_cpu(Tensor input, Tensor input_scales, Tensor input_qzeros, Tensor weight, Tensor weight_scales, "
     "Tensor weight_qzeros, Tensor compensation, Tensor? bias, ScalarType output_dtype) -> Tensor",
     builtin_kernel<&da8w4_linear>()},
    {"torchao::da8w4_linear_prepack_cpu", "",
     "da8w4_linear_prepack_cpu(Tensor weight, Tensor scales, Tensor qzeros) -> (Tensor, Tensor, Tensor, Tensor)",
     builtin_kernel<&da8w4_linear_prepack>()},
    {"torchao::float8_linear_cpu", "",
     "float8_linear_cpu(Tensor input, Tensor input_scales, Tensor weight, Tensor weight_scales, Tensor? bias, "
     "ScalarType output_dtype) -> Tensor",
     builtin_kernel<&float8_linear>()},
    {"torchao::float8_linear_prepack_cpu", "",
     "float8_linear_prepack_cpu(Tensor weight, Tensor scales) -> (Tensor, Tensor)",
     builtin_kernel<&float8_linear_prepack>()},
    {"torchao::qscaled_dot_product", "",
     "qscaled_dot_product(Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None, float dropout_p=0., bool "
     "is_causal=False, float? scale=None, float q_scale=1., int q_zp=0, float k_scale=1., int k_zp=0, float "
     "v_scale=1., int v_zp=0, float a_scale=1., int a_zp=0, float o_scale=1., int o_zp=0) -> Tensor",
     builtin_kernel<&qscaled_dot_product>()},
};

constinit OperatorTable kTorchaoLayers("aten/quantized/torchao_layers.cpp", kTorchaoLayerRows);
const RegisteredTable kTorchaoLayersRegistered(kTorchaoLayers);

} // namespace
} // namespace at::quantized
