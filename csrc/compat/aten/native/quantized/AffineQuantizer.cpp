#include <csrc/compat/aten/native/quantized/AffineQuantizer.h>

#include <aten/Functions.h>
#include <aten/quantized/QTensorImpl.h>
#include <c10/util/Exception.h>

#include <utility>

namespace at::native {

namespace {

void check_sizes(const char* op, const Tensor& from, const Tensor& to) {
  TORCH_CHECK(
      from.sizes() == to.sizes(), op, ": tensors are ", from.sizes(), " and ", to.sizes(), ": they must be alike");
}

Tensor& fill_integers(Tensor& qtensor, const Tensor& quantized) {
  integers_of(qtensor).copy_(integers_of(quantized));
  return qtensor;
}

Tensor& fill_numbers(Tensor& rtensor, const Tensor& qtensor, QuantizerPtr quantizer) {
  return rtensor.copy_(at::dequantize(make_quantized(integers_of(qtensor), std::move(quantizer))));
}

} // namespace

Tensor& quantize_tensor_per_tensor_affine(const Tensor& rtensor, Tensor& qtensor, double scale, int64_t zero_point) {
  check_sizes("quantize_tensor_per_tensor_affine", rtensor, qtensor);
  return fill_integers(qtensor, at::quantize_per_tensor(rtensor, scale, zero_point, qtensor.scalar_type()));
}

Tensor& quantize_tensor_per_channel_affine(
    const Tensor& rtensor, Tensor& qtensor, const Tensor& scales, Tensor zero_points, int64_t axis) {
  check_sizes("quantize_tensor_per_channel_affine", rtensor, qtensor);
  return fill_integers(qtensor, at::quantize_per_channel(rtensor, scales, zero_points, axis, qtensor.scalar_type()));
}

Tensor& dequantize_tensor_per_tensor_affine(const Tensor& qtensor, Tensor& rtensor, double scale, int64_t zero_point) {
  check_sizes("dequantize_tensor_per_tensor_affine", qtensor, rtensor);
  return fill_numbers(rtensor, qtensor, Quantizer::per_tensor(scale, zero_point, qtensor.scalar_type()));
}

Tensor& dequantize_tensor_per_channel_affine(
    const Tensor& qtensor, Tensor& rtensor, const Tensor& scales, Tensor zero_points, int64_t axis) {
  check_sizes("dequantize_tensor_per_channel_affine", qtensor, rtensor);
  return fill_numbers(rtensor, qtensor, Quantizer::per_channel(scales, zero_points, axis, qtensor.scalar_type()));
}

} // namespace at::native
