#include <aten/quantized/packed_params.h>

#include <aten/Functions.h>
#include <aten/core/TensorOperators.h>
#include <aten/parallel/Parallel.h>
#include <aten/quantized/packed_product.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

namespace at::quantized {
namespace {

using native::kPanelOutputs;

void check_activations(const char* op, const Tensor& input) {
  TORCH_CHECK(
      input.scalar_type() == kQUInt8 && input.is_cpu(), op, " (x86): Expected activation data type QUInt8 but got ",
      input.scalar_type(), " on ", input.device());
}

/// Scales of a quantized tensor for each index of dimension 0, or one.
std::pair<Tensor, Tensor> factors_of(const char* op, const Tensor& weight) {
  TORCH_CHECK(
      weight.is_quantized() && weight.scalar_type() == kQInt8, op,
      ": the weight must be a quantized tensor of qint8, got ", weight.scalar_type());
  const QuantizerPtr& q = get_quantizer(weight);
  if (!q->is_per_channel()) {
    return {at::full({1}, q->scale, kDouble), at::full({1}, q->zero_point, kLong)};
  }
  TORCH_CHECK(
      q->axis == 0 && q->scheme == c10::kPerChannelAffine, op,
      ": the weight must be quantized for each output, with whole zero points");
  return {q->scales, q->zero_points};
}

void check_bias(const char* op, const std::optional<Tensor>& bias, int64_t outputs) {
  TORCH_CHECK(
      !bias.has_value() || !bias->defined() ||
          (bias->scalar_type() == kFloat && bias->sizes() == IntArrayRef({outputs})),
      op, ": bias should be a vector (1D Tensor) of ", outputs, " float32 elements, got ",
      bias.has_value() && bias->defined() ? c10::str(bias->scalar_type(), " ", bias->sizes()) : std::string());
}

Tensor defined_or_none(const std::optional<Tensor>& t) {
  return t.has_value() && t->defined() ? t->detach().contiguous() : Tensor();
}

/// Calls f(row, first, count) for parts of a [rows, outputs] matrix.
template <class F>
void for_each_row(int64_t rows, int64_t outputs, const F& f) {
  at::parallel_for(0, rows, 1 + at::internal::GRAIN_SIZE / (outputs + 1), [&](int64_t begin, int64_t end) {
    for (int64_t m = begin; m < end; ++m) {
      f(m);
    }
  });
}

} // namespace

IntegerMatrix::IntegerMatrix(const Tensor& integers, const Tensor& scales, const Tensor& zero_points)
    : outputs_(integers.size(0)),
      inputs_(integers.size(1)),
      scales_(scales.to(kFloat).expand({integers.size(0)}).contiguous()) {
  TORCH_CHECK(inputs_ <= 65536, "quantized weights have at most 65536 inputs for each output, got ", inputs_);
  if (zero_points.ne(0).any().item<bool>()) {
    shifted_ = (integers.to(kDouble) - zero_points.to(kDouble).view({-1, 1})).t().contiguous();
    return;
  }
  packed_ = PackedWeight::from_codes(integers, at::ones({outputs_}), std::nullopt, 8);
  totals_ = integers.sum(1, false, kLong);
}

Tensor IntegerMatrix::sums(const Tensor& rows, int64_t zero_point) const {
  const Tensor x = rows.contiguous();
  if (shifted_.defined()) {
    return at::matmul(x.to(kDouble) - static_cast<double>(zero_point), shifted_).to(kFloat);
  }
  const Tensor out = at::empty({x.size(0), outputs_}, kFloat);
  if (out.numel() == 0 || inputs_ == 0) {
    return out.zero_();
  }
  const native::PackedView& w = packed_.view();
  std::vector<int32_t> shifts(static_cast<size_t>(w.panels() * kPanelOutputs));
  const int64_t* totals = totals_.const_data_ptr<int64_t>();
  for (int64_t n = 0; n < outputs_; ++n) {
    shifts[static_cast<size_t>(n)] = static_cast<int32_t>((128 - zero_point) * totals[n]);
  }
  native::packed_sums(w, x.const_data_ptr<uint8_t>(), x.size(0), shifts.data(), out.mutable_data_ptr<float>());
  return out;
}

Tensor IntegerMatrix::requantize(
    const Tensor& sums, double scale, const Tensor& bias, double output_scale, int64_t output_zero_point, bool relu)
    const {
  const int64_t rows = sums.size(0), n = outputs_;
  const Tensor out = at::empty({rows, n}, kByte);
  const float* w = scales_.const_data_ptr<float>();
  std::vector<float> factors(static_cast<size_t>(n)), added(static_cast<size_t>(n));
  for (size_t j = 0; j < factors.size(); ++j) {
    const float both = static_cast<float>(scale) * w[j];
    factors[j] = both / static_cast<float>(output_scale);
    added[j] = bias.defined() ? bias.const_data_ptr<float>()[j] / both : 0.0f;
  }
  const auto zero = static_cast<float>(output_zero_point);
  const float low = relu ? std::max(zero, 0.0f) : 0.0f;
  const float* from = sums.const_data_ptr<float>();
  uint8_t* to = out.mutable_data_ptr<uint8_t>();
  for_each_row(rows, n, [&](int64_t m) {
    for (int64_t j = 0; j < n; ++j) {
      const float value =
          std::nearbyint((from[m * n + j] + added[static_cast<size_t>(j)]) * factors[static_cast<size_t>(j)]) + zero;
      to[m * n + j] = static_cast<uint8_t>(std::min(std::max(value, low), 255.0f));
    }
  });
  return out;
}

Tensor IntegerMatrix::dequantize(const Tensor& sums, double scale, const Tensor& bias, bool relu) const {
  const int64_t rows = sums.size(0), n = outputs_;
  const Tensor out = at::empty({rows, n}, kFloat);
  const float* w = scales_.const_data_ptr<float>();
  const float* b = bias.defined() ? bias.const_data_ptr<float>() : nullptr;
  const float* from = sums.const_data_ptr<float>();
  float* to = out.mutable_data_ptr<float>();
  for_each_row(rows, n, [&](int64_t m) {
    for (int64_t j = 0; j < n; ++j) {
      // In double, and so rounded once, as by a fused multiplication and addition.
      const double product =
          static_cast<double>(from[m * n + j]) * static_cast<double>(static_cast<float>(scale) * w[j]);
      const auto value = static_cast<float>(b != nullptr ? product + static_cast<double>(b[j]) : product);
      to[m * n + j] = relu ? std::max(value, 0.0f) : value;
    }
  });
  return out;
}

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
  const auto [scales, zero_points] = factors_of(kOp, weight_);
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

Tensor LinearPackedParams::apply_dynamic(const Tensor& input, bool relu, bool reduce_range) const {
  TORCH_CHECK(
      input.scalar_type() == kFloat, "quantized::linear_dynamic: expected input of float32, got ", input.scalar_type());
  TORCH_CHECK(matrix_.has_value(), "quantized::linear_dynamic: the weight is of halves; call linear_dynamic_fp16");
  TORCH_CHECK(
      input.dim() >= 1 && input.size(-1) == matrix_->inputs(),
      "The number of rows in the packB should be equal to K: ", matrix_->inputs(), ", got input ", input.sizes());
  const Tensor q = at::quantize_per_tensor_dynamic(input.detach().contiguous(), kQUInt8, reduce_range);
  const QuantizerPtr& quantizer = get_quantizer(q);
  const Tensor rows = integers_of(q).view({-1, matrix_->inputs()});
  DimVector sizes(input.sizes());
  sizes.back() = matrix_->outputs();
  return matrix_->dequantize(matrix_->sums(rows, quantizer->zero_point), quantizer->scale, defined_or_none(bias_), relu)
      .view(sizes);
}

Tensor LinearPackedParams::apply_half(const Tensor& input, bool relu) const {
  TORCH_CHECK(
      !matrix_.has_value(), "quantized::linear_dynamic_fp16: the weight is of 8-bit integers; call linear_dynamic");
  const Tensor out = at::linear(input.to(kFloat), weight_, bias_);
  return relu ? out.relu() : out;
}

// ---- convolution ---------------------------------------------------------------

Conv2dPackedParams::Conv2dPackedParams(
    Tensor weight,
    std::optional<Tensor> bias,
    std::vector<int64_t> stride,
    std::vector<int64_t> padding,
    std::vector<int64_t> dilation,
    int64_t groups)
    : weight_(std::move(weight)),
      bias_(std::move(bias)),
      stride_(std::move(stride)),
      padding_(std::move(padding)),
      dilation_(std::move(dilation)),
      groups_(groups) {
  constexpr const char* kOp = "quantized::conv2d_prepack";
  const auto [scales, zero_points] = factors_of(kOp, weight_);
  TORCH_CHECK(weight_.dim() == 4, kOp, ": weights are expected to have 4 dimensions, got sizes ", weight_.sizes());
  const auto fits = [](const std::vector<int64_t>& v, int64_t least) {
    return v.size() == 2 && v[0] >= least && v[1] >= least && v[0] < (1 << 24) && v[1] < (1 << 24);
  };
  TORCH_CHECK(
      fits(stride_, 1) && fits(padding_, 0) && fits(dilation_, 1), kOp,
      ": stride and dilation must be two positive numbers, padding two that are not negative, got ",
      IntArrayRef(stride_), ", ", IntArrayRef(dilation_), " and ", IntArrayRef(padding_));
  const int64_t outputs = weight_.size(0);
  TORCH_CHECK(
      groups_ > 0 && outputs % groups_ == 0, kOp, ": ", outputs, " output channels do not divide into ", groups_,
      " groups");
  TORCH_CHECK(weight_.size(2) > 0 && weight_.size(3) > 0, kOp, ": the kernel is empty, got weight ", weight_.sizes());
  check_bias(kOp, bias_, outputs);
  const Tensor taps = integers_of(weight_).permute({0, 2, 3, 1}).reshape({outputs, -1});
  const int64_t each = outputs / groups_;
  const bool shared = scales.numel() == 1;
  for (int64_t g = 0; g < groups_; ++g) {
    const auto part = [&](const Tensor& t) { return shared ? t : t.narrow(0, g * each, each); };
    matrices_.emplace_back(taps.narrow(0, g * each, each).contiguous(), part(scales), part(zero_points));
  }
}

namespace {

struct ConvGeometry {
  int64_t batch, channels, height, width, out_height, out_width, kernel_height, kernel_width;
  const int64_t *stride, *padding, *dilation;
};

/// The bytes below each output, kernel positions outside and channels [first, first + count) inside, of images whose
/// channels are adjacent. Outside of an image lies `zero_point`.
Tensor image_columns(const Tensor& images, const ConvGeometry& g, int64_t first, int64_t count, uint8_t zero_point) {
  const int64_t positions = g.out_height * g.out_width, taps = g.kernel_height * g.kernel_width;
  const Tensor columns = at::empty({g.batch * positions, taps * count}, kByte);
  const uint8_t* from = images.const_data_ptr<uint8_t>();
  uint8_t* const to = columns.mutable_data_ptr<uint8_t>();
  at::parallel_for(
      0, g.batch * positions, 1 + at::internal::GRAIN_SIZE / (taps * count + 1), [&](int64_t begin, int64_t end) {
        for (int64_t row = begin; row < end; ++row) {
          const int64_t image = row / positions, oy = row % positions / g.out_width, ox = row % g.out_width;
          uint8_t* out = to + row * taps * count;
          for (int64_t ky = 0; ky < g.kernel_height; ++ky) {
            const int64_t y = oy * g.stride[0] - g.padding[0] + ky * g.dilation[0];
            for (int64_t kx = 0; kx < g.kernel_width; ++kx, out += count) {
              const int64_t x = ox * g.stride[1] - g.padding[1] + kx * g.dilation[1];
              if (y < 0 || y >= g.height || x < 0 || x >= g.width) {
                std::memset(out, zero_point, static_cast<size_t>(count));
              } else {
                std::memcpy(
                    out, from + ((image * g.height + y) * g.width + x) * g.channels + first,
                    static_cast<size_t>(count));
              }
            }
          }
        }
      });
  return columns;
}

} // namespace

Tensor Conv2dPackedParams::apply(const Tensor& input, double scale, int64_t zero_point, bool relu) const {
  check_activations("quantized::conv2d", input);
  const int64_t each_in = weight_.size(1), outputs = weight_.size(0), each_out = outputs / groups_;
  TORCH_CHECK(
      input.dim() == 4 && input.size(1) == each_in * groups_,
      "quantized::conv2d(): Expected activation tensor to have 4 dimensions and ", each_in * groups_, " channels, got ",
      input.sizes());
  const auto extent = [&](int64_t size, size_t d) {
    const int64_t reach = dilation_[d] * (weight_.size(static_cast<int64_t>(d) + 2) - 1) + 1;
    return size + 2 * padding_[d] < reach ? 0 : (size + 2 * padding_[d] - reach) / stride_[d] + 1;
  };
  ConvGeometry g{input.size(0),
                 input.size(1),
                 input.size(2),
                 input.size(3),
                 extent(input.size(2), 0),
                 extent(input.size(3), 1),
                 weight_.size(2),
                 weight_.size(3),
                 stride_.data(),
                 padding_.data(),
                 dilation_.data()};
  TORCH_CHECK(
      g.out_height > 0 && g.out_width > 0, "quantized::conv2d: the kernel ", weight_.sizes(),
      " does not fit the padded input ", input.sizes());
  const QuantizerPtr& q = get_quantizer(input);
  const Tensor images = integers_of(input).permute({0, 2, 3, 1}).contiguous();
  const int64_t rows = g.batch * g.out_height * g.out_width;
  const Tensor out = at::empty({rows, outputs}, kByte), bias = defined_or_none(bias_);
  const bool in_place = groups_ == 1 && g.kernel_height == 1 && g.kernel_width == 1 && stride_[0] == 1 &&
      stride_[1] == 1 && padding_[0] == 0 && padding_[1] == 0;
  for (int64_t group = 0; group < groups_; ++group) {
    const IntegerMatrix& matrix = matrices_[static_cast<size_t>(group)];
    const Tensor columns = in_place
        ? images.view({rows, g.channels})
        : image_columns(images, g, group * each_in, each_in, static_cast<uint8_t>(q->zero_point));
    const Tensor own_bias = bias.defined() ? bias.narrow(0, group * each_out, each_out) : bias;
    out.narrow(1, group * each_out, each_out)
        .copy_(matrix.requantize(matrix.sums(columns, q->zero_point), q->scale, own_bias, scale, zero_point, relu));
  }
  const Tensor shaped = out.view({g.batch, g.out_height, g.out_width, outputs}).permute({0, 3, 1, 2});
  return make_quantized(shaped, Quantizer::per_tensor(scale, zero_point, kQUInt8));
}

// [2, strides, paddings, dilations, output paddings, groups, is transposed] of int16, then the weight.
Conv2dPackedParams::State Conv2dPackedParams::state() const {
  std::vector<int64_t> numbers{2};
  for (const std::vector<int64_t>* part : {&stride_, &padding_, &dilation_}) {
    numbers.insert(numbers.end(), part->begin(), part->end());
  }
  numbers.insert(numbers.end(), {0, 0, groups_, 0});
  const Tensor packed = at::empty({static_cast<int64_t>(numbers.size())}, kShort);
  std::transform(numbers.begin(), numbers.end(), packed.mutable_data_ptr<int16_t>(), [](int64_t n) {
    return static_cast<int16_t>(n);
  });
  return {"2", {packed, weight_}, {bias_}};
}

c10::intrusive_ptr<Conv2dPackedParams> Conv2dPackedParams::from_state(const State& state) {
  const auto& [version, tensors, optionals] = state;
  TORCH_CHECK(
      version == "2" && tensors.size() == 2 && optionals.size() == 1 && tensors[0].defined() &&
          tensors[0].sizes() == IntArrayRef({11}) && !isFloatingType(tensors[0].scalar_type()),
      "Conv2dPackedParamsBase: the state must have version 2, 11 numbers, a weight and a bias; got version ", version);
  const Tensor packed = tensors[0].to(kLong).contiguous();
  const int64_t* n = packed.const_data_ptr<int64_t>();
  TORCH_CHECK(
      n[0] == 2 && n[7] == 0 && n[8] == 0 && n[10] == 0,
      "Conv2dPackedParamsBase: only convolutions of two dimensions that are not transposed are supported");
  return c10::make_intrusive<Conv2dPackedParams>(
      tensors[1], optionals[0], std::vector<int64_t>{n[1], n[2]}, std::vector<int64_t>{n[3], n[4]},
      std::vector<int64_t>{n[5], n[6]}, n[9]);
}

} // namespace at::quantized
