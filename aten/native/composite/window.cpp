// Windows for spectra, written with other operators.
#include <aten/Functions.h>
#include <c10/core/DefaultDtype.h>
#include <c10/util/MathConstants.h>

namespace at::native {
namespace {

using OptDtype = std::optional<ScalarType>;
using OptLayout = std::optional<Layout>;
using OptDevice = std::optional<Device>;
using OptBool = std::optional<bool>;

/// Calls `shape(x, n)` with x = 0, 1, ..., n - 1 and gives its result; windows of at most one element are the same for all.
template <class Shape>
Tensor make_window(
    const char* op, int64_t length, bool periodic, OptDtype dtype, OptLayout layout, OptDevice device, OptBool pin_memory,
    Shape shape) {
  const ScalarType type = dtype.value_or(c10::get_default_dtype_as_scalartype());
  TORCH_CHECK(layout.value_or(kStrided) == kStrided, op, " is not implemented for sparse types, got: ", *layout);
  TORCH_CHECK(c10::isFloatingType(type) || c10::isComplexType(type), op, " expects floating point dtypes, got: ", type);
  TORCH_CHECK(length >= 0, op, " requires non-negative window_length, got window_length=", length);
  TORCH_CHECK(length < INT64_MAX, op, ": window_length=", length, " is too large");
  const auto options = TensorOptions().dtype(type).layout(layout).device(device).pinned_memory(pin_memory);
  if (length <= 1) {
    return at::ones({length}, options);
  }
  const int64_t n = periodic ? length + 1 : length;
  const bool reduced = type == kHalf || type == kBFloat16;
  const Tensor x = at::arange(n, reduced ? options.dtype(kFloat) : options);
  const Tensor window = shape(x, n);
  const Tensor period = periodic ? window.narrow(0, 0, length) : window;
  return reduced ? period.to(type) : period;
}

constexpr double kHammingAlpha = 0.54;
constexpr double kHammingBeta = 0.46;
constexpr double kKaiserBeta = 12.0;

} // namespace

Tensor bartlett_window_periodic(
    int64_t window_length, bool periodic, OptDtype dtype, OptLayout layout, OptDevice device, OptBool pin_memory) {
  return make_window(
      "bartlett_window", window_length, periodic, dtype, layout, device, pin_memory, [](const Tensor& x, int64_t n) {
        Tensor window = x * (2.0 / static_cast<double>(n - 1));
        const int64_t rising = (n - 1) / 2 + 1;
        window.narrow(0, rising, n - rising).mul_(-1).add_(2);
        return window;
      });
}

Tensor bartlett_window(int64_t window_length, OptDtype dtype, OptLayout layout, OptDevice device, OptBool pin_memory) {
  return at::native::bartlett_window_periodic(window_length, true, dtype, layout, device, pin_memory);
}

Tensor blackman_window_periodic(
    int64_t window_length, bool periodic, OptDtype dtype, OptLayout layout, OptDevice device, OptBool pin_memory) {
  return make_window(
      "blackman_window", window_length, periodic, dtype, layout, device, pin_memory, [](const Tensor& x, int64_t n) {
        const Tensor angle = x * (c10::pi<double> / static_cast<double>(n - 1));
        return (angle * 4).cos() * 0.08 - (angle * 2).cos() * 0.5 + 0.42;
      });
}

Tensor blackman_window(int64_t window_length, OptDtype dtype, OptLayout layout, OptDevice device, OptBool pin_memory) {
  return at::native::blackman_window_periodic(window_length, true, dtype, layout, device, pin_memory);
}

Tensor hamming_window_alpha_beta(
    int64_t window_length, bool periodic, double alpha, double beta, OptDtype dtype, OptLayout layout, OptDevice device,
    OptBool pin_memory) {
  return make_window(
      "hamming_window", window_length, periodic, dtype, layout, device, pin_memory, [&](const Tensor& x, int64_t n) {
        return (x * (2 * c10::pi<double> / static_cast<double>(n - 1))).cos() * -beta + alpha;
      });
}

Tensor hamming_window_alpha(
    int64_t window_length, bool periodic, double alpha, OptDtype dtype, OptLayout layout, OptDevice device,
    OptBool pin_memory) {
  return at::native::hamming_window_alpha_beta(
      window_length, periodic, alpha, kHammingBeta, dtype, layout, device, pin_memory);
}

Tensor hamming_window_periodic(
    int64_t window_length, bool periodic, OptDtype dtype, OptLayout layout, OptDevice device, OptBool pin_memory) {
  return at::native::hamming_window_alpha_beta(
      window_length, periodic, kHammingAlpha, kHammingBeta, dtype, layout, device, pin_memory);
}

Tensor hamming_window(int64_t window_length, OptDtype dtype, OptLayout layout, OptDevice device, OptBool pin_memory) {
  return at::native::hamming_window_periodic(window_length, true, dtype, layout, device, pin_memory);
}

Tensor hann_window_periodic(
    int64_t window_length, bool periodic, OptDtype dtype, OptLayout layout, OptDevice device, OptBool pin_memory) {
  return make_window(
      "hann_window", window_length, periodic, dtype, layout, device, pin_memory, [](const Tensor& x, int64_t n) {
        return (x * (2 * c10::pi<double> / static_cast<double>(n - 1))).cos() * -0.5 + 0.5;
      });
}

Tensor hann_window(int64_t window_length, OptDtype dtype, OptLayout layout, OptDevice device, OptBool pin_memory) {
  return at::native::hann_window_periodic(window_length, true, dtype, layout, device, pin_memory);
}

Tensor kaiser_window_beta(
    int64_t window_length, bool periodic, double beta, OptDtype dtype, OptLayout layout, OptDevice device,
    OptBool pin_memory) {
  return make_window(
      "kaiser_window", window_length, periodic, dtype, layout, device, pin_memory, [&](const Tensor& x, int64_t n) {
        const Tensor at_unit = x * (2.0 / static_cast<double>(n - 1)) - 1;
        const Tensor top = at::scalar_tensor(beta, x.options()).i0();
        return ((1 - at_unit.square()).clamp_min(0).sqrt() * beta).i0() / top;
      });
}

Tensor kaiser_window_periodic(
    int64_t window_length, bool periodic, OptDtype dtype, OptLayout layout, OptDevice device, OptBool pin_memory) {
  return at::native::kaiser_window_beta(window_length, periodic, kKaiserBeta, dtype, layout, device, pin_memory);
}

Tensor kaiser_window(int64_t window_length, OptDtype dtype, OptLayout layout, OptDevice device, OptBool pin_memory) {
  return at::native::kaiser_window_periodic(window_length, true, dtype, layout, device, pin_memory);
}

} // namespace at::native
