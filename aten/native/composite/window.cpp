// Window functions: each is a curve over [0, 1] that is sampled evenly.
#include <aten/Functions.h>
#include <aten/core/Formatting.h>
#include <aten/native/support/OutArgument.h>

#include <cmath>
#include <functional>
#include <numbers>

namespace at::native {
namespace {

using OptDtype = std::optional<ScalarType>;
using OptLayout = std::optional<Layout>;
using OptDevice = std::optional<Device>;
using OptBool = std::optional<bool>;
using Curve = std::function<double(double)>;

struct Window {
  const char* op;
  int64_t length;
  bool periodic;
  Curve curve;
};

struct Options {
  OptDtype dtype;
  OptLayout layout;
  OptDevice device;
  OptBool pin_memory;
};

void check(const Window& window, const TensorOptions& options) {
  TORCH_CHECK(
      c10::isFloatingType(c10::typeMetaToScalarType(options.dtype())), window.op,
      " expects floating point dtypes, got: ", options);
  TORCH_CHECK(window.length >= 0, window.op, " requires non-negative window_length, got window_length=", window.length);
}

/// The values in double, on the CPU.
Tensor sample(const Window& window) {
  const Tensor values = at::empty({window.length}, kDouble);
  double* to = values.mutable_data_ptr<double>();
  const auto last = static_cast<double>(window.periodic ? window.length : window.length - 1);
  for (int64_t i = 0; i < window.length; ++i) {
    to[i] = window.length == 1 ? 1.0 : window.curve(static_cast<double>(i) / last);
  }
  return values;
}

Tensor make(const Window& window, const Options& options) {
  check(
      window,
      TensorOptions()
          .dtype(options.dtype)
          .layout(options.layout)
          .device(options.device)
          .pinned_memory(options.pin_memory));
  const Tensor result =
      at::empty({window.length}, options.dtype, options.layout, options.device, options.pin_memory, std::nullopt);
  return result.is_meta() ? result : result.copy_(sample(window));
}

Tensor& fill(const Window& window, Tensor& out) {
  check(window, out.options());
  resize_output(out, {window.length});
  return out.is_meta() ? out : out.copy_(sample(window));
}

double bartlett(double x) {
  return x <= 0.5 ? 2 * x : 2 - 2 * x;
}

double blackman(double x) {
  const double angle = 2 * std::numbers::pi * x;
  // In this order the ends are 0 and not -1.4e-17, which would be printed.
  return 0.08 * std::cos(2 * angle) - 0.5 * std::cos(angle) + 0.42;
}

Curve raised_cosine(double alpha, double beta) {
  return [=](double x) { return alpha - beta * std::cos(2 * std::numbers::pi * x); };
}

Curve kaiser(double beta) {
  // The library's function throws where the value would overflow, at 709 and above.
  const auto i0 = [](double x) { return x < 700 ? std::cyl_bessel_i(0.0, x) : x >= 700 ? HUGE_VAL : x; };
  const double top = i0(std::abs(beta));
  return [=](double x) {
    const double y = 2 * x - 1;
    return i0(std::abs(beta) * std::sqrt(std::max(0.0, 1 - y * y))) / top;
  };
}

} // namespace

Tensor bartlett_window(int64_t window_length, OptDtype dtype, OptLayout layout, OptDevice device, OptBool pin_memory) {
  return make({"bartlett_window", window_length, true, bartlett}, {dtype, layout, device, pin_memory});
}
Tensor& bartlett_window_out(int64_t window_length, Tensor& out) {
  return fill({"bartlett_window", window_length, true, bartlett}, out);
}

Tensor bartlett_window_periodic(
    int64_t window_length, bool periodic, OptDtype dtype, OptLayout layout, OptDevice device, OptBool pin_memory) {
  return make({"bartlett_window", window_length, periodic, bartlett}, {dtype, layout, device, pin_memory});
}
Tensor& bartlett_window_periodic_out(int64_t window_length, bool periodic, Tensor& out) {
  return fill({"bartlett_window", window_length, periodic, bartlett}, out);
}

Tensor blackman_window(int64_t window_length, OptDtype dtype, OptLayout layout, OptDevice device, OptBool pin_memory) {
  return make({"blackman_window", window_length, true, blackman}, {dtype, layout, device, pin_memory});
}
Tensor& blackman_window_out(int64_t window_length, Tensor& out) {
  return fill({"blackman_window", window_length, true, blackman}, out);
}

Tensor blackman_window_periodic(
    int64_t window_length, bool periodic, OptDtype dtype, OptLayout layout, OptDevice device, OptBool pin_memory) {
  return make({"blackman_window", window_length, periodic, blackman}, {dtype, layout, device, pin_memory});
}
Tensor& blackman_window_periodic_out(int64_t window_length, bool periodic, Tensor& out) {
  return fill({"blackman_window", window_length, periodic, blackman}, out);
}

Tensor hann_window(int64_t window_length, OptDtype dtype, OptLayout layout, OptDevice device, OptBool pin_memory) {
  return make({"hann_window", window_length, true, raised_cosine(0.5, 0.5)}, {dtype, layout, device, pin_memory});
}
Tensor& hann_window_out(int64_t window_length, Tensor& out) {
  return fill({"hann_window", window_length, true, raised_cosine(0.5, 0.5)}, out);
}

Tensor hann_window_periodic(
    int64_t window_length, bool periodic, OptDtype dtype, OptLayout layout, OptDevice device, OptBool pin_memory) {
  return make({"hann_window", window_length, periodic, raised_cosine(0.5, 0.5)}, {dtype, layout, device, pin_memory});
}
Tensor& hann_window_periodic_out(int64_t window_length, bool periodic, Tensor& out) {
  return fill({"hann_window", window_length, periodic, raised_cosine(0.5, 0.5)}, out);
}

Tensor hamming_window(int64_t window_length, OptDtype dtype, OptLayout layout, OptDevice device, OptBool pin_memory) {
  return make({"hamming_window", window_length, true, raised_cosine(0.54, 0.46)}, {dtype, layout, device, pin_memory});
}
Tensor& hamming_window_out(int64_t window_length, Tensor& out) {
  return fill({"hamming_window", window_length, true, raised_cosine(0.54, 0.46)}, out);
}

Tensor hamming_window_periodic(
    int64_t window_length, bool periodic, OptDtype dtype, OptLayout layout, OptDevice device, OptBool pin_memory) {
  return make(
      {"hamming_window", window_length, periodic, raised_cosine(0.54, 0.46)}, {dtype, layout, device, pin_memory});
}
Tensor& hamming_window_periodic_out(int64_t window_length, bool periodic, Tensor& out) {
  return fill({"hamming_window", window_length, periodic, raised_cosine(0.54, 0.46)}, out);
}

Tensor hamming_window_periodic_alpha(
    int64_t window_length,
    bool periodic,
    double alpha,
    OptDtype dtype,
    OptLayout layout,
    OptDevice device,
    OptBool pin_memory) {
  return make(
      {"hamming_window", window_length, periodic, raised_cosine(alpha, 0.46)}, {dtype, layout, device, pin_memory});
}
Tensor& hamming_window_periodic_alpha_out(int64_t window_length, bool periodic, double alpha, Tensor& out) {
  return fill({"hamming_window", window_length, periodic, raised_cosine(alpha, 0.46)}, out);
}

Tensor hamming_window_periodic_alpha_beta(
    int64_t window_length,
    bool periodic,
    double alpha,
    double beta,
    OptDtype dtype,
    OptLayout layout,
    OptDevice device,
    OptBool pin_memory) {
  return make(
      {"hamming_window", window_length, periodic, raised_cosine(alpha, beta)}, {dtype, layout, device, pin_memory});
}
Tensor& hamming_window_periodic_alpha_beta_out(
    int64_t window_length, bool periodic, double alpha, double beta, Tensor& out) {
  return fill({"hamming_window", window_length, periodic, raised_cosine(alpha, beta)}, out);
}

Tensor kaiser_window(int64_t window_length, OptDtype dtype, OptLayout layout, OptDevice device, OptBool pin_memory) {
  return make({"kaiser_window", window_length, true, kaiser(12.0)}, {dtype, layout, device, pin_memory});
}
Tensor& kaiser_window_out(int64_t window_length, Tensor& out) {
  return fill({"kaiser_window", window_length, true, kaiser(12.0)}, out);
}

Tensor kaiser_window_periodic(
    int64_t window_length, bool periodic, OptDtype dtype, OptLayout layout, OptDevice device, OptBool pin_memory) {
  return make({"kaiser_window", window_length, periodic, kaiser(12.0)}, {dtype, layout, device, pin_memory});
}
Tensor& kaiser_window_periodic_out(int64_t window_length, bool periodic, Tensor& out) {
  return fill({"kaiser_window", window_length, periodic, kaiser(12.0)}, out);
}

Tensor kaiser_window_beta(
    int64_t window_length,
    bool periodic,
    double beta,
    OptDtype dtype,
    OptLayout layout,
    OptDevice device,
    OptBool pin_memory) {
  return make({"kaiser_window", window_length, periodic, kaiser(beta)}, {dtype, layout, device, pin_memory});
}
Tensor& kaiser_window_beta_out(int64_t window_length, bool periodic, double beta, Tensor& out) {
  return fill({"kaiser_window", window_length, periodic, kaiser(beta)}, out);
}

} // namespace at::native
