// How many windows a pooling has.
#pragma once

#include <c10/util/Exception.h>
#include <c10/util/TypeCast.h>
#include <c10/util/safe_numerics.h>

#include <cstdint>
#include <utility>

namespace at::native {

/// To a narrower integer; throws where it does not hold the value.
template <class To, class From>
To safe_downcast(From value) {
  return c10::checked_convert<To>(value, "safe_downcast");
}

/// Windows of `kernel` elements, `dilation` apart, that begin each `stride` elements over a dimension with padding.
/// With `ceil_mode` the last may reach beyond the end, but must begin before the padding behind it.
template <class T>
T pooling_output_shape_pad_lr(T input, T kernel, T pad_left, T pad_right, T stride, T dilation, bool ceil_mode) {
  const T room = input + pad_left + pad_right - dilation * (kernel - 1) - 1 + (ceil_mode ? stride - 1 : 0);
  T output = room / stride + 1;
  if (room % stride != 0 && (room < 0) != (stride < 0)) {
    --output; // rounded down, also below 0
  }
  if (ceil_mode && (output - 1) * stride >= input + pad_left) {
    --output;
  }
  return output;
}

/// The same with equal padding on both sides, of at most half a window.
template <class T>
T pooling_output_shape(T input, T kernel, T pad, T stride, T dilation, bool ceil_mode) {
  TORCH_CHECK(stride != 0, "stride should not be zero");
  TORCH_CHECK(pad >= 0, "pad must be non-negative, but got pad: ", pad);
  T extent = 0;
  const bool overflows =
      c10::mul_overflows(static_cast<T>(kernel - 1), dilation, &extent) || c10::add_overflows(extent, T(1), &extent);
  TORCH_CHECK(!overflows, "effective kernel size overflows, but got kernel_size=", kernel, " and dilation=", dilation);
  TORCH_CHECK(
      pad <= extent / 2, "pad should be at most half of effective kernel size, but got pad=", pad,
      ", kernel_size=", kernel, " and dilation=", dilation);
  return pooling_output_shape_pad_lr(input, kernel, pad, pad, stride, dilation, ceil_mode);
}

/// Padding, left and right, with which there are ceil(input / stride) windows.
inline std::pair<int64_t, int64_t> pooling_same_mode_padding_lr(
    int64_t input, int64_t kernel, int64_t stride, int64_t dilation) {
  int64_t total = dilation * (kernel - 1);
  if (stride > 2 && total % 2 == 1 && input % stride > 1) {
    --total; // even, where the last step leaves room for it
  }
  return {total / 2, total - total / 2};
}

} // namespace at::native
