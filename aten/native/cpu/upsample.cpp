// Resizing images. Along each dimension an element of the result is a weighted sum of a few elements, its taps; in a
// plain layout rows are resized once and then blended, in a channels-last layout all channels of a pixel are blended at
// once. The taps are in upsample_taps.h, images of bytes in upsample_bytes.h.

#include <aten/core/Tensor.h>
#include <aten/core/TensorSpec.h>
#include <aten/core/dtype_dispatch.h>
#include <aten/native/cpu/row_lanes.h>
#include <aten/native/cpu/upsample_bytes.h>
#include <aten/native/cpu/upsample_taps.h>
#include <aten/parallel/Parallel.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace at::native {
inline namespace CPU_CAPABILITY {
namespace {

constexpr int64_t kGrain = 16384;

// ---- forward
// -----------------------------------------------------------------------------------------------------------

/// What sums are rounded to.
template <class T, class R>
T rounded(R value) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(std::clamp(std::nearbyint(value), R(0), R(255)));
  } else {
    return static_cast<T>(value);
  }
}

template <class T>
using Sum = std::conditional_t<std::is_integral_v<T>, float, at::opmath_type<T>>;

template <int Width, class T, class R>
void resize_row_of(const T* x, const Taps<R>& taps, R* to) {
  const int64_t* index = taps.index.data();
  const R* weight = taps.weight.data();
  for (int64_t o = 0; o < taps.out; ++o) {
    R sum = 0;
    for (int64_t k = 0; k < Width; ++k) {
      sum += weight[o * Width + k] * static_cast<R>(x[index[o * Width + k]]);
    }
    to[o] = sum;
  }
}

template <class T, class R>
void resize_row(const T* x, const Taps<R>& taps, R* to) {
  if (taps.is_uniform()) {
    if (taps.width == 1) {
      return resize_row_of<1>(x, taps, to);
    }
    if (taps.width == 2) {
      return resize_row_of<2>(x, taps, to);
    }
    if (taps.width == 4) {
      return resize_row_of<4>(x, taps, to);
    }
  }
  for (int64_t o = 0; o < taps.out; ++o) {
    R sum = 0;
    for (int64_t k = o * taps.width; k < o * taps.width + taps.count[o]; ++k) {
      sum += taps.weight[k] * static_cast<R>(x[taps.index[k]]);
    }
    to[o] = sum;
  }
}

/// sum += weight * row, or sum = weight * row.
template <class T, class R>
void add_scaled(R* sum, const T* row, R weight, int64_t n, bool first) {
  if constexpr (std::is_integral_v<T>) {
    for (int64_t i = 0; i < n; ++i) {
      sum[i] = (first ? R(0) : sum[i]) + weight * static_cast<R>(row[i]);
    }
  } else {
    using V = typename Lanes<T>::V;
    const V w(weight);
    for_lanes<T>(n, [&](int64_t i, auto run) {
      const V v = load_run(row + i, run) * w;
      store_run<R>(first ? v : load_run<R>(sum + i, run) + v, sum + i, run);
    });
  }
}

template <class T, class R>
void store_row(const R* row, T* to, int64_t n) {
  if constexpr (std::is_integral_v<T>) {
    for (int64_t i = 0; i < n; ++i) {
      to[i] = rounded<T>(row[i]);
    }
  } else {
    for_lanes<T>(n, [&](int64_t i, auto run) { store_run<T>(load_run<R>(row + i, run), to + i, run); });
  }
}

/// Rows of one plane resized along the width, each when it is first asked for.
template <class T, class R>
class ResizedRows {
 public:
  explicit ResizedRows(const Resize<R>& r)
      : r_(r),
        slots_(std::clamp<int64_t>((1 << 18) / r.dim[2].out, 8, std::max<int64_t>(8, r.dim[0].in * r.dim[1].in))),
        held_(slots_),
        rows_(slots_ * r.dim[2].out) {}

  void begin(const T* plane) {
    plane_ = plane;
    std::fill(held_.begin(), held_.end(), int64_t(-1));
  }
  const R* row(int64_t number) {
    const int64_t slot = number % slots_;
    R* to = rows_.data() + slot * r_.dim[2].out;
    if (held_[slot] == number) {
      return to;
    }
    held_[slot] = number;
    const T* from = plane_ + number * r_.dim[2].in;
    resize_row(from, r_.dim[2], to);
    return to;
  }

 private:
  const Resize<R>& r_;
  const int64_t slots_;
  std::vector<int64_t> held_;
  std::vector<R> rows_;
  const T* plane_ = nullptr;
};

