// Quantized tensors without values, and ranges for them.
#include <aten/Functions.h>
#include <aten/quantized/QTensorImpl.h>
#include <aten/quantized/embedding_params.h>
#include <c10/util/Exception.h>

#include <tuple>

namespace at::native {
namespace {

Tensor empty_integers(
    const char* op,
    IntArrayRef size,
    std::optional<ScalarType> dtype,
    std::optional<Device> device,
    std::optional<MemoryFormat> memory_format) {
  TORCH_CHECK(
      dtype.has_value() && isQIntType(*dtype) && device.value_or(kCPU).is_cpu(), op,
      ": expected a quantized dtype on the CPU, got ", dtype.has_value() ? toString(*dtype) : "none", " on ",
      device.value_or(kCPU));
  return at::empty(size, TensorOptions(c10::toUnderlying(*dtype)), memory_format);
}

} // namespace

Tensor empty_affine_quantized(
    IntArrayRef size,
    std::optional<ScalarType> dtype,
    std::optional<Layout>,
    std::optional<Device> device,
    std::optional<bool>,
    double scale,
    int64_t zero_point,
    std::optional<MemoryFormat> memory_format) {
  const Tensor integers = empty_integers("_empty_affine_quantized", size, dtype, device, memory_format);
  return make_quantized(integers, Quantizer::per_tensor(scale, zero_point, *dtype));
}

Tensor empty_per_channel_affine_quantized(
    IntArrayRef size,
    const Tensor& scales,
    const Tensor& zero_points,
    int64_t axis,
    std::optional<ScalarType> dtype,
    std::optional<Layout>,
    std::optional<Device> device,
    std::optional<bool>,
    std::optional<MemoryFormat> memory_format) {
  const Tensor integers = empty_integers("_empty_per_channel_affine_quantized", size, dtype, device, memory_format);
  return make_quantized(integers, Quantizer::per_channel(scales, zero_points, axis, *dtype));
}

Tensor empty_quantized(
    IntArrayRef size,
    const Tensor& like,
    std::optional<ScalarType>,
    std::optional<Layout>,
    std::optional<Device> device,
    std::optional<bool>,
    std::optional<MemoryFormat> memory_format) {
  const QuantizerPtr& quantizer = get_quantizer(like);
  return make_quantized(empty_integers("empty_quantized", size, quantizer->dtype, device, memory_format), quantizer);
}

std::tuple<double, int64_t> choose_qparams_per_tensor(const Tensor& self, bool reduce_range) {
  const Tensor q = at::quantize_per_tensor_dynamic(self, kQUInt8, reduce_range);
  return {at::q_scale(q), at::q_zero_point(q)};
}

std::tuple<Tensor, Tensor> choose_qparams_optimized(
    const Tensor& input, int64_t numel, int64_t bins, double ratio, int64_t bits) {
  TORCH_CHECK(
      input.is_cpu() && numel >= 0 && numel <= input.numel() && bits > 0 && bits < 16,
      "choose_qparams_optimized: expected a tensor on the CPU, numel between 0 and its ", input.numel(),
      " elements, and 1 to 15 bits, got one on ", input.device(), ", ", numel, " and ", bits);
  const Tensor x = input.to(kFloat).contiguous();
  const auto [least, most] = quantized::choose_range(x.const_data_ptr<float>(), numel, bins, ratio, bits);
  return {at::full({1}, most, kFloat), at::full({1}, least, kFloat)};
}

} // namespace at::native
