// Numbers one by one to integers of quantized tensors and back, rounded as quantize_per_tensor rounds. `T` is qint8,
// quint8 or qint32.
#pragma once

#include <c10/core/ScalarType.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace at::native {

/// round(value / scale) + zero_point, half to even, within the range of T; NaN becomes its least.
template <typename T>
T quantize_val(double scale, int64_t zero_point, float value) {
  using Integer = typename T::underlying;
  constexpr double kLow = std::numeric_limits<Integer>::min(), kHigh = std::numeric_limits<Integer>::max();
  const float inverse = 1.0f / static_cast<float>(scale);
  const double steps = static_cast<double>(std::nearbyint(value * inverse)) + static_cast<double>(zero_point);
  return T(static_cast<Integer>(steps >= kLow ? std::min(steps, kHigh) : kLow));
}

template <typename T, int precision = 8>
void quantize_vec(double scale, int64_t zero_point, const float* src, T* dst, size_t count = 8) {
  std::transform(src, src + count, dst, [&](float value) { return quantize_val<T>(scale, zero_point, value); });
}

/// (value - zero_point) * scale.
template <typename T>
float dequantize_val(double scale, int64_t zero_point, T value) {
  return (static_cast<float>(value.val_) - static_cast<float>(zero_point)) * static_cast<float>(scale);
}

template <typename T>
float dequantize_vec(double scale, int64_t zero_point, const T* src, float* dst, size_t count = 8) {
  std::transform(src, src + count, dst, [&](T value) { return dequantize_val<T>(scale, zero_point, value); });
  return 0;
}

/// The integer of the same number under another scale and zero point.
template <typename SRC_T, typename DST_T>
DST_T requantize_val(double src_scale, int64_t src_zero_point, double dst_scale, int64_t dst_zero_point, SRC_T src) {
  return quantize_val<DST_T>(dst_scale, dst_zero_point, dequantize_val<SRC_T>(src_scale, src_zero_point, src));
}

/// round(src * multiplier) + zero_point, within the range of DST_T.
template <typename DST_T>
DST_T requantize_from_int(double multiplier, int64_t zero_point, int64_t src) {
  using Integer = typename DST_T::underlying;
  const auto steps = static_cast<int64_t>(std::lrint(static_cast<float>(src) * static_cast<float>(multiplier)));
  return DST_T(static_cast<Integer>(std::clamp<int64_t>(
      steps + zero_point, std::numeric_limits<Integer>::min(), std::numeric_limits<Integer>::max())));
}

/// round(zero_point + value / scale) within [qmin, qmax], for schemes with floating zero points.
inline int quantize_val_float_qparams(float scale, float zero_point, float value, int qmin, int qmax) {
  const float inverse = scale == 0 ? 1.0f : 1.0f / scale;
  const double steps = std::lrint((value - zero_point) * inverse);
  return static_cast<int>(std::clamp<double>(steps, qmin, qmax));
}

} // namespace at::native
