// onednn::, operators of graphs that PyTorch's compiler has lowered: integers are plain tensors of bytes, with their
// scales and zero points beside them. Sums are exact, then multiplied and added to in oneDNN's order. Packed weights
// are tensors of their own integers, of the sizes that PyTorch's have.
#include <aten/Functions.h>
#include <aten/core/TensorOperators.h>
#include <aten/quantized/operator_table.h>
#include <aten/quantized/packed_conv.h>
#include <c10/util/Exception.h>

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace at::quantized {
namespace {

using Scalars = c10::List<std::optional<Scalar>>;
using std::string_view;

/// What results are stored in.
struct ResultKind {
  double scale;
  int64_t zero_point;
  std::optional<ScalarType> dtype;
};

/// A function of each element behind a product.
struct PostOp {
  string_view name;
  const Scalars& numbers;
  string_view algorithm;
};

bool is_plain(ScalarType dtype) {
  return dtype == kFloat || dtype == kBFloat16 || dtype == kHalf;
}

/// Numbers as integers, or as floating numbers of the dtype that is asked for.
Tensor stored(const char* op, const Tensor& numbers, const ResultKind& to) {
  const ScalarType dtype = to.dtype.value_or(kByte);
  if (is_plain(dtype)) {
    TORCH_CHECK(
        to.scale == 1 && to.zero_point == 0, op, ": expect scale=1 and zero point=0 for ", dtype, " output, got ",
        to.scale, " and ", to.zero_point);
    return numbers.to(dtype);
  }
  if (dtype == kFloat8_e4m3fn) {
    constexpr double kLargest = 448;
    return (numbers * (1 / to.scale)).clamp_(-kLargest, kLargest).to(dtype);
  }
  TORCH_CHECK(
      dtype == kByte || dtype == kChar, op,
      ": results are uint8, int8, float8_e4m3fn, float32, bfloat16 or float16, not ", dtype);
  return integers_of(at::quantize_per_tensor(numbers, to.scale, to.zero_point, c10::toQIntType(dtype)));
}

/// The numbers that a tensor of bytes stands for; others are numbers.
Tensor numbers_of(const Tensor& t, double scale, int64_t zero_point) {
  return t.scalar_type() == kByte || t.scalar_type() == kChar
      ? (t.to(kFloat) - static_cast<double>(zero_point)) * static_cast<double>(static_cast<float>(scale))
      : t.to(kFloat);
}

Tensor applied(const char* op, Tensor x, const PostOp& post, bool of_linear) {
  const auto number = [&](size_t i, double usual) {
    return post.numbers.size() > i && post.numbers.get(i).has_value() ? post.numbers.get(i)->toDouble() : usual;
  };
  if (post.name == "none" || post.name.empty()) {
    return x;
  }
  if (post.name == "relu") {
    return x.relu_();
  }
  if (post.name == "hardtanh") {
    return at::clamp_(x, number(0, -1), number(1, 1));
  }
  if (post.name == "hardswish") {
    return at::hardswish_(x);
  }
  if (post.name == "swish") {
    return at::silu_(x);
  }
  if (of_linear && post.name == "leaky_relu") {
    return at::leaky_relu_(x, number(0, 0.01));
  }
  if (of_linear && post.name == "tanh") {
    return x.tanh_();
  }
  if (of_linear && post.name == "gelu") {
    return at::gelu(x, post.algorithm == "tanh" ? "tanh" : "none");
  }
  TORCH_CHECK(
      false, op, ": unsupported unary post op ", post.name, "; supported: none, relu, hardtanh, hardswish, swish",
      of_linear ? ", leaky_relu, tanh, gelu" : "");
}

/// The same operator with scale and zero point of the input in tensors.
template <auto* op>
struct WithTensors;
template <class... Rest, Tensor (*op)(const Tensor&, double, int64_t, Rest...)>
struct WithTensors<op> {
  static Tensor call(const Tensor& x, const Tensor& scale, const Tensor& zero_point, Rest... rest) {
    TORCH_CHECK(
        scale.numel() == 1 && zero_point.numel() == 1,
        "onednn: scale and zero point of the input must have one element each, got ", scale.sizes(), " and ",
        zero_point.sizes());
    return op(x, scale.item<double>(), zero_point.item<int64_t>(), std::forward<Rest>(rest)...);
  }
};

/// Bytes as a quint8 tensor; signed ones are moved.
Tensor activations(const char* op, const Tensor& x, double scale, int64_t zero_point) {
  TORCH_CHECK(
      x.scalar_type() == kByte || x.scalar_type() == kChar, op,
      ": Input tensor should have uint8, int8 or float8 data "
      "type, got ",
      x.scalar_type());
  const bool is_signed = x.scalar_type() == kChar;
  const Tensor bytes = is_signed ? (x.to(kShort) + 128).to(kByte) : x;
  return make_quantized(bytes, Quantizer::per_tensor(scale, zero_point + (is_signed ? 128 : 0), kQUInt8));
}

Tensor quantized_weight(const char* op, const Tensor& integers, const Tensor& scale, const Tensor& zero_point) {
  TORCH_CHECK(
      integers.scalar_type() == kChar && (scale.numel() == 1 || scale.numel() == integers.size(0)), op,
      ": expected an int8 weight with one scale, or one for each of its ", integers.size(0), " outputs, got ",
      integers.scalar_type(), " and ", scale.numel(), " scales");
  const auto each = [&](const Tensor& t) { return t.reshape({-1}).expand({integers.size(0)}).contiguous(); };
  const Tensor zeros = zero_point.numel() == 0 ? at::zeros({1}, kLong) : zero_point;
  return make_quantized(integers, Quantizer::per_channel(each(scale), each(zeros), 0, kQInt8));
}

/// sums * scale of the input * scale of each output + bias, rounded after each, as oneDNN does it.
Tensor scaled_sums(
    Tensor sums, double x_scale, const Tensor& w_scale, const std::optional<Tensor>& bias, IntArrayRef channel_sizes) {
  const auto by_channel = [&](const Tensor& t) {
    return t.numel() == 1 ? t.reshape(IntArrayRef({1})) : t.view(channel_sizes);
  };
  sums.mul_(static_cast<double>(static_cast<float>(x_scale))).mul_(by_channel(w_scale.to(kFloat)));
  return bias.has_value() && bias->defined() ? sums.add_(by_channel(bias->to(kFloat))) : sums;
}

// ---- linear ----------------------------------------------------------------------

/// `w`, [inputs, outputs], times `x` in float32.
Tensor linear_numbers(
    const Tensor& x,
    double x_scale,
    int64_t x_zero_point,
    const Tensor& w,
    const Tensor& w_scale,
    const Tensor& w_zero_point,
    const std::optional<Tensor>& bias) {
  constexpr const char* kOp = "onednn::qlinear_pointwise";
  TORCH_CHECK(
      w.dim() == 2 && x.dim() >= 1 && x.size(-1) == w.size(0), kOp, ": input ", x.sizes(), " and packed weight ",
      w.sizes(), " do not fit: the last size of the input must be the first of the weight");
  check_bias(kOp, bias, w.size(1));
  DimVector sizes(x.sizes());
  sizes.back() = w.size(1);
  const Tensor rows = x.reshape({-1, w.size(0)}), weight = w.t();
  if (x.scalar_type() == kFloat8_e4m3fn) {
    const Tensor numbers = rows.to(kFloat) * static_cast<double>(static_cast<float>(x_scale));
    return at::linear(numbers, weight.to(kFloat) * w_scale.to(kFloat).view({-1, 1}), bias).view(sizes);
  }
  const Tensor q = quantized_weight(kOp, weight.contiguous(), w_scale, w_zero_point);
  const auto [scales, zero_points] = weight_factors(kOp, q);
  const Tensor input = activations(kOp, rows, x_scale, x_zero_point);
  const Tensor sums =
      IntegerMatrix(integers_of(q), scales, zero_points).sums(integers_of(input), get_quantizer(input)->zero_point);
  return scaled_sums(sums, x_scale, w_scale, bias, {1, -1}).view(sizes);
}

Tensor qlinear_prepack(const Tensor& weight, OptionalIntArrayRef) {
  TORCH_CHECK(weight.dim() == 2, "onednn::qlinear_prepack: expected a matrix, got ", weight.sizes());
  return weight.clone(MemoryFormat::Contiguous).t();
}

Tensor qlinear_pointwise(
    const Tensor& x,
    double x_scale,
    int64_t x_zero_point,
    const Tensor& w,
    const Tensor& w_scale,
    const Tensor& w_zero_point,
    const std::optional<Tensor>& bias,
    double scale,
    int64_t zero_point,
    std::optional<ScalarType> dtype,
    string_view post,
    Scalars numbers,
    string_view algorithm) {
  constexpr const char* kOp = "onednn::qlinear_pointwise";
  const Tensor sums = linear_numbers(x, x_scale, x_zero_point, w, w_scale, w_zero_point, bias);
  return stored(kOp, applied(kOp, sums, {post, numbers, algorithm}, true), {scale, zero_point, dtype});
}

Tensor qlinear_binary(
    const Tensor& x,
    double x_scale,
    int64_t x_zero_point,
    const Tensor& w,
    const Tensor& w_scale,
    const Tensor& w_zero_point,
    const std::optional<Tensor>& other,
    const std::optional<Tensor>& bias,
    double scale,
    int64_t zero_point,
    std::optional<ScalarType> dtype,
    double other_scale,
    int64_t other_zero_point,
    string_view binary,
    double alpha,
    string_view unary,
    Scalars numbers,
    string_view algorithm) {
  constexpr const char* kOp = "onednn::qlinear_pointwise";
  const bool is_sum = binary == "sum";
  TORCH_CHECK(
      is_sum || binary == "add" || binary == "none", kOp, ": unsupported binary post op ", binary,
      "; supported: none, sum, add");
  TORCH_CHECK(alpha == 1, kOp, ": alpha != 1 for binary post op is not yet supported, got ", alpha);
  Tensor sums = linear_numbers(x, x_scale, x_zero_point, w, w_scale, w_zero_point, bias);
  if (binary != "none") {
    TORCH_CHECK(other.has_value() && other->defined(), kOp, ": binary post op ", binary, " needs a tensor");
    TORCH_CHECK(
        !is_sum || (other->scalar_type() == dtype.value_or(kByte) && other->sizes() == sums.sizes()), kOp,
        ": the tensor of post op sum should be ", dtype.value_or(kByte), " ", sums.sizes(), " as the result, got ",
        other->scalar_type(), " ", other->sizes());
    sums.add_(is_sum ? numbers_of(*other, other_scale, other_zero_point) : other->to(kFloat));
  }
  const Tensor out = stored(kOp, applied(kOp, sums, {unary, numbers, algorithm}, true), {scale, zero_point, dtype});
  return is_sum ? other->copy_(out) : out;
}

Tensor linear_prepack_fp16(const Tensor& weight, OptionalIntArrayRef) {
  TORCH_CHECK(weight.dim() == 2, "onednn::linear_prepack_fp16: expected a matrix, got ", weight.sizes());
  return weight.to(kHalf).clone(MemoryFormat::Contiguous).t();
}

template <bool Relu>
Tensor linear_dynamic_fp16(const Tensor& x, const Tensor& w, const std::optional<Tensor>& bias) {
  const Tensor out = at::linear(x.to(kFloat), w.to(kFloat).t(), bias);
  return Relu ? out.relu() : out;
}

// ---- convolution -----------------------------------------------------------------

/// The geometry of a convolution as operators get it.
struct ConvArguments {
  IntArrayRef stride, padding, dilation;
  int64_t groups;
};

constexpr const char* kConv = "onednn::qconv_pointwise";

Tensor qconv_prepack(
    const Tensor& weight,
    const Tensor&,
    double,
    int64_t,
    IntArrayRef,
    IntArrayRef,
    IntArrayRef,
    int64_t,
    OptionalIntArrayRef) {
  TORCH_CHECK(
      weight.dim() >= 3 && weight.dim() <= 5, "onednn::qconv_prepack: expected a weight of 3 to 5 dimensions, got ",
      weight.sizes());
  return weight.clone(MemoryFormat::Contiguous);
}

/// In float32, in channels-last order. One over one dimension has an extent of 1 in front.
Tensor conv_numbers(
    const Tensor& x,
    double x_scale,
    int64_t x_zero_point,
    const Tensor& w,
    const Tensor& w_scale,
    const Tensor& w_zero_point,
    const std::optional<Tensor>& bias,
    const ConvArguments& arguments) {
  const int64_t dims = x.dim() - 2;
  TORCH_CHECK(
      dims >= 1 && dims <= 3 && w.dim() == x.dim(), kConv, ": input ", x.sizes(), " and weight ", w.sizes(),
      " must both have 3, 4 or 5 dimensions");
  const bool is_flat = dims == 1;
  const auto numbers = [&](IntArrayRef given, int64_t front) {
    std::vector<int64_t> all(given.begin(), given.end());
    if (is_flat) {
      all.insert(all.begin(), front);
    }
    return all;
  };
  check_bias(kConv, bias, w.size(0));
  const ConvOptions options{
      numbers(arguments.stride, 1),
      numbers(arguments.padding, 0),
      {},
      numbers(arguments.dilation, 1),
      arguments.groups};
  const Tensor weight = quantized_weight(kConv, is_flat ? w.unsqueeze(2) : w, w_scale, w_zero_point);
  const ConvPackedParams packed(is_flat ? 2 : dims, weight, std::nullopt, options);
  const Tensor input = activations(kConv, is_flat ? x.unsqueeze(2) : x, x_scale, x_zero_point);
  DimVector channel_sizes(static_cast<size_t>(input.dim()), 1);
  channel_sizes[1] = w.size(0);
  const Tensor out = scaled_sums(packed.sums(input), x_scale, w_scale, bias, channel_sizes);
  return is_flat ? out.squeeze(2) : out;
}

Tensor qconv_pointwise(
    const Tensor& x,
    double x_scale,
    int64_t x_zero_point,
    const Tensor& w,
    const Tensor& w_scale,
    const Tensor& w_zero_point,
    const std::optional<Tensor>& bias,
    IntArrayRef stride,
    IntArrayRef padding,
    IntArrayRef dilation,
    int64_t groups,
    double scale,
    int64_t zero_point,
    std::optional<ScalarType> dtype,
    string_view post,
    Scalars numbers,
    std::optional<string_view> algorithm) {
  const Tensor sums =
      conv_numbers(x, x_scale, x_zero_point, w, w_scale, w_zero_point, bias, {stride, padding, dilation, groups});
  return stored(
      kConv, applied(kConv, sums, {post, numbers, algorithm.value_or("")}, false), {scale, zero_point, dtype});
}

Tensor qconv_binary(
    const Tensor& x,
    double x_scale,
    int64_t x_zero_point,
    const Tensor& w,
    const Tensor& w_scale,
    const Tensor& w_zero_point,
    Tensor& accumulated,
    const std::optional<Tensor>& bias,
    IntArrayRef stride,
    IntArrayRef padding,
    IntArrayRef dilation,
    int64_t groups,
    double scale,
    int64_t zero_point,
    std::optional<ScalarType> dtype,
    double accumulated_scale,
    int64_t accumulated_zero_point,
    string_view binary,
    const std::optional<Scalar>& alpha,
    std::optional<string_view> unary,
    Scalars numbers,
    std::optional<string_view> algorithm) {
  const string_view behind = unary.value_or("none");
  TORCH_CHECK(
      binary == "sum" && (behind == "none" || behind == "relu"), kConv,
      ": post_op sum or post_op sum_relu is supported for quantized pointwise conv2d. Got binary_post_op: ", binary,
      " unary_post_op: ", behind);
  TORCH_CHECK(
      !alpha.has_value() || alpha->toDouble() == 1, kConv, ": the factor of post op sum must be 1, got ", *alpha);
  Tensor sums =
      conv_numbers(x, x_scale, x_zero_point, w, w_scale, w_zero_point, bias, {stride, padding, dilation, groups});
  TORCH_CHECK(
      accumulated.sizes() == sums.sizes() && accumulated.scalar_type() == dtype.value_or(kByte), kConv,
      ": what is summed up must be ", dtype.value_or(kByte), " ", sums.sizes(), " as the result, got ",
      accumulated.scalar_type(), " ", accumulated.sizes());
  sums.add_(numbers_of(accumulated, accumulated_scale, accumulated_zero_point));
  const PostOp post{behind, numbers, algorithm.value_or("")};
  const Tensor out = stored(kConv, applied(kConv, sums, post, false), {scale, zero_point, dtype});
  accumulated.copy_(out);
  return out;
}

// ---- element by element ----------------------------------------------------------

void check_bytes(const char* op, const Tensor& a, const Tensor& b) {
  TORCH_CHECK(
      a.scalar_type() == kByte && b.scalar_type() == kByte && a.sizes() == b.sizes(), op,
      ": operands should be of type uint8 and have the same size, got ", a.scalar_type(), " ", a.sizes(), " and ",
      b.scalar_type(), " ", b.sizes());
}

Tensor stored_sum(const char* op, const Tensor& numbers, const ResultKind& to) {
  TORCH_CHECK(
      to.dtype == kByte || is_plain(*to.dtype), op,
      ": output should be of type uint8, float, bfloat16 or float16, but got ", *to.dtype);
  return stored(op, numbers, to);
}

template <bool Relu>
Tensor qadd(
    const Tensor& a,
    double a_scale,
    int64_t a_zero_point,
    const Tensor& b,
    double b_scale,
    int64_t b_zero_point,
    double scale,
    int64_t zero_point,
    ScalarType dtype) {
  check_bytes("onednn::qadd", a, b);
  const Tensor sum = numbers_of(a, a_scale, a_zero_point) + numbers_of(b, b_scale, b_zero_point);
  return stored_sum("onednn::qadd", Relu ? sum.relu() : sum, {scale, zero_point, dtype});
}

Tensor qmul(
    const Tensor& a,
    double a_scale,
    int64_t a_zero_point,
    const Tensor& b,
    double b_scale,
    int64_t b_zero_point,
    double scale,
    int64_t zero_point,
    ScalarType dtype) {
  check_bytes("onednn::qmul", a, b);
  const Tensor product = numbers_of(a, a_scale, a_zero_point) * numbers_of(b, b_scale, b_zero_point);
  return stored_sum("onednn::qmul", product, {scale, zero_point, dtype});
}

Tensor qbatch_norm2d(
    const Tensor& x,
    double x_scale,
    int64_t x_zero_point,
    const Tensor& weight,
    const Tensor& bias,
    const Tensor& mean,
    const Tensor& var,
    double eps,
    double scale,
    int64_t zero_point,
    ScalarType dtype) {
  constexpr const char* kOp = "onednn::qbatch_norm2d";
  TORCH_CHECK(
      x.dim() == 4 && x.scalar_type() == kByte, kOp, ": expected an image of uint8 with 4 dimensions, got ",
      x.scalar_type(), " ", x.sizes());
  if (dtype == kByte) {
    const Tensor q = make_quantized(x, Quantizer::per_tensor(x_scale, x_zero_point, kQUInt8));
    return integers_of(at::quantized_batch_norm(q, weight, bias, mean, var, eps, scale, zero_point));
  }
  const Tensor numbers = numbers_of(x, x_scale, x_zero_point);
  return stored_sum(
      kOp, at::batch_norm(numbers, weight, bias, mean, var, false, 0, eps, false), {scale, zero_point, dtype});
}

// ---- table -----------------------------------------------------------------------

using c10::impl::builtin_kernel;

constexpr OperatorRow kOnednnRows[] = {
    {"onednn::linear_dynamic_fp16", "", "linear_dynamic_fp16(Tensor x, Tensor w, Tensor? bias) -> Tensor",
     builtin_kernel<&linear_dynamic_fp16<false>>()},
    {"onednn::linear_prepack_fp16", "", "linear_prepack_fp16(Tensor weight, int[]? x_shape) -> Tensor",
     builtin_kernel<&linear_prepack_fp16>()},
    {"onednn::linear_relu_dynamic_fp16", "", "linear_relu_dynamic_fp16(Tensor x, Tensor w, Tensor? bias) -> Tensor",
     builtin_kernel<&linear_dynamic_fp16<true>>()},
    {"onednn::qadd", "tensor",
     "qadd.tensor(Tensor self, float self_scale, int self_zero_point, Tensor other, float other_scale, int "
     "other_zero_point, float output_scale, int output_zero_point, ScalarType output_dtype) -> Tensor",
     builtin_kernel<&qadd<false>>()},
    {"onednn::qadd_relu", "tensor",
     "qadd_relu.tensor(Tensor self, float self_scale, int self_zero_point, Tensor other, float other_scale, int "
     "other_zero_point, float output_scale, int output_zero_point, ScalarType output_dtype) -> Tensor",
     builtin_kernel<&qadd<true>>()},
    {"onednn::qbatch_norm2d", "",
     "qbatch_norm2d(Tensor qx, float qx_scale, int qx_zero_point, Tensor weight, Tensor bias, Tensor mean, Tensor var, "
     "float eps, float output_scale, int output_zero_point, ScalarType output_dtype) -> Tensor",
     builtin_kernel<&qbatch_norm2d>()},
    {"onednn::qconv1d_pointwise", "",
     "qconv1d_pointwise(Tensor qx, float x_scale, int x_zero_point, Tensor qw, Tensor w_scale, Tensor w_zero_point, "
     "Tensor? bias, int[] stride, int[] padding, int[] dilation, int groups, float output_scale, int "
     "output_zero_point, ScalarType? output_dtype, str attr, Scalar?[] scalars, str? algorithm) -> Tensor",
     builtin_kernel<&qconv_pointwise>()},
    {"onednn::qconv2d_pointwise", "",
     "qconv2d_pointwise(Tensor qx, float x_scale, int x_zero_point, Tensor qw, Tensor w_scale, Tensor w_zero_point, "
     "Tensor? bias, int[] stride, int[] padding, int[] dilation, int groups, float output_scale, int "
     "output_zero_point, ScalarType? output_dtype, str attr, Scalar?[] scalars, str? algorithm) -> Tensor",
     builtin_kernel<&qconv_pointwise>()},
    {"onednn::qconv2d_pointwise", "binary",
     "qconv2d_pointwise.binary(Tensor qx, float x_scale, int x_zero_point, Tensor qw, Tensor w_scale, Tensor "
     "w_zero_point, Tensor(a!) qaccum, Tensor? bias, int[] stride, int[] padding, int[] dilation, int groups, float "
     "output_scale, int output_zero_point, ScalarType? output_dtype, float accum_scale, int accum_zero_point, str "
     "binary_attr, Scalar? alpha, str? unary_attr, Scalar?[] unary_scalars, str? unary_algorithm) -> Tensor",
     builtin_kernel<&qconv_binary>()},
    {"onednn::qconv2d_pointwise", "binary_tensor",
     "qconv2d_pointwise.binary_tensor(Tensor qx, Tensor x_scale, Tensor x_zero_point, Tensor qw, Tensor w_scale, "
     "Tensor w_zero_point, Tensor(a!) qaccum, Tensor? bias, int[] stride, int[] padding, int[] dilation, int groups, "
     "float output_scale, int output_zero_point, ScalarType? output_dtype, float accum_scale, int accum_zero_point, "
     "str binary_attr, Scalar? alpha, str? unary_attr, Scalar?[] unary_scalars, str? unary_algorithm) -> Tensor",
     builtin_kernel<&WithTensors<&qconv_binary>::call>()},
    {"onednn::qconv2d_pointwise", "tensor",
     "qconv2d_pointwise.tensor(Tensor qx, Tensor x_scale, Tensor x_zero_point, Tensor qw, Tensor w_scale, Tensor "
     "w_zero_point, Tensor? bias, int[] stride, int[] padding, int[] dilation, int groups, float output_scale, int "
     "output_zero_point, ScalarType? output_dtype, str attr, Scalar?[] scalars, str? algorithm) -> Tensor",
     builtin_kernel<&WithTensors<&qconv_pointwise>::call>()},
    {"onednn::qconv3d_pointwise", "",
     "qconv3d_pointwise(Tensor qx, float x_scale, int x_zero_point, Tensor qw, Tensor w_scale, Tensor w_zero_point, "
     "Tensor? bias, int[] stride, int[] padding, int[] dilation, int groups, float output_scale, int "
     "output_zero_point, ScalarType? output_dtype, str attr, Scalar?[] scalars, str? algorithm) -> Tensor",
     builtin_kernel<&qconv_pointwise>()},
    {"onednn::qconv_pointwise", "",
     "qconv_pointwise(Tensor qx, float x_scale, int x_zero_point, Tensor qw, Tensor w_scale, Tensor w_zero_point, "
     "Tensor? bias, int[] stride, int[] padding, int[] dilation, int groups, float output_scale, int "
     "output_zero_point, ScalarType? output_dtype, str attr, Scalar?[] scalars, str? algorithm) -> Tensor",
     builtin_kernel<&qconv_pointwise>()},
    {"onednn::qconv_pointwise", "tensor",
     "qconv_pointwise.tensor(Tensor qx, Tensor x_scale, Tensor x_zero_point, Tensor qw, Tensor w_scale, Tensor "
     "w_zero_point, Tensor? bias, int[] stride, int[] padding, int[] dilation, int groups, float output_scale, int "
     "output_zero_point, ScalarType? output_dtype, str attr, Scalar?[] scalars, str? algorithm) -> Tensor",
     builtin_kernel<&WithTensors<&qconv_pointwise>::call>()},
    {"onednn::qconv_prepack", "",
     "qconv_prepack(Tensor weight, Tensor w_scales, float x_scale, int x_zp, int[] stride, int[] padding, int[] "
     "dilation, int groups, int[]? x_shape=None) -> Tensor",
     builtin_kernel<&qconv_prepack>()},
    {"onednn::qlinear_pointwise", "",
     "qlinear_pointwise(Tensor qx, float x_scale, int x_zero_point, Tensor qw, Tensor w_scale, Tensor w_zero_point, "
     "Tensor? bias, float output_scale, int output_zero_point, ScalarType? output_dtype, str post_op_name, Scalar?[] "
     "post_op_args, str post_op_algorithm) -> Tensor",
     builtin_kernel<&qlinear_pointwise>()},
    {"onednn::qlinear_pointwise", "binary",
     "qlinear_pointwise.binary(Tensor qx, float x_scale, int x_zero_point, Tensor qw, Tensor w_scale, Tensor "
     "w_zero_point, Tensor? other, Tensor? bias, float output_scale, int output_zero_point, ScalarType? output_dtype, "
     "float other_scale, int other_zp, str binary_post_op, float binary_alpha, str unary_post_op, Scalar?[] "
     "unary_post_op_args, str unary_post_op_algorithm) -> Tensor",
     builtin_kernel<&qlinear_binary>()},
    {"onednn::qlinear_pointwise", "binary_tensor",
     "qlinear_pointwise.binary_tensor(Tensor qx, Tensor x_scale, Tensor x_zero_point, Tensor qw, Tensor w_scale, "
     "Tensor w_zero_point, Tensor? other, Tensor? bias, float output_scale, int output_zero_point, ScalarType? "
     "output_dtype, float other_scale, int other_zp, str binary_post_op, float binary_alpha, str unary_post_op, "
     "Scalar?[] unary_post_op_args, str unary_post_op_algorithm) -> Tensor",
     builtin_kernel<&WithTensors<&qlinear_binary>::call>()},
    {"onednn::qlinear_pointwise", "tensor",
     "qlinear_pointwise.tensor(Tensor qx, Tensor x_scale, Tensor x_zero_point, Tensor qw, Tensor w_scale, Tensor "
     "w_zero_point, Tensor? bias, float output_scale, int output_zero_point, ScalarType? output_dtype, str "
     "post_op_name, Scalar?[] post_op_args, str post_op_algorithm) -> Tensor",
     builtin_kernel<&WithTensors<&qlinear_pointwise>::call>()},
    {"onednn::qlinear_prepack", "", "qlinear_prepack(Tensor weight, int[]? x_shape) -> Tensor",
     builtin_kernel<&qlinear_prepack>()},
    {"onednn::qmul", "tensor",
     "qmul.tensor(Tensor self, float self_scale, int self_zero_point, Tensor other, float other_scale, int "
     "other_zero_point, float output_scale, int output_zero_point, ScalarType output_dtype) -> Tensor",
     builtin_kernel<&qmul>()},
};

constinit OperatorTable kOnednnOperators("aten/quantized/onednn_library.cpp", kOnednnRows);
const RegisteredTable kOnednnRegistered(kOnednnOperators);

} // namespace
} // namespace at::quantized
