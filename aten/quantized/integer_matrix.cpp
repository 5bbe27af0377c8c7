#include <aten/quantized/integer_matrix.h>

#include <aten/Functions.h>
#include <aten/core/TensorOperators.h>
#include <aten/parallel/Parallel.h>
#include <aten/quantized/QTensorImpl.h>
#include <aten/quantized/packed_product.h>
#include <aten/quantized/quantized_loops.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace at::quantized {

using native::kPanelOutputs;

void check_activations(const char* op, const Tensor& input) {
  TORCH_CHECK(
      input.scalar_type() == kQUInt8 && input.is_cpu(), op, " (x86): Expected activation data type QUInt8 but got ",
      input.scalar_type(), " on ", input.device());
}

std::pair<Tensor, Tensor> weight_factors(const char* op, const Tensor& weight, int64_t axis) {
  TORCH_CHECK(
      weight.is_quantized() && weight.scalar_type() == kQInt8, op,
      ": the weight must be a quantized tensor of qint8, got ", weight.scalar_type());
  const QuantizerPtr& q = get_quantizer(weight);
  if (!q->is_per_channel()) {
    return {at::full({1}, q->scale, kDouble), at::full({1}, q->zero_point, kLong)};
  }
  TORCH_CHECK(
      q->axis == axis && q->scheme == c10::kPerChannelAffine, op,
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

namespace {

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
  const native::QuantizedLoops& loops = native::quantized_loops();
  for_each_row(rows, n, [&](int64_t m) {
    loops.requantize(from + m * n, n, added.data(), factors.data(), zero, low, to + m * n);
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

} // namespace at::quantized
