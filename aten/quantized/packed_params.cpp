#include <aten/quantized/packed_params.h>

#include <aten/Functions.h>
#include <aten/core/TensorOperators.h>
#include <c10/util/Exception.h>

#include <utility>

namespace at::quantized {

LinearPackedParams::LinearPackedParams(Tensor weight, std::optional<Tensor> bias)
    : weight_(std::move(weight)), bias_(std::move(bias)) {
  constexpr const char* kOp = "quantized::linear_prepack";
  TORCH_CHECK(
      weight_.dim() == 2 && weight_.is_cpu(), "The weight tensor for ", kOp,
      " should be 2-dimensional, on the CPU, got sizes ", weight_.sizes(), " on ", weight_.device());
  check_bias(kOp, bias_, weight_.size(0));
  if (!weight_.is_quantized() && isFloatingType(weight_.scalar_type())) {
    constexpr double kLargest = 65504;
    weight_ = weight_.detach().clamp(-kLargest, kLargest).to(kHalf).to(kFloat);
    return;
  }
  const auto [scales, zero_points] = weight_factors(kOp, weight_);
  matrix_.emplace(integers_of(weight_).contiguous(), scales, zero_points);
}

Tensor LinearPackedParams::apply(const Tensor& input, double scale, int64_t zero_point, bool relu) const {
  check_activations("quantized::linear", input);
  TORCH_CHECK(matrix_.has_value(), "quantized::linear: the weight is of halves; call linear_dynamic_fp16");
  TORCH_CHECK(
      input.dim() >= 1 && input.size(-1) == matrix_->inputs(),
      "The number of columns in the weight should match K of the input: ", matrix_->inputs(), ", got input ",
      input.sizes());
  const QuantizerPtr& q = get_quantizer(input);
  const Tensor rows = integers_of(input).contiguous().view({-1, matrix_->inputs()});
  const Tensor out = matrix_->requantize(
      matrix_->sums(rows, q->zero_point), q->scale, defined_or_none(bias_), scale, zero_point, relu);
  DimVector sizes(input.sizes());
  sizes.back() = matrix_->outputs();
  return make_quantized(out.view(sizes), Quantizer::per_tensor(scale, zero_point, kQUInt8));
}

Tensor LinearPackedParams::rows_to_float(const Tensor& input, bool relu) const {
  TORCH_CHECK(
      input.dim() >= 1 && input.size(-1) == matrix_->inputs(),
      "The number of rows in the packB should be equal to K: ", matrix_->inputs(), ", got input ", input.sizes());
  const QuantizerPtr& quantizer = get_quantizer(input);
  const Tensor rows = integers_of(input).contiguous().view({-1, matrix_->inputs()});
  DimVector sizes(input.sizes());
  sizes.back() = matrix_->outputs();
  return matrix_->dequantize(matrix_->sums(rows, quantizer->zero_point), quantizer->scale, defined_or_none(bias_), relu)
      .view(sizes);
}

Tensor LinearPackedParams::apply_to_float(const Tensor& input) const {
  check_activations("quantized::linear", input);
  TORCH_CHECK(matrix_.has_value(), "quantized::linear: the weight is of halves; call linear_dynamic_fp16");
  return rows_to_float(input, false);
}

Tensor LinearPackedParams::apply_dynamic(const Tensor& input, bool relu, bool reduce_range) const {
  TORCH_CHECK(
      input.scalar_type() == kFloat, "quantized::linear_dynamic: expected input of float32, got ", input.scalar_type());
  TORCH_CHECK(matrix_.has_value(), "quantized::linear_dynamic: the weight is of halves; call linear_dynamic_fp16");
  return rows_to_float(at::quantize_per_tensor_dynamic(input.detach().contiguous(), kQUInt8, reduce_range), relu);
}

Tensor LinearPackedParams::apply_half(const Tensor& input, bool relu) const {
  TORCH_CHECK(
      !matrix_.has_value(), "quantized::linear_dynamic_fp16: the weight is of 8-bit integers; call linear_dynamic");
  const Tensor out = at::linear(input.to(kFloat), weight_, bias_);
  return relu ? out.relu() : out;
}

} // namespace at::quantized
