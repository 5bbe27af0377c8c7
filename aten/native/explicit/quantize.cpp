// Quantized tensors from numbers, and back.
#include <aten/Functions.h>
#include <aten/core/TensorOperators.h>
#include <aten/parallel/Parallel.h>
#include <aten/quantized/QTensorImpl.h>
#include <aten/quantized/quantized_loops.h>
#include <c10/util/Exception.h>

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace at::native {
namespace {

void check_quantizable(const char* op, const Tensor& self) {
  TORCH_CHECK(self.is_cpu(), op, " is implemented for tensors on the CPU, got one on ", self.device());
  TORCH_CHECK(self.scalar_type() == kFloat, op, " only works on Float Tensor, got ", self.scalar_type());
}

template <class F>
void with_integers(ScalarType dtype, const F& f) {
  switch (dtype) {
    case kQInt8:
      return f(int8_t());
    case kQUInt8:
      return f(uint8_t());
    default:
      return f(int32_t());
  }
}

template <class T>
T to_integer(float x, float inverse, int64_t zero_point) {
  constexpr double kLow = std::numeric_limits<T>::min(), kHigh = std::numeric_limits<T>::max();
  const double value = static_cast<double>(std::nearbyint(x * inverse)) + static_cast<double>(zero_point);
  // NaN becomes the lowest.
  return static_cast<T>(value >= kLow ? std::min(value, kHigh) : kLow);
}

/// Calls f(element, index of the channel) for all elements of a contiguous tensor.
template <class F>
void for_each_channel(const Tensor& t, int64_t axis, const F& f) {
  const int64_t channels = t.size(axis), inner = c10::multiply_integers(t.sizes().slice(static_cast<size_t>(axis) + 1));
  at::parallel_for(0, t.numel(), at::internal::GRAIN_SIZE, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      f(i, i / inner % channels);
    }
  });
}

/// Channels-last where `like` is, as it was.
Tensor in_format_of(const Tensor& like, const Tensor& t) {
  return t.contiguous(like.suggest_memory_format());
}

/// Memory as self's, where that is dense.
Tensor integers_like(const Tensor& self, ScalarType dtype) {
  return at::empty_like(self, self.options().dtype(c10::toUnderlying(dtype)));
}

Tensor quantized_as(const Tensor& self, QuantizerPtr quantizer) {
  const Tensor x = self.is_non_overlapping_and_dense() ? self : self.contiguous();
  const Tensor integers = integers_like(x, quantizer->dtype);
  const float* from = x.const_data_ptr<float>();
  const float inverse = 1.0f / static_cast<float>(quantizer->scale);
  const int64_t zero_point = quantizer->zero_point;
  if (quantizer->dtype != kQInt32) {
    const bool is_signed = quantizer->dtype == kQInt8;
    auto* const bytes = static_cast<uint8_t*>(integers.mutable_data_ptr());
    at::parallel_for(0, x.numel(), at::internal::GRAIN_SIZE, [&](int64_t begin, int64_t end) {
      quantized_loops().quantize(
          from + begin, end - begin, inverse, static_cast<float>(zero_point), is_signed, bytes + begin);
    });
    return make_quantized(integers, std::move(quantizer));
  }
  with_integers(quantizer->dtype, [&]<class T>(T) {
    T* to = integers.mutable_data_ptr<T>();
    at::parallel_for(0, x.numel(), at::internal::GRAIN_SIZE, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        to[i] = to_integer<T>(from[i], inverse, zero_point);
      }
    });
  });
  return make_quantized(integers, std::move(quantizer));
}

/// Two integers from 0 to 15 in each byte.
Tensor packed_in_halves(const Tensor& codes) {
  const int64_t count = codes.numel();
  const Tensor bytes = at::empty({(count + 1) / 2}, codes.options());
  const uint8_t* from = codes.const_data_ptr<uint8_t>();
  uint8_t* to = bytes.mutable_data_ptr<uint8_t>();
  for (int64_t i = 0; i < count; ++i) {
    const int code = std::min<int>(from[i], 15);
    to[i / 2] = static_cast<uint8_t>(i % 2 == 0 ? code : to[i / 2] | code << 4);
  }
  return bytes;
}

Tensor from_halves(const Tensor& bytes, IntArrayRef sizes) {
  const Tensor codes = at::empty(sizes, bytes.options());
  const uint8_t* from = bytes.const_data_ptr<uint8_t>();
  uint8_t* to = codes.mutable_data_ptr<uint8_t>();
  for (int64_t i = 0; i < codes.numel(); ++i) {
    to[i] = static_cast<uint8_t>(from[i / 2] >> (i % 2 * 4) & 15);
  }
  return codes;
}

