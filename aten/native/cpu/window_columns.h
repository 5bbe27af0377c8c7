#pragma once
// The windows that a convolution slides over an image, written as columns of a matrix, and added back.

#include <aten/native/cpu/conv.h>
#include <aten/native/pointwise/math.h>

#include <algorithm>
#include <cstdint>

namespace at::native {
inline namespace CPU_CAPABILITY {

/// Output rows are numbered through depth and height. Columns for rows [first, last) of `channels` channels of one
/// image: cols[(channel, kernel position)][row, output column], adjacent along output columns.
struct WindowColumns {
  const ConvProblem& p;
  int64_t first, last;

  int64_t width() const {
    return (last - first) * p.out[2];
  }

  /// Calls f(k, row, image_row or -1) for each line of columns: `k` numbers channel and kernel position.
  template <class F>
  void for_lines(int64_t channel, const F& f) const {
    int64_t k = channel * p.kernel_size();
    for (int64_t kd = 0; kd < p.kernel[0]; ++kd) {
      for (int64_t kh = 0; kh < p.kernel[1]; ++kh) {
        for (int64_t kw = 0; kw < p.kernel[2]; ++kw, ++k) {
          for (int64_t row = first; row < last; ++row) {
            const int64_t d = row / p.out[1] * p.stride[0] - p.padding[0] + kd * p.dilation[0];
            const int64_t h = row % p.out[1] * p.stride[1] - p.padding[1] + kh * p.dilation[1];
            const bool inside = d >= 0 && d < p.in[0] && h >= 0 && h < p.in[1];
            f(k, row, inside ? (d * p.in[1] + h) * p.in[2] : int64_t(-1), kw * p.dilation[2] - p.padding[2]);
          }
        }
      }
    }
  }

  /// Output columns [begin, end) whose element at offset `shift` lies in an image row.
  void inside(int64_t shift, int64_t& begin, int64_t& end) const {
    const int64_t s = p.stride[2];
    begin = shift >= 0 ? 0 : std::min(p.out[2], (-shift + s - 1) / s);
    end = p.in[2] <= shift ? begin : std::clamp((p.in[2] - shift + s - 1) / s, begin, p.out[2]);
  }

  template <class T>
  void gather(const T* image, int64_t channel, T* cols) const {
    const T* plane = image + channel * p.in_size();
    for_lines(channel, [&](int64_t k, int64_t row, int64_t at, int64_t shift) {
      T* line = cols + k * width() + (row - first) * p.out[2];
      int64_t begin = 0, end = 0;
      if (at >= 0) {
        inside(shift, begin, end);
      }
      std::fill(line, line + begin, T(0));
      const T* from = plane + at + shift;
      if (p.stride[2] == 1) {
        if (begin < end) {
          std::copy(from + begin, from + end, line + begin);
        }
      } else {
        for (int64_t i = begin; i < end; ++i) {
          line[i] = from[i * p.stride[2]];
        }
      }
      std::fill(line + end, line + p.out[2], T(0));
    });
  }

  /// The adjoint of gather: adds columns to the image.
  template <class T>
  void scatter(const T* cols, int64_t channel, T* image) const {
    T* plane = image + channel * p.in_size();
    for_lines(channel, [&](int64_t k, int64_t row, int64_t at, int64_t shift) {
      if (at < 0) {
        return;
      }
      const T* line = cols + k * width() + (row - first) * p.out[2];
      int64_t begin = 0, end = 0;
      inside(shift, begin, end);
      T* to = plane + at + shift;
      for (int64_t i = begin; i < end; ++i) {
        T& sum = to[i * p.stride[2]];
        sum = pointwise::add(sum, line[i]);
      }
    });
  }
};

} // namespace CPU_CAPABILITY
} // namespace at::native