template <class T, class R>
void resize_planes(const T* x, T* y, const Resize<R>& r) {
  const int64_t width = r.dim[2].out, grain = std::max<int64_t>(1, kGrain / (r.in_size() + r.out_size()));
  // With fewer rows in the result than in the source, rows are blended first and the blend alone is resized.
  const bool blend_first = r.dim[0].out * r.dim[1].out < r.dim[0].in * r.dim[1].in;
  at::parallel_for(0, r.batch * r.channels, grain, [&](int64_t begin, int64_t end) {
    ResizedRows<T, R> rows(r);
    std::vector<R> blend(blend_first ? r.dim[2].in : width), resized(blend_first ? width : 0);
    for (int64_t plane = begin; plane < end; ++plane) {
      const T* in = x + plane * r.in_size();
      rows.begin(in);
      T* out = y + plane * r.out_size();
      for (int64_t d = 0; d < r.dim[0].out; ++d) {
        for (int64_t h = 0; h < r.dim[1].out; ++h, out += width) {
          bool first = true;
          r.for_rows(d, h, [&](int64_t row, R weight) {
            if (blend_first) {
              add_scaled(blend.data(), in + row * r.dim[2].in, weight, r.dim[2].in, first);
            } else {
              add_scaled(blend.data(), rows.row(row), weight, width, first);
            }
            first = false;
          });
          if (first) {
            std::fill(blend.begin(), blend.end(), R(0));
          }
          if (blend_first) {
            resize_row(blend.data(), r.dim[2], resized.data());
          }
          store_row(blend_first ? resized.data() : blend.data(), out, width);
        }
      }
    }
  });
}

template <class T, class R>
void resize_channels_last(const T* x, T* y, const Resize<R>& r) {
  const int64_t channels = r.channels, width = r.dim[2].out, lines = r.dim[0].out * r.dim[1].out;
  const Taps<R>& columns = r.dim[2];
  at::parallel_for(
      0, r.batch * lines, std::max<int64_t>(1, kGrain / (8 * std::max<int64_t>(1, channels * width))),
      [&](int64_t begin, int64_t end) {
        // The taps of a pixel: first element of another pixel, weight.
        std::vector<std::pair<int64_t, R>> rows, taps;
        for (int64_t line = begin; line < end; ++line) {
          const T* image = x + line / lines * r.in_size() * channels;
          rows.clear();
          r.for_rows(line % lines / r.dim[1].out, line % r.dim[1].out, [&](int64_t row, R weight) {
            rows.emplace_back(row * columns.in, weight);
          });
          T* out = y + line * width * channels;
          for (int64_t o = 0; o < width; ++o, out += channels) {
            taps.clear();
            for (const auto& [row, weight] : rows) {
              for (int64_t k = o * columns.width; k < o * columns.width + columns.count[o]; ++k) {
                taps.emplace_back((row + columns.index[k]) * channels, weight * columns.weight[k]);
              }
            }
            if constexpr (std::is_integral_v<T>) {
              for (int64_t c = 0; c < channels; ++c) {
                R sum = 0;
                for (const auto& [at, weight] : taps) {
                  sum += weight * static_cast<R>(image[at + c]);
                }
                out[c] = rounded<T>(sum);
              }
            } else {
              using V = typename Lanes<T>::V;
              for_lanes<T>(channels, [&](int64_t c, auto run) {
                V sum(R(0));
                for (const auto& [at, weight] : taps) {
                  sum += load_run(image + at + c, run) * V(weight);
                }
                store_run<T>(sum, out + c, run);
              });
            }
          }
        }
      });
}

/// Nearest elements are copied, of any type.
template <class T>
void copy_nearest(const T* x, T* y, const Resize<float>& r, bool channels_last) {
  const int64_t inner = channels_last ? r.channels : 1, planes = channels_last ? r.batch : r.batch * r.channels;
  const Taps<float>& columns = r.dim[2];
  const int64_t width = columns.out * inner, rows = r.dim[0].out * r.dim[1].out;
  at::parallel_for(
      0, planes * rows, std::max<int64_t>(1, kGrain / std::max<int64_t>(1, width)), [&](int64_t begin, int64_t end) {
        const T* previous = nullptr;
        for (int64_t i = begin; i < end; ++i) {
          const int64_t row = i % rows;
          const int64_t line = r.dim[0].index[row / r.dim[1].out] * r.dim[1].in + r.dim[1].index[row % r.dim[1].out];
          const T* from = x + (i / rows * r.in_size() + line * columns.in) * inner;
          T* to = y + i * width;
          if (from == previous) {
            std::copy(to - width, to, to);
          } else if (inner == 1) {
            for (int64_t o = 0; o < columns.out; ++o) {
              to[o] = from[columns.index[o]];
            }
          } else {
            for (int64_t o = 0; o < columns.out; ++o) {
              std::copy(from + columns.index[o] * inner, from + (columns.index[o] + 1) * inner, to + o * inner);
            }
          }
          previous = from;
        }
      });
}