Tensor quantized_by_channel(const Tensor& self, QuantizerPtr quantizer) {
  const Tensor x = self.contiguous();
  if (quantizer->is_packed()) {
    const QuantizerPtr bytes =
        Quantizer::per_channel(quantizer->scales, quantizer->zero_points, quantizer->axis, kQUInt8);
    return make_quantized_packed(
        packed_in_halves(integers_of(quantized_by_channel(x, bytes))), x.sizes(), std::move(quantizer));
  }
  const Tensor integers = at::empty(x.sizes(), x.options().dtype(c10::toUnderlying(quantizer->dtype)));
  make_quantized(integers, quantizer); // checks the number of channels
  const float* from = x.const_data_ptr<float>();
  const Tensor scales = quantizer->scales.to(kFloat), zeros = quantizer->zero_points.to(kDouble);
  const float* scale = scales.const_data_ptr<float>();
  const double* zero = zeros.const_data_ptr<double>();
  const bool floating = quantizer->scheme == c10::kPerChannelAffineFloatQParams;
  with_integers(quantizer->dtype, [&]<class T>(T) {
    T* to = integers.mutable_data_ptr<T>();
    for_each_channel(x, quantizer->axis, [&](int64_t i, int64_t c) {
      // With floating zero points they are added before rounding.
      to[i] = floating ? to_integer<T>(from[i] * (1.0f / scale[c]) + static_cast<float>(zero[c]), 1.0f, 0)
                       : to_integer<T>(from[i], 1.0f / scale[c], static_cast<int64_t>(zero[c]));
    });
  });
  return make_quantized(in_format_of(self, integers), std::move(quantizer));
}

/// Scale and zero point for numbers from `least` <= 0 to `most` >= 0 in integers from `low` to `high`.
std::pair<double, int64_t> range_parameters(float least, float most, int64_t low, int64_t high) {
  constexpr float kLeastScale = 6.1e-5f; // below it, half precision has no reciprocal
  const double steps = static_cast<double>(high - low);
  double scale = (static_cast<double>(most) - least) / steps;
  if (static_cast<float>(scale) == 0.0f || std::isinf(1.0f / static_cast<float>(scale))) {
    scale = 0.1;
  }
  if (scale < kLeastScale) {
    const float grown = kLeastScale / static_cast<float>(scale);
    least *= grown;
    most *= grown;
    scale = kLeastScale;
  }
  // The zero point that errs least at the ends of the range, rounded so that 0 is exact.
  const double first = static_cast<double>(low), last = static_cast<double>(high);
  const double low_error = std::abs(first) - std::abs(least / scale),
               high_error = std::abs(last) - std::abs(most / scale);
  const double best = low_error < high_error ? first - least / scale : last - most / scale;
  return {scale, static_cast<int64_t>(std::nearbyint(std::min(std::max(best, first), last)))};
}

} // namespace

Tensor quantize_per_tensor(const Tensor& self, double scale, int64_t zero_point, ScalarType dtype) {
  check_quantizable("quantize_per_tensor", self);
  return quantized_as(self, Quantizer::per_tensor(scale, zero_point, dtype));
}

Tensor quantize_per_tensor_tensor_qparams(
    const Tensor& self, const Tensor& scale, const Tensor& zero_point, ScalarType dtype) {
  return native::quantize_per_tensor(self, scale.item<double>(), zero_point.item<int64_t>(), dtype);
}

std::vector<Tensor> quantize_per_tensor_list(
    TensorList tensors, const Tensor& scales, const Tensor& zero_points, ScalarType dtype) {
  const auto count = static_cast<int64_t>(tensors.size());
  TORCH_CHECK(
      scales.numel() == count && zero_points.numel() == count, "quantize_per_tensor: ", count,
      " tensors take as many scales and zero points, got ", scales.numel(), " and ", zero_points.numel());
  std::vector<Tensor> result;
  result.reserve(tensors.size());
  for (int64_t i = 0; i < count; ++i) {
    result.push_back(native::quantize_per_tensor(
        tensors[static_cast<size_t>(i)], scales[i].item<double>(), zero_points[i].item<int64_t>(), dtype));
  }
  return result;
}

Tensor quantize_per_tensor_dynamic(const Tensor& self, ScalarType dtype, bool reduce_range) {
  TORCH_CHECK(
      dtype == kQInt8 || dtype == kQUInt8, "dtype ", dtype,
      "not supported: quantize_per_tensor_dynamic takes qint8 and quint8");
  check_quantizable("quantize_per_tensor_dynamic", self);
  const int64_t low = dtype == kQInt8 ? (reduce_range ? -64 : -128) : 0;
  const int64_t high = dtype == kQInt8 ? (reduce_range ? 63 : 127) : (reduce_range ? 127 : 255);
  float least = 0, most = 0;
  if (self.numel() > 0) {
    const auto [a, b] = at::aminmax(self);
    least = std::min(0.0f, a.item<float>());
    most = std::max(0.0f, b.item<float>());
  }
  TORCH_CHECK(
      std::isfinite(least) && std::isfinite(most), "quantize_per_tensor_dynamic: elements must be finite, got ", least,
      " to ", most);
  const auto [scale, zero_point] = range_parameters(least, most, low, high);
  return native::quantize_per_tensor(self, scale, zero_point, dtype);
}

