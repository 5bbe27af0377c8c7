// quantized::, the operators that programs with quantized modules call, and the classes of their weights.
#include <aten/Functions.h>
#include <aten/core/TensorOperators.h>
#include <aten/core/dispatch/BuiltinRegistration.h>
#include <aten/quantized/packed_params.h>
#include <c10/util/Exception.h>

#include <tuple>
#include <vector>

namespace at::quantized {
namespace {

using LinearPtr = c10::intrusive_ptr<LinearPackedParams>;
using Conv2dPtr = c10::intrusive_ptr<Conv2dPackedParams>;
using Unpacked = std::tuple<Tensor, std::optional<Tensor>>;

const auto kLinearClass =
    torch::class_<LinearPackedParams>("quantized", "LinearPackedParamsBase")
        .def_pickle(
            [](const LinearPtr& self) -> LinearPackedParams::State { return self->unpack(); },
            [](LinearPackedParams::State state) -> LinearPtr {
              return c10::make_intrusive<LinearPackedParams>(std::get<0>(state), std::get<1>(state));
            })
        .def("bias", [](const LinearPtr& self) { return std::get<1>(self->unpack()); })
        .def("unpack", [](const LinearPtr& self) { return self->unpack(); });

const auto kConv2dClass =
    torch::class_<Conv2dPackedParams>("quantized", "Conv2dPackedParamsBase")
        .def_pickle(
            [](const Conv2dPtr& self) -> Conv2dPackedParams::State { return self->state(); },
            [](Conv2dPackedParams::State state) -> Conv2dPtr { return Conv2dPackedParams::from_state(state); })
        .def("weight", [](const Conv2dPtr& self) { return self->weight(); })
        .def("bias", [](const Conv2dPtr& self) { return self->bias(); })
        .def("unpack", [](const Conv2dPtr& self) { return Unpacked(self->weight(), self->bias()); });

// ---- linear and convolution ----------------------------------------------------

LinearPtr linear_prepack(const Tensor& weight, const std::optional<Tensor>& bias) {
  return c10::make_intrusive<LinearPackedParams>(weight, bias);
}

Unpacked linear_unpack(const LinearPtr& weight) {
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

Conv2dPtr conv2d_prepack(
    const Tensor& weight,
    const std::optional<Tensor>& bias,
    IntArrayRef stride,
    IntArrayRef padding,
    IntArrayRef dilation,
    int64_t groups) {
  return c10::make_intrusive<Conv2dPackedParams>(weight, bias, stride.vec(), padding.vec(), dilation.vec(), groups);
}

Unpacked conv2d_unpack(const Conv2dPtr& weight) {
  return {weight->weight(), weight->bias()};
}

template <bool Relu>
Tensor conv2d(const Tensor& x, const Conv2dPtr& weight, double scale, int64_t zero_point) {
  return weight->apply(x, scale, zero_point, Relu);
}

// ---- arithmetic ----------------------------------------------------------------

Tensor requantized(const Tensor& numbers, double scale, int64_t zero_point, const Tensor& like) {
  return at::quantize_per_tensor(numbers.contiguous(), scale, zero_point, like.scalar_type());
}

void check_same_dtype(const char* op, const Tensor& a, const Tensor& b) {
  TORCH_CHECK(
      a.is_quantized() && b.is_quantized() && a.scalar_type() == b.scalar_type(), op,
      ": both operands must be quantized tensors of the same dtype, got ", a.scalar_type(), " and ", b.scalar_type());
}

template <bool Relu>
Tensor add(const Tensor& a, const Tensor& b, double scale, int64_t zero_point) {
  check_same_dtype("quantized::add", a, b);
  const Tensor sum = at::dequantize(a) + at::dequantize(b);
  return requantized(Relu ? sum.relu() : sum, scale, zero_point, a);
}

template <bool Relu>
Tensor mul(const Tensor& a, const Tensor& b, double scale, int64_t zero_point) {
  check_same_dtype("quantized::mul", a, b);
  const Tensor product = at::dequantize(a) * at::dequantize(b);
  return requantized(Relu ? product.relu() : product, scale, zero_point, a);
}

template <bool Relu>
Tensor cat(TensorList tensors, int64_t dim, std::optional<double> scale, std::optional<int64_t> zero_point) {
  TORCH_CHECK(!tensors.empty(), "quantized::cat: expected a non-empty list of tensors");
  std::vector<Tensor> numbers;
  numbers.reserve(tensors.size());
  for (const Tensor& t : tensors) {
    check_same_dtype("quantized::cat", tensors[0], t);
    numbers.push_back(at::dequantize(t));
  }
  const Tensor joined = at::cat(numbers, dim);
  return requantized(
      Relu ? joined.relu() : joined, scale.has_value() ? *scale : at::q_scale(tensors[0]),
      zero_point.has_value() ? *zero_point : at::q_zero_point(tensors[0]), tensors[0]);
}

Tensor hardswish(const Tensor& input, double scale, int64_t zero_point) {
  return requantized(at::hardswish(at::dequantize(input)), scale, zero_point, input);
}

Tensor leaky_relu(const Tensor& input, const Scalar& slope, bool, double scale, int64_t zero_point) {
  return requantized(at::leaky_relu(at::dequantize(input), slope), scale, zero_point, input);
}

Tensor sigmoid(const Tensor& input, double scale, int64_t zero_point) {
  return requantized(at::sigmoid(at::dequantize(input)), scale, zero_point, input);
}

// ---- tables --------------------------------------------------------------------

using c10::DispatchKey;
using c10::impl::builtin_kernel;

constexpr int kQuantizedOperators = 24;
c10::impl::BuiltinSlot quantized_slots[kQuantizedOperators];
constexpr const char* kQuantizedPlace = "aten/quantized/quantized_library.cpp";

const c10::impl::BuiltinDefinition kQuantizedDefinitions[kQuantizedOperators] = {
    {"quantized::linear_prepack", "",
     "linear_prepack(Tensor W, Tensor? B=None) -> __torch__.torch.classes.quantized.LinearPackedParamsBase W_prepack",
     kQuantizedPlace, &quantized_slots[0]},
    {"quantized::linear_unpack", "",
     "linear_unpack(__torch__.torch.classes.quantized.LinearPackedParamsBase W_prepack) -> (Tensor W_origin, Tensor? "
     "B_origin)",
     kQuantizedPlace, &quantized_slots[1]},
    {"quantized::linear", "",
     "linear(Tensor X, __torch__.torch.classes.quantized.LinearPackedParamsBase W_prepack, float Y_scale_i, int "
     "Y_zero_point_i) -> Tensor Y",
     kQuantizedPlace, &quantized_slots[2]},
    {"quantized::linear_relu", "",
     "linear_relu(Tensor X, __torch__.torch.classes.quantized.LinearPackedParamsBase W_prepack, float Y_scale_i, int "
     "Y_zero_point_i) -> Tensor Y",
     kQuantizedPlace, &quantized_slots[3]},
    {"quantized::linear_dynamic", "",
     "linear_dynamic(Tensor X, __torch__.torch.classes.quantized.LinearPackedParamsBase W_prepack, bool "
     "reduce_range=False) -> Tensor Y",
     kQuantizedPlace, &quantized_slots[4]},
    {"quantized::linear_relu_dynamic", "",
     "linear_relu_dynamic(Tensor X, __torch__.torch.classes.quantized.LinearPackedParamsBase W_prepack, bool "
     "reduce_range=False) -> Tensor Y",
     kQuantizedPlace, &quantized_slots[5]},
    {"quantized::conv2d_prepack", "",
     "conv2d_prepack(Tensor weight, Tensor? bias, int[] stride, int[] padding, int[] dilation, int groups) -> "
     "__torch__.torch.classes.quantized.Conv2dPackedParamsBase",
     kQuantizedPlace, &quantized_slots[6]},
    {"quantized::conv2d_unpack", "",
     "conv2d_unpack(__torch__.torch.classes.quantized.Conv2dPackedParamsBase packed_weights) -> (Tensor "
     "unpacked_weights, Tensor? B_origin)",
     kQuantizedPlace, &quantized_slots[7]},
    {"quantized::conv_unpack", "",
     "conv_unpack(__torch__.torch.classes.quantized.Conv2dPackedParamsBase packed_weights) -> (Tensor "
     "unpacked_weights, Tensor? B_origin)",
     kQuantizedPlace, &quantized_slots[8]},
    {"quantized::conv2d", "new",
     "conv2d.new(Tensor qx, __torch__.torch.classes.quantized.Conv2dPackedParamsBase packed_weight, float "
     "output_scale, int output_zero_point) -> Tensor",
     kQuantizedPlace, &quantized_slots[9]},
    {"quantized::conv2d_relu", "new",
     "conv2d_relu.new(Tensor qx, __torch__.torch.classes.quantized.Conv2dPackedParamsBase packed_weight, float "
     "output_scale, int output_zero_point) -> Tensor",
     kQuantizedPlace, &quantized_slots[10]},
    {"quantized::add", "", "add(Tensor qa, Tensor qb, float scale, int zero_point) -> Tensor qc", kQuantizedPlace,
     &quantized_slots[11]},
    {"quantized::add_relu", "", "add_relu(Tensor qa, Tensor qb, float scale, int zero_point) -> Tensor qc",
     kQuantizedPlace, &quantized_slots[12]},
    {"quantized::mul", "", "mul(Tensor qa, Tensor qb, float scale, int zero_point) -> Tensor qc", kQuantizedPlace,
     &quantized_slots[13]},
    {"quantized::mul_relu", "", "mul_relu(Tensor qa, Tensor qb, float scale, int zero_point) -> Tensor qc",
     kQuantizedPlace, &quantized_slots[14]},
    {"quantized::cat", "", "cat(Tensor[] qx, int dim, float? scale, int? zero_point) -> Tensor", kQuantizedPlace,
     &quantized_slots[15]},
    {"quantized::cat_relu", "", "cat_relu(Tensor[] qx, int dim, float? scale, int? zero_point) -> Tensor",
     kQuantizedPlace, &quantized_slots[16]},
    {"quantized::hardswish", "", "hardswish(Tensor input, float output_scale, int output_zero_point) -> Tensor",
     kQuantizedPlace, &quantized_slots[17]},
    {"quantized::leaky_relu", "",
     "leaky_relu(Tensor qx, Scalar negative_slope, bool inplace, float output_scale, int output_zero_point) -> Tensor",
     kQuantizedPlace, &quantized_slots[18]},
    {"quantized::sigmoid", "", "sigmoid(Tensor qx, float output_scale, int output_zero_point) -> Tensor",
     kQuantizedPlace, &quantized_slots[19]},
    {"quantized::linear_prepack_fp16", "",
     "linear_prepack_fp16(Tensor W, Tensor? B=None) -> __torch__.torch.classes.quantized.LinearPackedParamsBase "
     "W_prepack",
     kQuantizedPlace, &quantized_slots[20]},
    {"quantized::linear_unpack_fp16", "",
     "linear_unpack_fp16(__torch__.torch.classes.quantized.LinearPackedParamsBase W_prepack) -> (Tensor W_origin, "
     "Tensor? B_origin)",
     kQuantizedPlace, &quantized_slots[21]},
    {"quantized::linear_dynamic_fp16", "",
     "linear_dynamic_fp16(Tensor X, __torch__.torch.classes.quantized.LinearPackedParamsBase W_prepack) -> Tensor Y",
     kQuantizedPlace, &quantized_slots[22]},
    {"quantized::linear_relu_dynamic_fp16", "",
     "linear_relu_dynamic_fp16(Tensor X, __torch__.torch.classes.quantized.LinearPackedParamsBase W_prepack) -> Tensor "
     "Y",
     kQuantizedPlace, &quantized_slots[23]},
};

const c10::impl::BuiltinKernelRow kQuantizedKernels[kQuantizedOperators] = {
    {"quantized::linear_prepack", "", DispatchKey::CompositeExplicitAutograd, builtin_kernel<&linear_prepack>(),
     kQuantizedPlace},
    {"quantized::linear_unpack", "", DispatchKey::CompositeExplicitAutograd, builtin_kernel<&linear_unpack>(),
     kQuantizedPlace},
    {"quantized::linear", "", DispatchKey::CompositeExplicitAutograd, builtin_kernel<&linear<false>>(),
     kQuantizedPlace},
    {"quantized::linear_relu", "", DispatchKey::CompositeExplicitAutograd, builtin_kernel<&linear<true>>(),
     kQuantizedPlace},
    {"quantized::linear_dynamic", "", DispatchKey::CompositeExplicitAutograd, builtin_kernel<&linear_dynamic<false>>(),
     kQuantizedPlace},
    {"quantized::linear_relu_dynamic", "", DispatchKey::CompositeExplicitAutograd,
     builtin_kernel<&linear_dynamic<true>>(), kQuantizedPlace},
    {"quantized::conv2d_prepack", "", DispatchKey::CompositeExplicitAutograd, builtin_kernel<&conv2d_prepack>(),
     kQuantizedPlace},
    {"quantized::conv2d_unpack", "", DispatchKey::CompositeExplicitAutograd, builtin_kernel<&conv2d_unpack>(),
     kQuantizedPlace},
    {"quantized::conv_unpack", "", DispatchKey::CompositeExplicitAutograd, builtin_kernel<&conv2d_unpack>(),
     kQuantizedPlace},
    {"quantized::conv2d", "new", DispatchKey::CompositeExplicitAutograd, builtin_kernel<&conv2d<false>>(),
     kQuantizedPlace},
    {"quantized::conv2d_relu", "new", DispatchKey::CompositeExplicitAutograd, builtin_kernel<&conv2d<true>>(),
     kQuantizedPlace},
    {"quantized::add", "", DispatchKey::CompositeExplicitAutograd, builtin_kernel<&add<false>>(), kQuantizedPlace},
    {"quantized::add_relu", "", DispatchKey::CompositeExplicitAutograd, builtin_kernel<&add<true>>(), kQuantizedPlace},
    {"quantized::mul", "", DispatchKey::CompositeExplicitAutograd, builtin_kernel<&mul<false>>(), kQuantizedPlace},
    {"quantized::mul_relu", "", DispatchKey::CompositeExplicitAutograd, builtin_kernel<&mul<true>>(), kQuantizedPlace},
    {"quantized::cat", "", DispatchKey::CompositeExplicitAutograd, builtin_kernel<&cat<false>>(), kQuantizedPlace},
    {"quantized::cat_relu", "", DispatchKey::CompositeExplicitAutograd, builtin_kernel<&cat<true>>(), kQuantizedPlace},
    {"quantized::hardswish", "", DispatchKey::CompositeExplicitAutograd, builtin_kernel<&hardswish>(), kQuantizedPlace},
    {"quantized::leaky_relu", "", DispatchKey::CompositeExplicitAutograd, builtin_kernel<&leaky_relu>(),
     kQuantizedPlace},
    {"quantized::sigmoid", "", DispatchKey::CompositeExplicitAutograd, builtin_kernel<&sigmoid>(), kQuantizedPlace},
    {"quantized::linear_prepack_fp16", "", DispatchKey::CompositeExplicitAutograd, builtin_kernel<&linear_prepack>(),
     kQuantizedPlace},
    {"quantized::linear_unpack_fp16", "", DispatchKey::CompositeExplicitAutograd, builtin_kernel<&linear_unpack>(),
     kQuantizedPlace},
    {"quantized::linear_dynamic_fp16", "", DispatchKey::CompositeExplicitAutograd,
     builtin_kernel<&linear_half<false>>(), kQuantizedPlace},
    {"quantized::linear_relu_dynamic_fp16", "", DispatchKey::CompositeExplicitAutograd,
     builtin_kernel<&linear_half<true>>(), kQuantizedPlace},
};

const c10::impl::BuiltinDefinitions kQuantizedDefined(kQuantizedDefinitions);
const c10::impl::BuiltinKernels kQuantizedImplemented(kQuantizedKernels);

} // namespace
} // namespace at::quantized
