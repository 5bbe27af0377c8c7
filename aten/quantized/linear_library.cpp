// quantized::, linear layers and the class of their weights.
#include <aten/Functions.h>
#include <aten/quantized/operator_table.h>
#include <aten/quantized/packed_params.h>
#include <c10/util/Exception.h>

#include <tuple>

namespace at::quantized {
namespace {

using LinearPtr = c10::intrusive_ptr<LinearPackedParams>;
using UnpackedLinear = LinearPackedParams::State;

const auto kLinearClass =
    torch::class_<LinearPackedParams>("quantized", "LinearPackedParamsBase")
        .def_pickle(
            [](const LinearPtr& self) -> LinearPackedParams::State { return self->unpack(); },
            [](LinearPackedParams::State state) -> LinearPtr {
              return c10::make_intrusive<LinearPackedParams>(std::get<0>(state), std::get<1>(state));
            })
        .def("bias", [](const LinearPtr& self) { return std::get<1>(self->unpack()); })
        .def("unpack", [](const LinearPtr& self) { return self->unpack(); });

LinearPtr linear_prepack(const Tensor& weight, const std::optional<Tensor>& bias) {
  return c10::make_intrusive<LinearPackedParams>(weight, bias);
}

UnpackedLinear linear_unpack(const LinearPtr& weight) {
  return weight->unpack();
}

template <bool Relu>
Tensor linear(const Tensor& x, const LinearPtr& weight, double scale, int64_t zero_point) {
  return weight->apply(x, scale, zero_point, Relu);
}

template <bool Relu>
Tensor linear_dynamic(const Tensor& x, const LinearPtr& weight, bool reduce_range) {
  return weight->apply_dynamic(x, Relu, reduce_range);
}

template <bool Relu>
Tensor linear_half(const Tensor& x, const LinearPtr& weight) {
  return weight->apply_half(x, Relu);
}

Tensor linear_half_unpacked(const Tensor& x, const Tensor& weight, const std::optional<Tensor>& bias) {
  return linear_prepack(weight, bias)->apply_half(x, false);
}

Tensor linear_leaky_relu(
    const Tensor& x, const LinearPtr& weight, double scale, int64_t zero_point, double negative_slope) {
  return at::quantize_per_tensor(at::leaky_relu(weight->apply_to_float(x), negative_slope), scale, zero_point, kQUInt8);
}

Tensor linear_tanh(const Tensor& x, const LinearPtr& weight, double scale, int64_t zero_point) {
  return at::quantize_per_tensor(at::tanh(weight->apply_to_float(x)), scale, zero_point, kQUInt8);
}

template <bool Relu>
Tensor linear_to_float(const Tensor& x, double scale, int64_t zero_point, const LinearPtr& weight) {
  const Tensor out = weight->apply_to_float(at::quantize_per_tensor(x, scale, zero_point, kQUInt8));
  return Relu ? at::relu(out) : out;
}

// Packed weights were tensors of bytes that only one processor could read.
Tensor prepack_legacy(const Tensor&, const std::optional<Tensor>&) {
  TORCH_CHECK(
      false,
      "This model uses an outdated version of quantized.linear_prepack. Please re-export your model using the newer "
      "definitions in torch.jit.quantized");
}
UnpackedLinear unpack_legacy(const Tensor&) {
  TORCH_CHECK(
      false,
      "This model uses an outdated version of quantized.linear_unpack. Please re-export your model using the newer "
      "definitions in torch.jit.quantized");
}

// ---- with plain tensors, as compiled graphs have them --------------------------

Tensor wrapped_linear(
    const Tensor& x,
    const Tensor& x_scale,
    const Tensor& x_zero_point,
    const Tensor& weight,
    const Tensor& weight_scale,
    const Tensor& weight_zero_point,
    const Tensor& bias,
    const Tensor& out_scale,
    const Tensor& out_zero_point,
    int64_t) {
  const Tensor qx = at::quantize_per_tensor(x, x_scale, x_zero_point, kQUInt8);
  const Tensor qw = at::quantize_per_tensor(weight, weight_scale, weight_zero_point, kQInt8);
  return at::dequantize(
      linear_prepack(qw, bias)->apply(qx, out_scale.item<double>(), out_zero_point.item<int64_t>(), false));
}

Tensor wrapped_pack_half(const Tensor& weight) {
  return std::get<0>(linear_prepack(weight, {})->unpack()).to(kHalf);
}

Tensor wrapped_linear_half(const Tensor& x, const Tensor& weight, const Tensor& bias, int64_t) {
  return linear_half_unpacked(x, weight.to(kFloat), bias);
}

Tensor wrapped_linear_prepack(const Tensor& weight, const Tensor& scale, const Tensor& zero_point, const Tensor& bias) {
  return at::_wrapped_linear_prepack(weight, scale, zero_point, bias);
}

Tensor wrapped_linear_prepacked(
    const Tensor& x,
    const Tensor& x_scale,
    const Tensor& x_zero_point,
    const Tensor& packed,
    const Tensor& out_scale,
    const Tensor& out_zero_point,
    int64_t outputs) {
  return at::_wrapped_quantized_linear_prepacked(x, x_scale, x_zero_point, packed, out_scale, out_zero_point, outputs);
}

Tensor int4mm_packed(const Tensor& x, const Tensor& weight, const Tensor& group_size, const Tensor& scales_and_zeros) {
  return at::_weight_int4pack_mm_for_cpu(x, weight, group_size.item<int64_t>(), scales_and_zeros);
}

// ---- table ---------------------------------------------------------------------

using c10::impl::builtin_kernel;

constexpr OperatorRow kLinearRows[] = {
    {"quantized::linear_prepack", "",
     "linear_prepack(Tensor W, Tensor? B=None) -> __torch__.torch.classes.quantized.LinearPackedParamsBase W_prepack",
     builtin_kernel<&linear_prepack>()},
    {"quantized::linear_prepack_fp16", "",
     "linear_prepack_fp16(Tensor W, Tensor? B=None) -> __torch__.torch.classes.quantized.LinearPackedParamsBase "
     "W_prepack",
     builtin_kernel<&linear_prepack>()},
    {"quantized::linear_unpack", "",
     "linear_unpack(__torch__.torch.classes.quantized.LinearPackedParamsBase W_prepack) -> (Tensor W_origin, Tensor? "
     "B_origin)",
     builtin_kernel<&linear_unpack>()},
    {"quantized::linear_unpack_fp16", "",
     "linear_unpack_fp16(__torch__.torch.classes.quantized.LinearPackedParamsBase W_prepack) -> (Tensor W_origin, "
     "Tensor? B_origin)",
     builtin_kernel<&linear_unpack>()},
    {"quantized::linear", "",
     "linear(Tensor X, __torch__.torch.classes.quantized.LinearPackedParamsBase W_prepack, float Y_scale_i, int "
     "Y_zero_point_i) -> Tensor Y",
     builtin_kernel<&linear<false>>()},
    {"quantized::linear_relu", "",
     "linear_relu(Tensor X, __torch__.torch.classes.quantized.LinearPackedParamsBase W_prepack, float Y_scale_i, int "
     "Y_zero_point_i) -> Tensor Y",
     builtin_kernel<&linear<true>>()},
    {"quantized::linear_leaky_relu", "",
     "linear_leaky_relu(Tensor X, __torch__.torch.classes.quantized.LinearPackedParamsBase W_prepack, float Y_scale_i, "
     "int Y_zero_point_i, float negative_slope) -> Tensor Y",
     builtin_kernel<&linear_leaky_relu>()},
    {"quantized::linear_tanh", "",
     "linear_tanh(Tensor X, __torch__.torch.classes.quantized.LinearPackedParamsBase W_prepack, float Y_scale_i, int "
     "Y_zero_point_i) -> Tensor Y",
     builtin_kernel<&linear_tanh>()},
    {"quantized::linear_dynamic", "",
     "linear_dynamic(Tensor X, __torch__.torch.classes.quantized.LinearPackedParamsBase W_prepack, bool "
     "reduce_range=False) -> Tensor Y",
     builtin_kernel<&linear_dynamic<false>>()},
    {"quantized::linear_relu_dynamic", "",
     "linear_relu_dynamic(Tensor X, __torch__.torch.classes.quantized.LinearPackedParamsBase W_prepack, bool "
     "reduce_range=False) -> Tensor Y",
     builtin_kernel<&linear_dynamic<true>>()},
    {"quantized::linear_dynamic_fp16", "",
     "linear_dynamic_fp16(Tensor X, __torch__.torch.classes.quantized.LinearPackedParamsBase W_prepack) -> Tensor Y",
     builtin_kernel<&linear_half<false>>()},
    {"quantized::linear_relu_dynamic_fp16", "",
     "linear_relu_dynamic_fp16(Tensor X, __torch__.torch.classes.quantized.LinearPackedParamsBase W_prepack) -> Tensor "
     "Y",
     builtin_kernel<&linear_half<true>>()},
    {"quantized::linear_dynamic_fp16_unpacked_weight", "",
     "linear_dynamic_fp16_unpacked_weight(Tensor X, Tensor weight, Tensor? bias) -> Tensor Y",
     builtin_kernel<&linear_half_unpacked>()},
    {"quantized::linear_with_input_q_dq_qweight_dq_output_fp32", "",
     "linear_with_input_q_dq_qweight_dq_output_fp32(Tensor X, float X_scale, int X_zero_point, "
     "__torch__.torch.classes.quantized.LinearPackedParamsBase W_prepack) -> Tensor Y",
     builtin_kernel<&linear_to_float<false>>()},
    {"quantized::linear_with_input_q_dq_qweight_dq_relu_output_fp32", "",
     "linear_with_input_q_dq_qweight_dq_relu_output_fp32(Tensor X, float X_scale, int X_zero_point, "
     "__torch__.torch.classes.quantized.LinearPackedParamsBase W_prepack) -> Tensor Y",
     builtin_kernel<&linear_to_float<true>>()},
    {"quantized::linear_prepack_legacy", "", "linear_prepack_legacy(Tensor W, Tensor? B=None) -> Tensor W_prepack",
     builtin_kernel<&prepack_legacy>()},
    {"quantized::linear_prepack_fp16_legacy", "",
     "linear_prepack_fp16_legacy(Tensor W, Tensor? B=None) -> Tensor W_prepack", builtin_kernel<&prepack_legacy>()},
    {"quantized::linear_unpack", "legacy",
     "linear_unpack.legacy(Tensor W_prepack) -> (Tensor W_origin, Tensor? B_origin)", builtin_kernel<&unpack_legacy>()},
    {"quantized::linear_unpack_fp16", "legacy",
     "linear_unpack_fp16.legacy(Tensor W_prepack) -> (Tensor W_origin, Tensor? B_origin)",
     builtin_kernel<&unpack_legacy>()},
    {"_quantized::linear", "",
     "linear(Tensor X, __torch__.torch.classes.quantized.LinearPackedParamsBase W_prepack, float Y_scale_i, int "
     "Y_zero_point_i) -> Tensor Y",
     builtin_kernel<&linear<false>>()},
    {"_quantized::linear_dynamic", "",
     "linear_dynamic(Tensor X, __torch__.torch.classes.quantized.LinearPackedParamsBase W_prepack, bool "
     "reduce_range=False) -> Tensor Y",
     builtin_kernel<&linear_dynamic<false>>()},
    {"_quantized::linear_prepack", "",
     "linear_prepack(Tensor W, Tensor? B=None) -> __torch__.torch.classes.quantized.LinearPackedParamsBase W_prepack",
     builtin_kernel<&linear_prepack>()},
    {"_quantized::linear_prepack_fp16", "",
     "linear_prepack_fp16(Tensor W, Tensor? B=None) -> __torch__.torch.classes.quantized.LinearPackedParamsBase "
     "W_prepack",
     builtin_kernel<&linear_prepack>()},
    {"_quantized::linear_prepack_legacy", "", "linear_prepack_legacy(Tensor W, Tensor? B=None) -> Tensor W_prepack",
     builtin_kernel<&prepack_legacy>()},
    {"_quantized::linear_prepack_fp16_legacy", "",
     "linear_prepack_fp16_legacy(Tensor W, Tensor? B=None) -> Tensor W_prepack", builtin_kernel<&prepack_legacy>()},
    {"_quantized::wrapped_quantized_linear", "",
     "wrapped_quantized_linear(Tensor X, Tensor X_scale, Tensor X_zero_point, Tensor W, Tensor W_scale, Tensor "
     "W_zero_point, Tensor B, Tensor output_scale, Tensor output_zero_point, int out_channel) -> Tensor Y",
     builtin_kernel<&wrapped_linear>()},
    {"_quantized::wrapped_fbgemm_pack_gemm_matrix_fp16", "", "wrapped_fbgemm_pack_gemm_matrix_fp16(Tensor W) -> Tensor",
     builtin_kernel<&wrapped_pack_half>()},
    {"_quantized::wrapped_fbgemm_linear_fp16_weight", "",
     "wrapped_fbgemm_linear_fp16_weight(Tensor X, Tensor W, Tensor B, int out_channel) -> Tensor",
     builtin_kernel<&wrapped_linear_half>()},
    {"_quantized::_wrapped_linear_prepack", "",
     "_wrapped_linear_prepack(Tensor W, Tensor W_scale, Tensor W_zero_point, Tensor B) -> Tensor",
     builtin_kernel<&wrapped_linear_prepack>()},
    {"_quantized::_wrapped_quantized_linear_prepacked", "",
     "_wrapped_quantized_linear_prepacked(Tensor X, Tensor X_scale, Tensor X_zero_point, Tensor W_prepack, Tensor "
     "output_scale, Tensor output_zero_point, int out_channel) -> Tensor Y",
     builtin_kernel<&wrapped_linear_prepacked>()},
    {"quantized::int4mm_packed_weight_cpu", "",
     "int4mm_packed_weight_cpu(Tensor self, Tensor mat2, Tensor qGroupSize, Tensor qScaleAndZeros) -> Tensor",
     builtin_kernel<&int4mm_packed>()},
};

constinit OperatorTable kLinearOperators("aten/quantized/linear_library.cpp", kLinearRows);
const RegisteredTable kLinearRegistered(kLinearOperators);

} // namespace
} // namespace at::quantized