/// `wanted`, or where it has another layout or dtype a tensor that has them.
Tensor writable(const TensorBase& wanted, c10::MemoryFormat format, c10::ScalarType dtype) {
  if (wanted.scalar_type() == dtype && wanted.is_contiguous(format)) {
    return Tensor(wanted);
  }
  TensorSpec spec = TensorSpec::like(wanted, wanted.sizes(), dtype);
  spec.memory_format = format;
  return at::empty_spec(spec);
}

void finish(const Tensor& written, const TensorBase& wanted) {
  if (!written.is_same(Tensor(wanted))) {
    Tensor(wanted).copy_(written);
  }
}

void resize(
    const char* op,
    Mode mode,
    const TensorBase& self,
    bool align_corners,
    std::initializer_list<std::optional<double>> scales,
    const TensorBase& out) {
  if (out.numel() == 0) {
    return;
  }
  const auto format = self.suggest_memory_format();
  const bool channels_last = format != c10::MemoryFormat::Contiguous;
  const TensorBase x = self.contiguous(format);
  const Tensor y = writable(out, format, out.scalar_type());
  dispatch(op, self.scalar_type(), kFloating | dtype_set<c10::ScalarType::Byte>, [&]<class T> {
    const T* from = x.const_data_ptr<T>();
    T* to = y.mutable_data_ptr<T>();
    if (is_nearest(mode)) {
      const bool by_scale = mode == Mode::Nearest && scales.size() != 2 && !(channels_last && self.size(1) > 3);
      return copy_nearest(
          from, to, Resize<float>(by_scale ? Mode::NearestByScale : mode, x, y, align_corners, scales), channels_last);
    }
    if constexpr (std::is_same_v<T, uint8_t>) {
      if (scales.size() == 2) {
        return resize_bytes(from, to, Resize<double>(mode, x, y, align_corners, scales), channels_last);
      }
    }
    const Resize<Sum<T>> r(mode, x, y, align_corners, scales);
    if (channels_last) {
      resize_channels_last(from, to, r);
    } else {
      resize_planes(from, to, r);
    }
  });
  finish(y, out);
}

// ---- backward
// ------------------------------------------------------------------------------------------------------------

void resize_backward(
    const char* op,
    Mode mode,
    const TensorBase& grad_output,
    bool align_corners,
    std::initializer_list<std::optional<double>> scales,
    const TensorBase& grad_input) {
  if (grad_input.numel() == 0) {
    return;
  }
  const auto format = grad_output.suggest_memory_format();
  const TensorBase grad = grad_output.contiguous(format);
  const Tensor dx = writable(grad_input, format, grad.scalar_type());
  dispatch(op, grad.scalar_type(), kFloating, [&]<class T> {
    const Resize<Sum<T>> r = Resize<Sum<T>>(mode, dx, grad, align_corners, scales).back();
    if (format != c10::MemoryFormat::Contiguous) {
      resize_channels_last(grad.const_data_ptr<T>(), dx.mutable_data_ptr<T>(), r);
    } else {
      resize_planes(grad.const_data_ptr<T>(), dx.mutable_data_ptr<T>(), r);
    }
  });
  finish(dx, grad_input);
}

} // namespace

void upsample_nearest1d_kernel(
    const TensorBase& self, IntArrayRef, std::optional<double> scales, const TensorBase& out) {
  resize("upsample_nearest1d", Mode::Nearest, self, false, {scales}, out);
}

void upsample_nearest1d_backward_kernel(
    const TensorBase& grad_output,
    IntArrayRef,
    IntArrayRef,
    std::optional<double> scales,
    const TensorBase& grad_input) {
  resize_backward("upsample_nearest1d_backward", Mode::Nearest, grad_output, false, {scales}, grad_input);
}

void upsample_nearest2d_kernel(
    const TensorBase& self,
    IntArrayRef,
    std::optional<double> scales_h,
    std::optional<double> scales_w,
    const TensorBase& out) {
  resize("upsample_nearest2d", Mode::Nearest, self, false, {scales_h, scales_w}, out);
}

