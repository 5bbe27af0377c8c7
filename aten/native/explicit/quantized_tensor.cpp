// Quantized tensors without values, and ranges for them.
#include <aten/Functions.h>
#include <aten/quantized/QTensorImpl.h>
#include <aten/quantized/operator_table.h>
#include <c10/util/Exception.h>

#include <tuple>

namespace at::quantized {
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

// ---- table ---------------------------------------------------------------------

using c10::impl::builtin_kernel;

constexpr OperatorRow kTensorRows[] = {
    {"aten::_empty_affine_quantized", "",
     "_empty_affine_quantized(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
     "bool? pin_memory=None, float scale=1., int zero_point=0, MemoryFormat? memory_format=0) -> Tensor",
     builtin_kernel<&empty_affine_quantized>()},
    {"aten::_empty_per_channel_affine_quantized", "",
     "_empty_per_channel_affine_quantized(SymInt[] size, *, Tensor scales, Tensor zero_points, int axis, ScalarType? "
     "dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=0) -> "
     "Tensor",
     builtin_kernel<&empty_per_channel_affine_quantized>()},
    {"aten::empty_quantized", "",
     "empty_quantized(int[] size, Tensor qtensor, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
     "bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
     builtin_kernel<&empty_quantized>()},
    {"aten::_choose_qparams_per_tensor", "",
     "_choose_qparams_per_tensor(Tensor self, bool reduce_range=False) -> (float, int)",
     builtin_kernel<&choose_qparams_per_tensor>()},
};

constinit OperatorTable kTensorOperators("aten/quantized/tensor_library.cpp", kTensorRows);
const RegisteredTable kTensorRegistered(kTensorOperators);

} // namespace
} // namespace at::quantized