Tensor quantize_per_channel(
    const Tensor& self, const Tensor& scales, const Tensor& zero_points, int64_t axis, ScalarType dtype) {
  check_quantizable("quantize_per_channel", self);
  return quantized_by_channel(self, Quantizer::per_channel(scales, zero_points, axis, dtype));
}

Tensor _make_per_tensor_quantized_tensor(const Tensor& self, double scale, int64_t zero_point) {
  return make_quantized(self.clone(), Quantizer::per_tensor(scale, zero_point, c10::toQIntType(self.scalar_type())));
}

Tensor _make_per_channel_quantized_tensor(
    const Tensor& self, const Tensor& scale, const Tensor& zero_point, int64_t axis) {
  return make_quantized(
      self.clone(), Quantizer::per_channel(scale, zero_point, axis, c10::toQIntType(self.scalar_type())));
}

Tensor int_repr(const Tensor& self) {
  return integers_of(self).clone();
}

double q_scale(const Tensor& self) {
  const QuantizerPtr& q = get_quantizer(self);
  TORCH_CHECK(
      !q->is_per_channel(),
      "Expected quantizer->qscheme() == kPerTensorAffine: q_scale takes a tensor with one scale; see "
      "q_per_channel_scales");
  return q->scale;
}

int64_t q_zero_point(const Tensor& self) {
  const QuantizerPtr& q = get_quantizer(self);
  TORCH_CHECK(
      !q->is_per_channel(),
      "Expected quantizer->qscheme() == kPerTensorAffine: q_zero_point takes a tensor with one zero point; see "
      "q_per_channel_zero_points");
  return q->zero_point;
}

Tensor q_per_channel_scales(const Tensor& self) {
  const QuantizerPtr& q = get_quantizer(self);
  TORCH_CHECK(
      q->is_per_channel(),
      "Expected quantizer->qscheme() == kPerChannelAffine: q_per_channel_scales takes a tensor with a scale for each "
      "channel");
  return q->scales.clone();
}

Tensor q_per_channel_zero_points(const Tensor& self) {
  const QuantizerPtr& q = get_quantizer(self);
  TORCH_CHECK(
      q->is_per_channel(),
      "Expected quantizer->qscheme() == kPerChannelAffine: q_per_channel_zero_points takes a tensor with a zero point "
      "for each channel");
  return q->zero_points.clone();
}

int64_t q_per_channel_axis(const Tensor& self) {
  const QuantizerPtr& q = get_quantizer(self);
  TORCH_CHECK(
      q->is_per_channel(),
      "Expected quantizer->qscheme() == kPerChannelAffine: q_per_channel_axis takes a tensor with a scale for each "
      "channel");
  return q->axis;
}

QScheme qscheme(const Tensor& self) {
  return get_quantizer(self)->scheme;
}

Tensor dequantize_quantized(const Tensor& self) {
  const QuantizerPtr& q = get_quantizer(self);
  const Tensor integers = q->is_packed() ? from_halves(integers_of(self), self.sizes()) : integers_of(self);
  if (!q->is_per_channel() && q->dtype != kQInt32) {
    const Tensor x = integers.is_non_overlapping_and_dense() ? integers : integers.contiguous();
    const Tensor out = at::empty_like(x, x.options().dtype(kFloat));
    const auto* from = static_cast<const uint8_t*>(x.const_data_ptr());
    float* const to = out.mutable_data_ptr<float>();
    at::parallel_for(0, x.numel(), at::internal::GRAIN_SIZE, [&](int64_t begin, int64_t end) {
      quantized_loops().dequantize(
          from + begin, end - begin, static_cast<float>(q->scale), static_cast<float>(q->zero_point),
          q->dtype == kQInt8, to + begin);
    });
    return out;
  }
  if (!q->is_per_channel()) {
    return (integers.to(kFloat) - static_cast<double>(q->zero_point)) *
        static_cast<double>(static_cast<float>(q->scale));
  }
  DimVector sizes(static_cast<size_t>(self.dim()), 1);
  sizes[static_cast<size_t>(q->axis)] = self.size(q->axis);
  return (integers.to(kFloat) - q->zero_points.to(kFloat).view(sizes)) * q->scales.to(kFloat).view(sizes);
}

} // namespace at::native
