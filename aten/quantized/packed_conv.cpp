#include <aten/quantized/packed_conv.h>

#include <aten/Functions.h>
#include <aten/core/TensorOperators.h>
#include <aten/native/onednn/quantized_conv.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <utility>

namespace at::quantized {

namespace {

constexpr const char* kPrepack = "quantized::conv_prepack";

bool all_between(const std::vector<int64_t>& v, int64_t count, int64_t least) {
  return static_cast<int64_t>(v.size()) == count &&
      std::all_of(v.begin(), v.end(), [&](int64_t n) { return n >= least && n < (1 << 24); });
}

/// [groups, outputs of a group, depth, height, width, inputs of a group] of the integers of a weight.
Tensor canonical_weight(const Tensor& weight, int64_t groups, bool transposed) {
  const Tensor integers = integers_of(weight);
  DimVector sizes{groups, weight.size(0) / groups, weight.size(1)};
  sizes.resize(static_cast<size_t>(8 - weight.dim()), 1); // a kernel of two dimensions has depth 1
  for (int64_t d = 2; d < weight.dim(); ++d) {
    sizes.push_back(weight.size(d));
  }
  const Tensor split = integers.contiguous().view(sizes);
  return transposed ? split.permute({0, 2, 3, 4, 5, 1}) : split.permute({0, 1, 3, 4, 5, 2});
}

} // namespace

ConvPackedParams::ConvPackedParams(int64_t spatial_dims, Tensor weight, std::optional<Tensor> bias, ConvOptions options)
    : spatial_dims_(spatial_dims), weight_(std::move(weight)), bias_(std::move(bias)), options_(std::move(options)) {
  const bool transposed = options_.transposed;
  const int64_t groups = options_.groups;
  const auto [scales, zero_points] = weight_factors(kPrepack, weight_, transposed ? 1 : 0);
  TORCH_CHECK(
      weight_.dim() == spatial_dims + 2, kPrepack, ": weights are expected to have ", spatial_dims + 2,
      " dimensions, got sizes ", weight_.sizes());
  if (options_.output_padding.empty()) {
    options_.output_padding.assign(static_cast<size_t>(spatial_dims), 0);
  }
  TORCH_CHECK(
      all_between(options_.stride, spatial_dims, 1) && all_between(options_.padding, spatial_dims, 0) &&
          all_between(options_.dilation, spatial_dims, 1) && all_between(options_.output_padding, spatial_dims, 0),
      kPrepack, ": stride and dilation must be ", spatial_dims, " positive numbers, paddings ", spatial_dims,
      " that are not negative, got ", IntArrayRef(options_.stride), ", ", IntArrayRef(options_.dilation), " and ",
      IntArrayRef(options_.padding));
  TORCH_CHECK(
      groups > 0 && weight_.size(0) % groups == 0, kPrepack, ": ", weight_.size(0), transposed ? " input" : " output",
      " channels do not divide into ", groups, " groups");
  TORCH_CHECK(
      !transposed || groups == 1 || scales.numel() == 1, kPrepack,
      ": the weight of a transposed convolution in groups must be quantized per tensor");
  taps_ = canonical_weight(weight_, groups, transposed).contiguous();
  const int64_t each_out = taps_.size(1), each_in = taps_.size(5);
  TORCH_CHECK(
      groups * each_out > 0 && taps_[0][0].numel() > 0, kPrepack, ": the kernel is empty, got weight ",
      weight_.sizes());
  outputs_ = groups * each_out;
  inputs_ = groups * each_in;
  check_bias(kPrepack, bias_, outputs_);
  scales_ = scales.to(kFloat).contiguous();
  zero_points_ = zero_points;
  if (!transposed && native::onednn::QuantizedConvolution::available() && !zero_points.ne(0).any().item<bool>()) {
    onednn_ =
        std::make_unique<native::onednn::QuantizedConvolution>(taps_, scales_, defined_or_none(bias_), spatial_dims);
  }
}

ConvPackedParams::~ConvPackedParams() = default;

const std::vector<IntegerMatrix>& ConvPackedParams::matrices() const {
  std::call_once(packed_once_, [&] {
    const int64_t each = taps_.size(1);
    const bool shared = scales_.numel() == 1;
    for (int64_t g = 0; g < options_.groups; ++g) {
      const auto part = [&](const Tensor& t) { return shared ? t : t.narrow(0, g * each, each); };
      matrices_.emplace_back(taps_[g].reshape({each, -1}), part(scales_), part(zero_points_));
    }
  });
  return matrices_;
}

ConvPackedParams::Axes ConvPackedParams::axes_for(const Tensor& input) const {
  TORCH_CHECK(
      input.dim() == spatial_dims_ + 2 && input.size(1) == inputs_, "quantized::conv", spatial_dims_,
      "d(): Expected activation tensor to have ", spatial_dims_ + 2, " dimensions and ", inputs_, " channels, got ",
      input.sizes());
  Axes axes;
  axes.fill({1, 1, 1, 1, 0, 1});
  for (int64_t d = 0; d < spatial_dims_; ++d) {
    const auto i = static_cast<size_t>(d);
    ImageAxis& axis = axes[i + static_cast<size_t>(3 - spatial_dims_)];
    axis.in = input.size(d + 2);
    axis.kernel = weight_.size(d + 2);
    axis.stride = options_.stride[i];
    axis.padding = options_.padding[i];
    axis.dilation = options_.dilation[i];
    const int64_t reach = axis.dilation * (axis.kernel - 1) + 1;
    if (options_.transposed) {
      axis.out = (axis.in - 1) * axis.stride - 2 * axis.padding + reach + options_.output_padding[i];
    } else {
      axis.out = axis.in + 2 * axis.padding < reach ? 0 : (axis.in + 2 * axis.padding - reach) / axis.stride + 1;
    }
    TORCH_CHECK(
        axis.out > 0, "quantized::conv", spatial_dims_, "d: the kernel ", weight_.sizes(),
        " does not fit the padded input ", input.sizes());
  }
  return axes;
}

template <class Finish>
void ConvPackedParams::for_each_group(const Tensor& input, const Axes& axes, const Finish& finish) const {
  const QuantizerPtr& q = get_quantizer(input);
  const Tensor images = integers_of(input).movedim(1, -1).contiguous();
  const int64_t each_in = inputs_ / options_.groups, each_out = outputs_ / options_.groups;
  const Tensor bias = defined_or_none(bias_);
  const bool in_place = options_.groups == 1 && std::all_of(axes.begin(), axes.end(), [](const ImageAxis& a) {
                          return a.kernel == 1 && a.stride == 1 && a.in == a.out;
                        });
  for (int64_t group = 0; group < options_.groups; ++group) {
    const IntegerMatrix& matrix = matrices()[static_cast<size_t>(group)];
    const Tensor columns = in_place
        ? images.view({-1, inputs_})
        : image_columns(
              images, axes.data(), options_.transposed, group * each_in, each_in, static_cast<uint8_t>(q->zero_point));
    const Tensor own_bias = bias.defined() ? bias.narrow(0, group * each_out, each_out) : bias;
    finish(matrix, matrix.sums(columns, q->zero_point), own_bias, group * each_out);
  }
}

Tensor ConvPackedParams::as_images(const Tensor& rows, int64_t batch, const Axes& axes) const {
  DimVector sizes{batch};
  for (size_t i = static_cast<size_t>(3 - spatial_dims_); i < 3; ++i) {
    sizes.push_back(axes[i].out);
  }
  sizes.push_back(outputs_);
  return rows.view(sizes).movedim(-1, 1);
}

Tensor ConvPackedParams::apply_onednn(
    const Tensor& input, const Axes& axes, double scale, int64_t zero_point, bool relu) const {
  const QuantizerPtr& q = get_quantizer(input);
  const Tensor images = integers_of(input).movedim(1, -1).contiguous();
  const Tensor out = at::empty({input.size(0) * axes[0].out * axes[1].out * axes[2].out, outputs_}, kByte);
  if (out.numel() == 0) {
    return out;
  }
  const bool done = onednn_->run(
      {images.const_data_ptr<uint8_t>(), out.mutable_data_ptr<uint8_t>(), input.size(0), axes.data(), q->zero_point,
       zero_point, relu, q->scale, scale});
  return done ? out : Tensor();
}

Tensor ConvPackedParams::apply(const Tensor& input, double scale, int64_t zero_point, bool relu) const {
  check_activations("quantized::conv", input);
  const Axes axes = axes_for(input);
  const QuantizerPtr quantizer = Quantizer::per_tensor(scale, zero_point, kQUInt8);
  if (onednn_ != nullptr) {
    if (const Tensor out = apply_onednn(input, axes, scale, zero_point, relu); out.defined()) {
      return make_quantized(as_images(out, input.size(0), axes), quantizer);
    }
  }
  const double input_scale = get_quantizer(input)->scale;
  const int64_t rows = input.size(0) * axes[0].out * axes[1].out * axes[2].out;
  Tensor out = at::empty({options_.groups == 1 ? 0 : rows, outputs_}, kByte);
  for_each_group(input, axes, [&](const IntegerMatrix& matrix, const Tensor& sums, const Tensor& bias, int64_t first) {
    const Tensor part = matrix.requantize(sums, input_scale, bias, scale, zero_point, relu);
    if (options_.groups == 1) {
      out = part;
    } else {
      out.narrow(1, first, matrix.outputs()).copy_(part);
    }
  });
  return make_quantized(as_images(out, input.size(0), axes), quantizer);
}

template <class F>
Tensor ConvPackedParams::float_images(const Tensor& input, const Axes& axes, const F& f) const {
  const int64_t rows = input.size(0) * axes[0].out * axes[1].out * axes[2].out;
  const Tensor out = at::empty({rows, outputs_}, kFloat);
  for_each_group(input, axes, [&](const IntegerMatrix& matrix, const Tensor& sums, const Tensor& bias, int64_t first) {
    out.narrow(1, first, matrix.outputs()).copy_(f(matrix, sums, bias));
  });
  return as_images(out, input.size(0), axes);
}

Tensor ConvPackedParams::sums(const Tensor& input) const {
  check_activations("quantized::conv", input);
  return float_images(
      input, axes_for(input), [](const IntegerMatrix&, const Tensor& sums, const Tensor&) { return sums; });
}

Tensor ConvPackedParams::apply_in_float(const Tensor& input, const Axes& axes) const {
  const double scale = get_quantizer(input)->scale;
  return float_images(input, axes, [scale](const IntegerMatrix& matrix, const Tensor& sums, const Tensor& bias) {
    return matrix.dequantize(sums, scale, bias, false);
  });
}

Tensor ConvPackedParams::apply_add(
    const Tensor& input, const Tensor& accumulated, double scale, int64_t zero_point, bool relu) const {
  check_activations("quantized::conv_add", input);
  const Tensor sum = apply_in_float(input, axes_for(input)).add_(at::dequantize(accumulated));
  return at::quantize_per_tensor(relu ? sum.relu() : sum, scale, zero_point, kQUInt8);
}

Tensor ConvPackedParams::apply_dynamic(const Tensor& input, bool reduce_range) const {
  TORCH_CHECK(
      input.scalar_type() == kFloat, "quantized::conv_dynamic: expected input of float32, got ", input.scalar_type());
  const Tensor q = at::quantize_per_tensor_dynamic(input.detach().contiguous(), kQUInt8, reduce_range);
  // PyTorch's engines round results to the scale and zero point of the input, and so do we.
  return at::dequantize(apply(q, get_quantizer(q)->scale, get_quantizer(q)->zero_point, false));
}

// [dimensions, strides, paddings, dilations, output paddings, groups, is transposed] of int16, then the weight.
ConvPackedParams::State ConvPackedParams::state() const {
  std::vector<int64_t> numbers{spatial_dims_};
  for (const std::vector<int64_t>* part :
       {&options_.stride, &options_.padding, &options_.dilation, &options_.output_padding}) {
    numbers.insert(numbers.end(), part->begin(), part->end());
  }
  numbers.push_back(options_.groups);
  numbers.push_back(options_.transposed ? 1 : 0);
  const Tensor packed = at::empty({static_cast<int64_t>(numbers.size())}, kShort);
  std::transform(numbers.begin(), numbers.end(), packed.mutable_data_ptr<int16_t>(), [](int64_t n) {
    return static_cast<int16_t>(n);
  });
  return {"2", {packed, weight_}, {bias_}};
}

std::tuple<Tensor, std::optional<Tensor>, ConvOptions> ConvPackedParams::parse_state(
    int64_t spatial_dims, const State& state) {
  const auto& [version, tensors, optionals] = state;
  const int64_t count = 4 * spatial_dims + 3;
  TORCH_CHECK(
      version == "2" && tensors.size() == 2 && optionals.size() == 1 && tensors[0].defined() &&
          tensors[0].sizes() == IntArrayRef({count}) && !isFloatingType(tensors[0].scalar_type()),
      "Conv", spatial_dims, "dPackedParamsBase: the state must have version 2, ", count,
      " numbers, a weight and a bias; got version ", version);
  const Tensor packed = tensors[0].to(kLong).contiguous();
  const int64_t* n = packed.const_data_ptr<int64_t>();
  TORCH_CHECK(
      *n == spatial_dims && tensors[1].defined(), "Conv", spatial_dims, "dPackedParamsBase: the state is of ", *n,
      " dimensions");
  ++n;
  ConvOptions options;
  for (std::vector<int64_t>* part : {&options.stride, &options.padding, &options.dilation, &options.output_padding}) {
    part->assign(n, n + spatial_dims);
    n += spatial_dims;
  }
  options.groups = n[0];
  options.transposed = n[1] != 0;
  return {tensors[1], optionals[0], std::move(options)};
}

} // namespace at::quantized
