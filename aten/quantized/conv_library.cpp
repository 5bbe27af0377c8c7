// quantized::, convolutions and the classes of their weights.
#include <aten/Functions.h>
#include <aten/quantized/operator_table.h>
#include <aten/quantized/packed_conv.h>
#include <c10/util/Exception.h>

#include <tuple>
#include <vector>

namespace at::quantized {
namespace {

template <class Params>
using Ptr = c10::intrusive_ptr<Params>;
using UnpackedConv = std::tuple<Tensor, std::optional<Tensor>>;

template <class Params>
torch::class_<Params> bind_conv(const char* name) {
  using Self = Ptr<Params>;
  return torch::class_<Params>("quantized", name)
      .def_pickle(
          [](const Self& self) -> ConvPackedParams::State { return self->state(); },
          [](ConvPackedParams::State state) -> Self { return Params::from_state(state); })
      .def("weight", [](const Self& self) { return self->weight(); })
      .def("bias", [](const Self& self) { return self->bias(); })
      .def("unpack", [](const Self& self) { return UnpackedConv(self->weight(), self->bias()); });
}

const auto kConv2dClass = bind_conv<Conv2dPackedParams>("Conv2dPackedParamsBase");
const auto kConv3dClass = bind_conv<Conv3dPackedParams>("Conv3dPackedParamsBase");

template <class Params>
Ptr<Params> conv_prepack(
    const Tensor& weight,
    const std::optional<Tensor>& bias,
    IntArrayRef stride,
    IntArrayRef padding,
    IntArrayRef dilation,
    int64_t groups) {
  return c10::make_intrusive<Params>(
      weight, bias, ConvOptions{stride.vec(), padding.vec(), {}, dilation.vec(), groups, false});
}

template <class Params>
Ptr<Params> conv_transpose_prepack(
    const Tensor& weight,
    const std::optional<Tensor>& bias,
    IntArrayRef stride,
    IntArrayRef padding,
    IntArrayRef output_padding,
    IntArrayRef dilation,
    int64_t groups) {
  return c10::make_intrusive<Params>(
      weight, bias, ConvOptions{stride.vec(), padding.vec(), output_padding.vec(), dilation.vec(), groups, true});
}

template <class Params>
UnpackedConv conv_unpack(const Ptr<Params>& weight) {
  return {weight->weight(), weight->bias()};
}

template <class Params, bool Relu>
Tensor conv(const Tensor& x, const Ptr<Params>& weight, double scale, int64_t zero_point) {
  return weight->apply(x, scale, zero_point, Relu);
}

// The geometry is that of the packed weight, whatever the arguments say.
template <class Params, bool Relu>
Tensor conv_legacy(
    const Tensor& x,
    const Ptr<Params>& weight,
    IntArrayRef,
    IntArrayRef,
    IntArrayRef,
    int64_t,
    double scale,
    int64_t zero_point) {
  return weight->apply(x, scale, zero_point, Relu);
}

template <class Params>
Tensor conv_dynamic(const Tensor& x, const Ptr<Params>& weight, bool reduce_range) {
  return weight->apply_dynamic(x, reduce_range);
}

template <bool Relu>
Tensor conv2d_add(
    const Tensor& x,
    const Tensor& accumulated,
    const Ptr<Conv2dPackedParams>& weight,
    double scale,
    int64_t zero_point) {
  return weight->apply_add(x, accumulated, scale, zero_point, Relu);
}

// ---- one dimension: two, with an extent of 1 in front --------------------------

constexpr int64_t kAdded = 2; // the dimension that is added to weights and images

/// A quantized tensor with more or fewer dimensions behind that of its channels.
Tensor with_integers(const Tensor& like, const Tensor& integers) {
  return make_quantized(integers, get_quantizer(like));
}

Tensor as_two_dims(const char* op, const Tensor& t) {
  TORCH_CHECK(t.dim() == 3, op, ": expected a tensor of 3 dimensions, got sizes ", t.sizes());
  return t.is_quantized() ? with_integers(t, integers_of(t).unsqueeze(kAdded)) : t.unsqueeze(kAdded);
}

std::vector<int64_t> behind(int64_t first, const char* name, IntArrayRef numbers) {
  TORCH_CHECK(numbers.size() == 1, "quantized::conv1d_prepack: ", name, " must be one number, got ", numbers);
  return {first, numbers[0]};
}

Ptr<Conv2dPackedParams> conv1d_prepack(
    const Tensor& weight,
    const std::optional<Tensor>& bias,
    IntArrayRef stride,
    IntArrayRef padding,
    IntArrayRef dilation,
    int64_t groups) {
  return c10::make_intrusive<Conv2dPackedParams>(
      as_two_dims("quantized::conv1d_prepack", weight), bias,
      ConvOptions{
          behind(1, "stride", stride),
          behind(0, "padding", padding),
          {},
          behind(1, "dilation", dilation),
          groups,
          false});
}

Ptr<Conv2dPackedParams> conv_transpose1d_prepack(
    const Tensor& weight,
    const std::optional<Tensor>& bias,
    IntArrayRef stride,
    IntArrayRef padding,
    IntArrayRef output_padding,
    IntArrayRef dilation,
    int64_t groups) {
  return c10::make_intrusive<Conv2dPackedParams>(
      as_two_dims("quantized::conv_transpose1d_prepack", weight), bias,
      ConvOptions{
          behind(1, "stride", stride), behind(0, "padding", padding), behind(0, "output_padding", output_padding),
          behind(1, "dilation", dilation), groups, true});
}

UnpackedConv conv1d_unpack(const Ptr<Conv2dPackedParams>& weight) {
  const Tensor& packed = weight->weight();
  return {with_integers(packed, integers_of(packed).squeeze(kAdded)), weight->bias()};
}

template <bool Relu>
Tensor conv1d(const Tensor& x, const Ptr<Conv2dPackedParams>& weight, double scale, int64_t zero_point) {
  return weight->apply(as_two_dims("quantized::conv1d", x), scale, zero_point, Relu).squeeze(kAdded);
}

Tensor conv1d_dynamic(const Tensor& x, const Ptr<Conv2dPackedParams>& weight, bool reduce_range) {
  return weight->apply_dynamic(as_two_dims("quantized::conv1d_dynamic", x), reduce_range).squeeze(kAdded);
}

// ---- geometry ------------------------------------------------------------------

template <class Params>
std::vector<int64_t> conv_stride(const Ptr<Params>& weight) {
  return weight->options().stride;
}
template <class Params>
std::vector<int64_t> conv_padding(const Ptr<Params>& weight) {
  return weight->options().padding;
}
template <class Params>
std::vector<int64_t> conv_output_padding(const Ptr<Params>& weight) {
  return weight->options().output_padding;
}
template <class Params>
std::vector<int64_t> conv_dilation(const Ptr<Params>& weight) {
  return weight->options().dilation;
}
template <class Params>
int64_t conv_groups(const Ptr<Params>& weight) {
  return weight->options().groups;
}
template <class Params>
int64_t conv_transpose(const Ptr<Params>& weight) {
  return weight->options().transposed ? 1 : 0;
}

// ---- table ---------------------------------------------------------------------

using c10::impl::builtin_kernel;

constexpr OperatorRow kConvRows[] = {
    {"quantized::conv1d_prepack", "",
     "conv1d_prepack(Tensor weight, Tensor? bias, int[] stride, int[] padding, int[] dilation, int groups) -> "
     "__torch__.torch.classes.quantized.Conv2dPackedParamsBase",
     builtin_kernel<&conv1d_prepack>()},
    {"quantized::conv1d_unpack", "",
     "conv1d_unpack(__torch__.torch.classes.quantized.Conv2dPackedParamsBase packed_weights) -> (Tensor "
     "unpacked_weights, Tensor? B_origin)",
     builtin_kernel<&conv1d_unpack>()},
    {"quantized::conv1d", "",
     "conv1d(Tensor qx, __torch__.torch.classes.quantized.Conv2dPackedParamsBase packed_weight, float output_scale, "
     "int output_zero_point) -> Tensor",
     builtin_kernel<&conv1d<false>>()},
    {"quantized::conv1d_relu", "",
     "conv1d_relu(Tensor qx, __torch__.torch.classes.quantized.Conv2dPackedParamsBase packed_weight, float "
     "output_scale, int output_zero_point) -> Tensor",
     builtin_kernel<&conv1d<true>>()},
    {"quantized::conv1d_dynamic", "",
     "conv1d_dynamic(Tensor qx, __torch__.torch.classes.quantized.Conv2dPackedParamsBase packed_weight, bool "
     "reduce_range=False) -> Tensor",
     builtin_kernel<&conv1d_dynamic>()},
    {"quantized::conv2d_prepack", "",
     "conv2d_prepack(Tensor weight, Tensor? bias, int[] stride, int[] padding, int[] dilation, int groups) -> "
     "__torch__.torch.classes.quantized.Conv2dPackedParamsBase",
     builtin_kernel<&conv_prepack<Conv2dPackedParams>>()},
    {"quantized::conv_prepack", "",
     "conv_prepack(Tensor weight, Tensor? bias, int[] stride, int[] padding, int[] dilation, int groups) -> "
     "__torch__.torch.classes.quantized.Conv2dPackedParamsBase",
     builtin_kernel<&conv_prepack<Conv2dPackedParams>>()},
    {"quantized::conv2d_unpack", "",
     "conv2d_unpack(__torch__.torch.classes.quantized.Conv2dPackedParamsBase packed_weights) -> (Tensor "
     "unpacked_weights, Tensor? B_origin)",
     builtin_kernel<&conv_unpack<Conv2dPackedParams>>()},
    {"quantized::conv_unpack", "",
     "conv_unpack(__torch__.torch.classes.quantized.Conv2dPackedParamsBase packed_weights) -> (Tensor "
     "unpacked_weights, Tensor? B_origin)",
     builtin_kernel<&conv_unpack<Conv2dPackedParams>>()},
    {"quantized::conv2d", "new",
     "conv2d.new(Tensor qx, __torch__.torch.classes.quantized.Conv2dPackedParamsBase packed_weight, float "
     "output_scale, int output_zero_point) -> Tensor",
     builtin_kernel<&conv<Conv2dPackedParams, false>>()},
    {"quantized::conv2d_relu", "new",
     "conv2d_relu.new(Tensor qx, __torch__.torch.classes.quantized.Conv2dPackedParamsBase packed_weight, float "
     "output_scale, int output_zero_point) -> Tensor",
     builtin_kernel<&conv<Conv2dPackedParams, true>>()},
    {"quantized::conv2d", "",
     "conv2d(Tensor qx, __torch__.torch.classes.quantized.Conv2dPackedParamsBase weight, int[] stride, int[] padding, "
     "int[] dilation, int groups, float output_scale, int output_zero_point) -> Tensor",
     builtin_kernel<&conv_legacy<Conv2dPackedParams, false>>()},
    {"quantized::conv2d_relu", "",
     "conv2d_relu(Tensor qx, __torch__.torch.classes.quantized.Conv2dPackedParamsBase weight, int[] stride, int[] "
     "padding, int[] dilation, int groups, float output_scale, int output_zero_point) -> Tensor",
     builtin_kernel<&conv_legacy<Conv2dPackedParams, true>>()},
    {"quantized::conv2d_dynamic", "",
     "conv2d_dynamic(Tensor qx, __torch__.torch.classes.quantized.Conv2dPackedParamsBase packed_weight, bool "
     "reduce_range=False) -> Tensor",
     builtin_kernel<&conv_dynamic<Conv2dPackedParams>>()},
    {"quantized::conv3d_prepack", "",
     "conv3d_prepack(Tensor weight, Tensor? bias, int[] stride, int[] padding, int[] dilation, int groups) -> "
     "__torch__.torch.classes.quantized.Conv3dPackedParamsBase",
     builtin_kernel<&conv_prepack<Conv3dPackedParams>>()},
    {"quantized::conv3d_unpack", "",
     "conv3d_unpack(__torch__.torch.classes.quantized.Conv3dPackedParamsBase packed_weights) -> (Tensor "
     "unpacked_weights, Tensor? B_origin)",
     builtin_kernel<&conv_unpack<Conv3dPackedParams>>()},
    {"quantized::conv3d", "new",
     "conv3d.new(Tensor qx, __torch__.torch.classes.quantized.Conv3dPackedParamsBase packed_weight, float "
     "output_scale, int output_zero_point) -> Tensor",
     builtin_kernel<&conv<Conv3dPackedParams, false>>()},
    {"quantized::conv3d_relu", "new",
     "conv3d_relu.new(Tensor qx, __torch__.torch.classes.quantized.Conv3dPackedParamsBase packed_weight, float "
     "output_scale, int output_zero_point) -> Tensor",
     builtin_kernel<&conv<Conv3dPackedParams, true>>()},
    {"quantized::conv3d", "",
     "conv3d(Tensor qx, __torch__.torch.classes.quantized.Conv3dPackedParamsBase weight, int[] stride, int[] padding, "
     "int[] dilation, int groups, float output_scale, int output_zero_point) -> Tensor",
     builtin_kernel<&conv_legacy<Conv3dPackedParams, false>>()},
    {"quantized::conv3d_relu", "",
     "conv3d_relu(Tensor qx, __torch__.torch.classes.quantized.Conv3dPackedParamsBase weight, int[] stride, int[] "
     "padding, int[] dilation, int groups, float output_scale, int output_zero_point) -> Tensor",
     builtin_kernel<&conv_legacy<Conv3dPackedParams, true>>()},
    {"quantized::conv3d_dynamic", "",
     "conv3d_dynamic(Tensor qx, __torch__.torch.classes.quantized.Conv3dPackedParamsBase packed_weight, bool "
     "reduce_range=False) -> Tensor",
     builtin_kernel<&conv_dynamic<Conv3dPackedParams>>()},
    {"quantized::conv2d_add", "",
     "conv2d_add(Tensor qx, Tensor qaccum, __torch__.torch.classes.quantized.Conv2dPackedParamsBase packed_weight, "
     "float output_scale, int output_zero_point) -> Tensor",
     builtin_kernel<&conv2d_add<false>>()},
    {"quantized::conv2d_add_relu", "",
     "conv2d_add_relu(Tensor qx, Tensor qaccum, __torch__.torch.classes.quantized.Conv2dPackedParamsBase "
     "packed_weight, float output_scale, int output_zero_point) -> Tensor",
     builtin_kernel<&conv2d_add<true>>()},
    {"quantized::conv_transpose1d_prepack", "",
     "conv_transpose1d_prepack(Tensor weight, Tensor? bias, int[] stride, int[] padding, int[] output_padding, int[] "
     "dilation, int groups) -> __torch__.torch.classes.quantized.Conv2dPackedParamsBase",
     builtin_kernel<&conv_transpose1d_prepack>()},
    {"quantized::conv_transpose1d_unpack", "",
     "conv_transpose1d_unpack(__torch__.torch.classes.quantized.Conv2dPackedParamsBase packed_weights) -> (Tensor "
     "unpacked_weights, Tensor? B_origin)",
     builtin_kernel<&conv1d_unpack>()},
    {"quantized::conv_transpose1d", "",
     "conv_transpose1d(Tensor qx, __torch__.torch.classes.quantized.Conv2dPackedParamsBase packed_weight, float "
     "output_scale, int output_zero_point) -> Tensor",
     builtin_kernel<&conv1d<false>>()},
    {"quantized::conv_transpose1d_dynamic", "",
     "conv_transpose1d_dynamic(Tensor qx, __torch__.torch.classes.quantized.Conv2dPackedParamsBase packed_weight, bool "
     "reduce_range=False) -> Tensor",
     builtin_kernel<&conv1d_dynamic>()},
    {"quantized::conv_transpose2d_prepack", "",
     "conv_transpose2d_prepack(Tensor weight, Tensor? bias, int[] stride, int[] padding, int[] output_padding, int[] "
     "dilation, int groups) -> __torch__.torch.classes.quantized.Conv2dPackedParamsBase",
     builtin_kernel<&conv_transpose_prepack<Conv2dPackedParams>>()},
    {"quantized::conv_transpose2d_unpack", "",
     "conv_transpose2d_unpack(__torch__.torch.classes.quantized.Conv2dPackedParamsBase packed_weights) -> (Tensor "
     "unpacked_weights, Tensor? B_origin)",
     builtin_kernel<&conv_unpack<Conv2dPackedParams>>()},
    {"quantized::conv_transpose2d", "",
     "conv_transpose2d(Tensor qx, __torch__.torch.classes.quantized.Conv2dPackedParamsBase packed_weight, float "
     "output_scale, int output_zero_point) -> Tensor",
     builtin_kernel<&conv<Conv2dPackedParams, false>>()},
    {"quantized::conv_transpose2d_dynamic", "",
     "conv_transpose2d_dynamic(Tensor qx, __torch__.torch.classes.quantized.Conv2dPackedParamsBase packed_weight, bool "
     "reduce_range=False) -> Tensor",
     builtin_kernel<&conv_dynamic<Conv2dPackedParams>>()},
    {"quantized::conv_transpose3d_prepack", "",
     "conv_transpose3d_prepack(Tensor weight, Tensor? bias, int[] stride, int[] padding, int[] output_padding, int[] "
     "dilation, int groups) -> __torch__.torch.classes.quantized.Conv3dPackedParamsBase",
     builtin_kernel<&conv_transpose_prepack<Conv3dPackedParams>>()},
    {"quantized::conv_transpose3d_unpack", "",
     "conv_transpose3d_unpack(__torch__.torch.classes.quantized.Conv3dPackedParamsBase packed_weights) -> (Tensor "
     "unpacked_weights, Tensor? B_origin)",
     builtin_kernel<&conv_unpack<Conv3dPackedParams>>()},
    {"quantized::conv_transpose3d", "",
     "conv_transpose3d(Tensor qx, __torch__.torch.classes.quantized.Conv3dPackedParamsBase packed_weight, float "
     "output_scale, int output_zero_point) -> Tensor",
     builtin_kernel<&conv<Conv3dPackedParams, false>>()},
    {"quantized::conv_transpose3d_dynamic", "",
     "conv_transpose3d_dynamic(Tensor qx, __torch__.torch.classes.quantized.Conv3dPackedParamsBase packed_weight, bool "
     "reduce_range=False) -> Tensor",
     builtin_kernel<&conv_dynamic<Conv3dPackedParams>>()},
    {"quantized::conv2d_stride", "",
     "conv2d_stride(__torch__.torch.classes.quantized.Conv2dPackedParamsBase packed_weights) -> int[]",
     builtin_kernel<&conv_stride<Conv2dPackedParams>>()},
    {"quantized::conv2d_padding", "",
     "conv2d_padding(__torch__.torch.classes.quantized.Conv2dPackedParamsBase packed_weights) -> int[]",
     builtin_kernel<&conv_padding<Conv2dPackedParams>>()},
    {"quantized::conv2d_output_padding", "",
     "conv2d_output_padding(__torch__.torch.classes.quantized.Conv2dPackedParamsBase packed_weights) -> int[]",
     builtin_kernel<&conv_output_padding<Conv2dPackedParams>>()},
    {"quantized::conv2d_dilation", "",
     "conv2d_dilation(__torch__.torch.classes.quantized.Conv2dPackedParamsBase packed_weights) -> int[]",
     builtin_kernel<&conv_dilation<Conv2dPackedParams>>()},
    {"quantized::conv2d_groups", "",
     "conv2d_groups(__torch__.torch.classes.quantized.Conv2dPackedParamsBase packed_weights) -> int",
     builtin_kernel<&conv_groups<Conv2dPackedParams>>()},
    {"quantized::conv2d_transpose", "",
     "conv2d_transpose(__torch__.torch.classes.quantized.Conv2dPackedParamsBase packed_weights) -> int",
     builtin_kernel<&conv_transpose<Conv2dPackedParams>>()},
    {"quantized::conv3d_stride", "",
     "conv3d_stride(__torch__.torch.classes.quantized.Conv3dPackedParamsBase packed_weights) -> int[]",
     builtin_kernel<&conv_stride<Conv3dPackedParams>>()},
    {"quantized::conv3d_padding", "",
     "conv3d_padding(__torch__.torch.classes.quantized.Conv3dPackedParamsBase packed_weights) -> int[]",
     builtin_kernel<&conv_padding<Conv3dPackedParams>>()},
    {"quantized::conv3d_output_padding", "",
     "conv3d_output_padding(__torch__.torch.classes.quantized.Conv3dPackedParamsBase packed_weights) -> int[]",
     builtin_kernel<&conv_output_padding<Conv3dPackedParams>>()},
    {"quantized::conv3d_dilation", "",
     "conv3d_dilation(__torch__.torch.classes.quantized.Conv3dPackedParamsBase packed_weights) -> int[]",
     builtin_kernel<&conv_dilation<Conv3dPackedParams>>()},
    {"quantized::conv3d_groups", "",
     "conv3d_groups(__torch__.torch.classes.quantized.Conv3dPackedParamsBase packed_weights) -> int",
     builtin_kernel<&conv_groups<Conv3dPackedParams>>()},
    {"quantized::conv3d_transpose", "",
     "conv3d_transpose(__torch__.torch.classes.quantized.Conv3dPackedParamsBase packed_weights) -> int",
     builtin_kernel<&conv_transpose<Conv3dPackedParams>>()},
    {"quantized::conv_transpose2d_stride", "",
     "conv_transpose2d_stride(__torch__.torch.classes.quantized.Conv2dPackedParamsBase packed_weights) -> int[]",
     builtin_kernel<&conv_stride<Conv2dPackedParams>>()},
    {"quantized::conv_transpose2d_padding", "",
     "conv_transpose2d_padding(__torch__.torch.classes.quantized.Conv2dPackedParamsBase packed_weights) -> int[]",
     builtin_kernel<&conv_padding<Conv2dPackedParams>>()},
    {"quantized::conv_transpose2d_output_padding", "",
     "conv_transpose2d_output_padding(__torch__.torch.classes.quantized.Conv2dPackedParamsBase packed_weights) -> "
     "int[]",
     builtin_kernel<&conv_output_padding<Conv2dPackedParams>>()},
    {"quantized::conv_transpose2d_dilation", "",
     "conv_transpose2d_dilation(__torch__.torch.classes.quantized.Conv2dPackedParamsBase packed_weights) -> int[]",
     builtin_kernel<&conv_dilation<Conv2dPackedParams>>()},
    {"quantized::conv_transpose2d_groups", "",
     "conv_transpose2d_groups(__torch__.torch.classes.quantized.Conv2dPackedParamsBase packed_weights) -> int",
     builtin_kernel<&conv_groups<Conv2dPackedParams>>()},
    {"quantized::conv_transpose2d_transpose", "",
     "conv_transpose2d_transpose(__torch__.torch.classes.quantized.Conv2dPackedParamsBase packed_weights) -> int",
     builtin_kernel<&conv_transpose<Conv2dPackedParams>>()},
    {"quantized::conv_transpose3d_stride", "",
     "conv_transpose3d_stride(__torch__.torch.classes.quantized.Conv3dPackedParamsBase packed_weights) -> int[]",
     builtin_kernel<&conv_stride<Conv3dPackedParams>>()},
    {"quantized::conv_transpose3d_padding", "",
     "conv_transpose3d_padding(__torch__.torch.classes.quantized.Conv3dPackedParamsBase packed_weights) -> int[]",
     builtin_kernel<&conv_padding<Conv3dPackedParams>>()},
    {"quantized::conv_transpose3d_output_padding", "",
     "conv_transpose3d_output_padding(__torch__.torch.classes.quantized.Conv3dPackedParamsBase packed_weights) -> "
     "int[]",
     builtin_kernel<&conv_output_padding<Conv3dPackedParams>>()},
    {"quantized::conv_transpose3d_dilation", "",
     "conv_transpose3d_dilation(__torch__.torch.classes.quantized.Conv3dPackedParamsBase packed_weights) -> int[]",
     builtin_kernel<&conv_dilation<Conv3dPackedParams>>()},
    {"quantized::conv_transpose3d_groups", "",
     "conv_transpose3d_groups(__torch__.torch.classes.quantized.Conv3dPackedParamsBase packed_weights) -> int",
     builtin_kernel<&conv_groups<Conv3dPackedParams>>()},
    {"quantized::conv_transpose3d_transpose", "",
     "conv_transpose3d_transpose(__torch__.torch.classes.quantized.Conv3dPackedParamsBase packed_weights) -> int",
     builtin_kernel<&conv_transpose<Conv3dPackedParams>>()},
    {"_quantized::conv2d", "",
     "conv2d(Tensor qx, __torch__.torch.classes.quantized.Conv2dPackedParamsBase packed_weight, float output_scale, "
     "int output_zero_point) -> Tensor",
     builtin_kernel<&conv<Conv2dPackedParams, false>>()},
    {"_quantized::conv2d_relu", "",
     "conv2d_relu(Tensor qx, __torch__.torch.classes.quantized.Conv2dPackedParamsBase packed_weight, float "
     "output_scale, int output_zero_point) -> Tensor",
     builtin_kernel<&conv<Conv2dPackedParams, true>>()},
    {"_quantized::conv3d", "",
     "conv3d(Tensor qx, __torch__.torch.classes.quantized.Conv3dPackedParamsBase packed_weight, float output_scale, "
     "int output_zero_point) -> Tensor",
     builtin_kernel<&conv<Conv3dPackedParams, false>>()},
    {"_quantized::conv3d_relu", "",
     "conv3d_relu(Tensor qx, __torch__.torch.classes.quantized.Conv3dPackedParamsBase packed_weight, float "
     "output_scale, int output_zero_point) -> Tensor",
     builtin_kernel<&conv<Conv3dPackedParams, true>>()},
    {"_quantized::conv2d_prepack", "",
     "conv2d_prepack(Tensor weight, Tensor? bias, int[] stride, int[] padding, int[] dilation, int groups) -> "
     "__torch__.torch.classes.quantized.Conv2dPackedParamsBase",
     builtin_kernel<&conv_prepack<Conv2dPackedParams>>()},
    {"_quantized::conv3d_prepack", "",
     "conv3d_prepack(Tensor weight, Tensor? bias, int[] stride, int[] padding, int[] dilation, int groups) -> "
     "__torch__.torch.classes.quantized.Conv3dPackedParamsBase",
     builtin_kernel<&conv_prepack<Conv3dPackedParams>>()},
    {"_quantized::conv_transpose1d", "",
     "conv_transpose1d(Tensor qx, __torch__.torch.classes.quantized.Conv2dPackedParamsBase packed_weight, float "
     "output_scale, int output_zero_point) -> Tensor",
     builtin_kernel<&conv1d<false>>()},
    {"_quantized::conv_transpose2d", "",
     "conv_transpose2d(Tensor qx, __torch__.torch.classes.quantized.Conv2dPackedParamsBase packed_weight, float "
     "output_scale, int output_zero_point) -> Tensor",
     builtin_kernel<&conv<Conv2dPackedParams, false>>()},
    {"_quantized::conv_transpose1d_prepack", "",
     "conv_transpose1d_prepack(Tensor weight, Tensor? bias, int[] stride, int[] padding, int[] output_padding, int[] "
     "dilation, int groups) -> __torch__.torch.classes.quantized.Conv2dPackedParamsBase",
     builtin_kernel<&conv_transpose1d_prepack>()},
    {"_quantized::conv_transpose2d_prepack", "",
     "conv_transpose2d_prepack(Tensor weight, Tensor? bias, int[] stride, int[] padding, int[] output_padding, int[] "
     "dilation, int groups) -> __torch__.torch.classes.quantized.Conv2dPackedParamsBase",
     builtin_kernel<&conv_transpose_prepack<Conv2dPackedParams>>()},
    {"_quantized::conv_transpose3d_prepack", "",
     "conv_transpose3d_prepack(Tensor weight, Tensor? bias, int[] stride, int[] padding, int[] output_padding, int[] "
     "dilation, int groups) -> __torch__.torch.classes.quantized.Conv3dPackedParamsBase",
     builtin_kernel<&conv_transpose_prepack<Conv3dPackedParams>>()},
};

constinit OperatorTable kConvOperators("aten/quantized/conv_library.cpp", kConvRows);
const RegisteredTable kConvRegistered(kConvOperators);

} // namespace
} // namespace at::quantized
