// Recurrent cells and products with weights of 8-bit integers or halves, which come as plain tensors.
#include <aten/Functions.h>
#include <aten/core/TensorOperators.h>
#include <aten/quantized/QTensorImpl.h>
#include <aten/quantized/recurrent_cells.h>
#include <c10/util/Exception.h>

#include <tuple>

namespace at::native {
namespace {

constexpr int64_t kBiasBytes = sizeof(float); // behind each row of _wrapped_linear_prepack

/// A weight as fbgemm_linear_quantize_weight makes it.
struct IntegerWeight {
  const Tensor& integers;
  const Tensor& bias;
  const Scalar& scale;
  const Scalar& zero_point;

  quantized::CellLinear packed() const {
    return quantized::packed_linear_of(integers, scale.toDouble(), zero_point.toLong(), bias);
  }
};

quantized::CellState next_state(
    quantized::CellStep* step,
    const Tensor& input,
    const quantized::CellState& state,
    const IntegerWeight& ih,
    const IntegerWeight& hh) {
  const quantized::CellParams params(
      quantized::CellParams::Kind::Plain, ih.packed(), hh.packed(), ih.bias, hh.bias, false);
  return step(params.inputs(input), state, params);
}

} // namespace

std::tuple<Tensor, Tensor> quantized_lstm_cell(
    const Tensor& input,
    TensorList hx,
    const Tensor& w_ih,
    const Tensor& w_hh,
    const Tensor& b_ih,
    const Tensor& b_hh,
    const Tensor&,
    const Tensor&,
    const Tensor&,
    const Tensor&,
    const Scalar& scale_ih,
    const Scalar& scale_hh,
    const Scalar& zero_ih,
    const Scalar& zero_hh) {
  const quantized::CellState next = next_state(
      &quantized::lstm_step, input, quantized::lstm_state(hx), {w_ih, b_ih, scale_ih, zero_ih},
      {w_hh, b_hh, scale_hh, zero_hh});
  return {next.hidden, next.cell};
}

Tensor quantized_gru_cell(
    const Tensor& input,
    const Tensor& hx,
    const Tensor& w_ih,
    const Tensor& w_hh,
    const Tensor& b_ih,
    const Tensor& b_hh,
    const Tensor&,
    const Tensor&,
    const Tensor&,
    const Tensor&,
    const Scalar& scale_ih,
    const Scalar& scale_hh,
    const Scalar& zero_ih,
    const Scalar& zero_hh) {
  return next_state(
             &quantized::gru_step, input, {hx, Tensor()}, {w_ih, b_ih, scale_ih, zero_ih},
             {w_hh, b_hh, scale_hh, zero_hh})
      .hidden;
}

Tensor quantized_rnn_relu_cell(
    const Tensor& input,
    const Tensor& hx,
    const Tensor& w_ih,
    const Tensor& w_hh,
    const Tensor& b_ih,
    const Tensor& b_hh,
    const Tensor&,
    const Tensor&,
    const Tensor&,
    const Tensor&,
    const Scalar& scale_ih,
    const Scalar& scale_hh,
    const Scalar& zero_ih,
    const Scalar& zero_hh) {
  return next_state(
             &quantized::relu_step, input, {hx, Tensor()}, {w_ih, b_ih, scale_ih, zero_ih},
             {w_hh, b_hh, scale_hh, zero_hh})
      .hidden;
}

Tensor quantized_rnn_tanh_cell(
    const Tensor& input,
    const Tensor& hx,
    const Tensor& w_ih,
    const Tensor& w_hh,
    const Tensor& b_ih,
    const Tensor& b_hh,
    const Tensor&,
    const Tensor&,
    const Tensor&,
    const Tensor&,
    const Scalar& scale_ih,
    const Scalar& scale_hh,
    const Scalar& zero_ih,
    const Scalar& zero_hh) {
  return next_state(
             &quantized::tanh_step, input, {hx, Tensor()}, {w_ih, b_ih, scale_ih, zero_ih},
             {w_hh, b_hh, scale_hh, zero_hh})
      .hidden;
}

std::tuple<Tensor, Tensor, double, int64_t> fbgemm_linear_quantize_weight(const Tensor& weight) {
  const Tensor q = at::quantize_per_tensor_dynamic(weight.contiguous(), kQInt8, false), integers = at::int_repr(q);
  return {integers, quantized::column_offsets(integers, at::q_zero_point(q)), at::q_scale(q), at::q_zero_point(q)};
}

Tensor fbgemm_pack_quantized_matrix(const Tensor& weight) {
  return weight.clone();
}

Tensor fbgemm_pack_quantized_matrix_kn(const Tensor& weight, int64_t, int64_t) {
  return weight.clone();
}

Tensor fbgemm_linear_int8_weight(
    const Tensor& input,
    const Tensor& weight,
    const Tensor&,
    const Tensor&,
    const Scalar& scale,
    const Scalar& zero_point,
    const Tensor& bias) {
  return quantized::packed_linear_of(weight, scale.toDouble(), zero_point.toLong(), bias)
      ->apply_dynamic(input, false, false);
}

Tensor fbgemm_pack_gemm_matrix_fp16(const Tensor& weight) {
  return std::get<0>(c10::make_intrusive<quantized::LinearPackedParams>(weight, std::nullopt)->unpack()).to(kHalf);
}

Tensor fbgemm_linear_fp16_weight_fp32_activation(
    const Tensor& input, const Tensor& packed, const std::optional<Tensor>& bias) {
  return at::linear(input, packed.to(kFloat), bias);
}

Tensor fbgemm_linear_fp16_weight(const Tensor& input, const Tensor& packed, const Tensor& bias) {
  return at::linear(input, packed.to(kFloat), bias);
}

Tensor wrapped_linear_prepack(const Tensor& weight, const Tensor& scale, const Tensor& zero_point, const Tensor& bias) {
  TORCH_CHECK(
      weight.dim() == 2 && bias.scalar_type() == kFloat && bias.sizes() == IntArrayRef({weight.size(0)}),
      "_wrapped_linear_prepack: expected a weight of 2 dimensions and a float32 bias for each of its rows, got ",
      weight.sizes(), " and ", bias.sizes(), " (", bias.scalar_type(), ")");
  const Tensor q = at::quantize_per_tensor(weight, scale, zero_point, kQInt8);
  const Tensor bytes = bias.contiguous().view(kChar).view({bias.numel(), kBiasBytes});
  return make_quantized(at::cat({integers_of(q), bytes}, 1), get_quantizer(q));
}

Tensor wrapped_quantized_linear_prepacked(
    const Tensor& input,
    const Tensor& input_scale,
    const Tensor& input_zero_point,
    const Tensor& packed,
    const Tensor& output_scale,
    const Tensor& output_zero_point,
    int64_t out_channel) {
  TORCH_CHECK(
      packed.scalar_type() == kQInt8 && packed.dim() == 2 && packed.size(0) == out_channel &&
          packed.size(1) >= kBiasBytes && !get_quantizer(packed)->is_per_channel(),
      "_wrapped_quantized_linear_prepacked: expected what _wrapped_linear_prepack returns for ", out_channel,
      " outputs, got ", packed.scalar_type(), " ", packed.sizes());
  const Tensor integers = integers_of(packed);
  const int64_t inputs = packed.size(1) - kBiasBytes;
  const Tensor bias = integers.narrow(1, inputs, kBiasBytes).contiguous().view(kFloat).view({out_channel});
  const Tensor x = at::quantize_per_tensor(input, input_scale, input_zero_point, kQUInt8);
  return at::dequantize(
      quantized::packed_linear_of(integers.narrow(1, 0, inputs), at::q_scale(packed), at::q_zero_point(packed), bias)
          ->apply(x, output_scale.item<double>(), output_zero_point.item<int64_t>(), false));
}

} // namespace at::native
