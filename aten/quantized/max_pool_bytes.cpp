#include <aten/quantized/max_pool_bytes.h>

#include <aten/Functions.h>
#include <aten/parallel/Parallel.h>
#include <aten/quantized/quantized_loops.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace at::quantized {

namespace {

struct PoolAxis {
  int64_t in, kernel, stride, padding, dilation, out;

  bool fits() const {
    return kernel > 0 && dilation > 0 && padding >= 0 && 2 * padding <= kernel && out > 0;
  }
  /// Calls f(index) for what lies below an output and within the image.
  template <class F>
  void for_each_source(int64_t output, const F& f) const {
    for (int64_t k = 0; k < kernel; ++k) {
      const int64_t index = output * stride - padding + k * dilation;
      if (index >= 0 && index < in) {
        f(index);
      }
    }
  }
};

struct PoolOptions {
  IntArrayRef kernel_size, stride, padding, dilation;
  bool ceil_mode;
};

PoolAxis axis_of(const PoolOptions& options, size_t d, int64_t in) {
  const auto at = [&](IntArrayRef a) { return a.size() == 1 ? a[0] : a[d]; };
  const IntArrayRef stride = options.stride.empty() ? options.kernel_size : options.stride;
  PoolAxis axis{in, at(options.kernel_size), at(stride), at(options.padding), at(options.dilation), 0};
  const int64_t reach = axis.dilation * (axis.kernel - 1) + 1, span = in + 2 * axis.padding - reach;
  axis.out = axis.stride > 0 && span >= 0 ? (span + (options.ceil_mode ? axis.stride - 1 : 0)) / axis.stride + 1 : 0;
  if (options.ceil_mode && (axis.out - 1) * axis.stride >= in + axis.padding) {
    --axis.out;
  }
  return axis;
}

/// Rows of the result: first what is largest in each column of the window, which stays in the first-level cache, then
/// along it. Windows that overlap look at each byte once.
class RowPool {
 public:
  RowPool(const PoolAxis& y, const PoolAxis& x, int64_t channels)
      : y_(y), x_(x), channels_(channels), line_(static_cast<size_t>(x.in * channels)) {}

  void run(const uint8_t* image, int64_t row, uint8_t* out) {
    rows_.clear();
    y_.for_each_source(row, [&](int64_t index) { rows_.push_back(image + index * x_.in * channels_); });
    if (rows_.empty()) {
      std::fill_n(out, x_.out * channels_, uint8_t(0)); // nothing but padding, which is less than any number
      return;
    }
    const uint8_t* line = rows_[0];
    if (rows_.size() > 1) {
      native::quantized_loops().max(rows_.data(), static_cast<int64_t>(rows_.size()), x_.in * channels_, line_.data());
      line = line_.data();
    }
    for (int64_t column = 0; column < x_.out; ++column, out += channels_) {
      rows_.clear();
      x_.for_each_source(column, [&](int64_t index) { rows_.push_back(line + index * channels_); });
      if (rows_.empty()) {
        std::fill_n(out, channels_, uint8_t(0));
      } else {
        native::quantized_loops().max(rows_.data(), static_cast<int64_t>(rows_.size()), channels_, out);
      }
    }
  }

 private:
  const PoolAxis &y_, &x_;
  int64_t channels_;
  std::vector<uint8_t> line_;
  std::vector<const uint8_t*> rows_;
};

} // namespace

Tensor max_pool_bytes(
    const Tensor& bytes,
    IntArrayRef kernel_size,
    IntArrayRef stride,
    IntArrayRef padding,
    IntArrayRef dilation,
    bool ceil_mode) {
  const auto has_two = [](IntArrayRef a) { return a.size() == 1 || a.size() == 2; };
  if (bytes.numel() == 0 || !has_two(kernel_size) || !(stride.empty() || has_two(stride)) || !has_two(padding) ||
      !has_two(dilation)) {
    return Tensor();
  }
  const PoolOptions options{kernel_size, stride, padding, dilation, ceil_mode};
  const PoolAxis y = axis_of(options, 0, bytes.size(2)), x = axis_of(options, 1, bytes.size(3));
  if (!y.fits() || !x.fits()) {
    return Tensor();
  }
  const Tensor from = bytes.permute({0, 2, 3, 1}).contiguous();
  const int64_t channels = from.size(3);
  const Tensor to = at::empty({bytes.size(0), y.out, x.out, channels}, kByte);
  const uint8_t* const in = from.const_data_ptr<uint8_t>();
  uint8_t* const out = to.mutable_data_ptr<uint8_t>();
  const int64_t grain = 1 + (1 << 15) / (x.out * channels + 1);
  at::parallel_for(0, bytes.size(0) * y.out, grain, [&](int64_t begin, int64_t end) {
    RowPool pool(y, x, channels);
    for (int64_t row = begin; row < end; ++row) {
      pool.run(in + row / y.out * y.in * x.in * channels, row % y.out, out + row * x.out * channels);
    }
  });
  return to.permute({0, 3, 1, 2});
}

} // namespace at::quantized