void upsample_nearest2d_backward_kernel(
    const TensorBase& grad_output,
    IntArrayRef,
    IntArrayRef,
    std::optional<double> scales_h,
    std::optional<double> scales_w,
    const TensorBase& grad_input) {
  resize_backward("upsample_nearest2d_backward", Mode::Nearest, grad_output, false, {scales_h, scales_w}, grad_input);
}

void upsample_nearest3d_kernel(
    const TensorBase& self,
    IntArrayRef,
    std::optional<double> scales_d,
    std::optional<double> scales_h,
    std::optional<double> scales_w,
    const TensorBase& out) {
  resize("upsample_nearest3d", Mode::Nearest, self, false, {scales_d, scales_h, scales_w}, out);
}

void upsample_nearest3d_backward_kernel(
    const TensorBase& grad_output,
    IntArrayRef,
    IntArrayRef,
    std::optional<double> scales_d,
    std::optional<double> scales_h,
    std::optional<double> scales_w,
    const TensorBase& grad_input) {
  resize_backward(
      "upsample_nearest3d_backward", Mode::Nearest, grad_output, false, {scales_d, scales_h, scales_w}, grad_input);
}

void upsample_nearest_exact1d_kernel(
    const TensorBase& self, IntArrayRef, std::optional<double> scales, const TensorBase& out) {
  resize("_upsample_nearest_exact1d", Mode::NearestExact, self, false, {scales}, out);
}

void upsample_nearest_exact1d_backward_kernel(
    const TensorBase& grad_output,
    IntArrayRef,
    IntArrayRef,
    std::optional<double> scales,
    const TensorBase& grad_input) {
  resize_backward("_upsample_nearest_exact1d_backward", Mode::NearestExact, grad_output, false, {scales}, grad_input);
}

void upsample_nearest_exact2d_kernel(
    const TensorBase& self,
    IntArrayRef,
    std::optional<double> scales_h,
    std::optional<double> scales_w,
    const TensorBase& out) {
  resize("_upsample_nearest_exact2d", Mode::NearestExact, self, false, {scales_h, scales_w}, out);
}

void upsample_nearest_exact2d_backward_kernel(
    const TensorBase& grad_output,
    IntArrayRef,
    IntArrayRef,
    std::optional<double> scales_h,
    std::optional<double> scales_w,
    const TensorBase& grad_input) {
  resize_backward(
      "_upsample_nearest_exact2d_backward", Mode::NearestExact, grad_output, false, {scales_h, scales_w}, grad_input);
}

void upsample_nearest_exact3d_kernel(
    const TensorBase& self,
    IntArrayRef,
    std::optional<double> scales_d,
    std::optional<double> scales_h,
    std::optional<double> scales_w,
    const TensorBase& out) {
  resize("_upsample_nearest_exact3d", Mode::NearestExact, self, false, {scales_d, scales_h, scales_w}, out);
}

void upsample_nearest_exact3d_backward_kernel(
    const TensorBase& grad_output,
    IntArrayRef,
    IntArrayRef,
    std::optional<double> scales_d,
    std::optional<double> scales_h,
    std::optional<double> scales_w,
    const TensorBase& grad_input) {
  resize_backward(
      "_upsample_nearest_exact3d_backward", Mode::NearestExact, grad_output, false, {scales_d, scales_h, scales_w},
      grad_input);
}

void upsample_linear1d_kernel(
    const TensorBase& self, IntArrayRef, bool align_corners, std::optional<double> scales, const TensorBase& out) {
  resize("upsample_linear1d", Mode::Linear, self, align_corners, {scales}, out);
}

void upsample_linear1d_backward_kernel(
    const TensorBase& grad_output,
    IntArrayRef,
    IntArrayRef,
    bool align_corners,
    std::optional<double> scales,
    const TensorBase& grad_input) {
  resize_backward("upsample_linear1d_backward", Mode::Linear, grad_output, align_corners, {scales}, grad_input);
}

void upsample_bilinear2d_kernel(
    const TensorBase& self,
    IntArrayRef,
    bool align_corners,
    std::optional<double> scales_h,
    std::optional<double> scales_w,
    const TensorBase& out) {
  resize("upsample_bilinear2d", Mode::Linear, self, align_corners, {scales_h, scales_w}, out);
}

void upsample_bilinear2d_backward_kernel(
    const TensorBase& grad_output,
    IntArrayRef,
    IntArrayRef,
    bool align_corners,
    std::optional<double> scales_h,
    std::optional<double> scales_w,
    const TensorBase& grad_input) {
  resize_backward(
      "upsample_bilinear2d_backward", Mode::Linear, grad_output, align_corners, {scales_h, scales_w}, grad_input);
}

void upsample_trilinear3d_kernel(
    const TensorBase& self,
    IntArrayRef,
    bool align_corners,
    std::optional<double> scales_d,
    std::optional<double> scales_h,
    std::optional<double> scales_w,
    const TensorBase& out) {
  resize("upsample_trilinear3d", Mode::Linear, self, align_corners, {scales_d, scales_h, scales_w}, out);
}

void upsample_trilinear3d_backward_kernel(
    const TensorBase& grad_output,
    IntArrayRef,
    IntArrayRef,
    bool align_corners,
    std::optional<double> scales_d,
    std::optional<double> scales_h,
    std::optional<double> scales_w,
    const TensorBase& grad_input) {
  resize_backward(
      "upsample_trilinear3d_backward", Mode::Linear, grad_output, align_corners, {scales_d, scales_h, scales_w},
      grad_input);
}

void upsample_bicubic2d_kernel(
    const TensorBase& self,
    IntArrayRef,
    bool align_corners,
    std::optional<double> scales_h,
    std::optional<double> scales_w,
    const TensorBase& out) {
  resize("upsample_bicubic2d", Mode::Cubic, self, align_corners, {scales_h, scales_w}, out);
}

void upsample_bicubic2d_backward_kernel(
    const TensorBase& grad_output,
    IntArrayRef,
    IntArrayRef,
    bool align_corners,
    std::optional<double> scales_h,
    std::optional<double> scales_w,
    const TensorBase& grad_input) {
  resize_backward(
      "upsample_bicubic2d_backward", Mode::Cubic, grad_output, align_corners, {scales_h, scales_w}, grad_input);
}

void upsample_bilinear2d_aa_kernel(
    const TensorBase& self,
    IntArrayRef,
    bool align_corners,
    std::optional<double> scales_h,
    std::optional<double> scales_w,
    const TensorBase& out) {
  resize("_upsample_bilinear2d_aa", Mode::LinearSmooth, self, align_corners, {scales_h, scales_w}, out);
}

void upsample_bilinear2d_aa_backward_kernel(
    const TensorBase& grad_output,
    IntArrayRef,
    IntArrayRef,
    bool align_corners,
    std::optional<double> scales_h,
    std::optional<double> scales_w,
    const TensorBase& grad_input) {
  resize_backward(
      "_upsample_bilinear2d_aa_backward", Mode::LinearSmooth, grad_output, align_corners, {scales_h, scales_w},
      grad_input);
}

void upsample_bicubic2d_aa_kernel(
    const TensorBase& self,
    IntArrayRef,
    bool align_corners,
    std::optional<double> scales_h,
    std::optional<double> scales_w,
    const TensorBase& out) {
  resize("_upsample_bicubic2d_aa", Mode::CubicSmooth, self, align_corners, {scales_h, scales_w}, out);
}

void upsample_bicubic2d_aa_backward_kernel(
    const TensorBase& grad_output,
    IntArrayRef,
    IntArrayRef,
    bool align_corners,
    std::optional<double> scales_h,
    std::optional<double> scales_w,
    const TensorBase& grad_input) {
  resize_backward(
      "_upsample_bicubic2d_aa_backward", Mode::CubicSmooth, grad_output, align_corners, {scales_h, scales_w},
      grad_input);
}

void upsample_lanczos2d_aa_kernel(
    const TensorBase& self,
    IntArrayRef,
    bool align_corners,
    std::optional<double> scales_h,
    std::optional<double> scales_w,
    const TensorBase& out) {
  resize("_upsample_lanczos2d_aa", Mode::LanczosSmooth, self, align_corners, {scales_h, scales_w}, out);
}

void upsample_lanczos2d_aa_backward_kernel(
    const TensorBase& grad_output,
    IntArrayRef,
    IntArrayRef,
    bool align_corners,
    std::optional<double> scales_h,
    std::optional<double> scales_w,
    const TensorBase& grad_input) {
  resize_backward(
      "_upsample_lanczos2d_aa_backward", Mode::LanczosSmooth, grad_output, align_corners, {scales_h, scales_w},
      grad_input);
}

} // namespace CPU_CAPABILITY
} // namespace at::native
