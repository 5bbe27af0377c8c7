// Where the windows of a pooling lie.
#pragma once

#include <c10/util/ArrayRef.h>
#include <c10/util/SmallVector.h>

#include <algorithm>
#include <array>
#include <cstdint>

namespace at::native {

/// One spatial dimension: window o covers begin[o], begin[o] + step, ... below end[o]; `extent[o]` counts the padding
/// too.
struct PoolDim {
  int64_t in = 1, out = 1, step = 1;
  c10::SmallVector<int64_t, 8> begin, end, extent;
  /// Windows [regular_begin, regular_end) have `kernel` elements each and begin at o * stride - padding.
  int64_t kernel = 0, stride = 1, padding = 0, regular_begin = 0, regular_end = 0;

  /// How many steps cover `length`; neither a step nor a length is too large.
  static int64_t steps_over(int64_t length, int64_t step) {
    return length == 0 ? 0 : (length - 1) / step + 1;
  }

  static PoolDim fixed(int64_t in, int64_t out, int64_t kernel, int64_t stride, int64_t padding, int64_t dilation) {
    PoolDim d;
    d.in = in;
    d.out = out;
    d.step = dilation;
    d.kernel = kernel;
    d.stride = stride;
    d.padding = padding;
    for (int64_t o = 0; o < out; ++o) {
      int64_t first = o * stride - padding;
      const int64_t last = std::min(first + (kernel - 1) * dilation + 1, in + padding);
      d.extent.push_back(last - first);
      if (first < 0) {
        first += steps_over(-first, dilation) * dilation;
      }
      d.begin.push_back(first);
      d.end.push_back(std::min(last, in));
    }
    const int64_t reach = (kernel - 1) * dilation + 1;
    d.regular_begin = std::min(out, steps_over(padding, stride));
    d.regular_end = in + padding < reach ? 0 : std::min(out, (in + padding - reach) / stride + 1);
    d.regular_end = std::max(d.regular_begin, d.regular_end);
    return d;
  }

  /// Windows that split the dimension evenly.
  static PoolDim adaptive(int64_t in, int64_t out) {
    PoolDim d;
    d.in = in;
    d.out = out;
    for (int64_t o = 0; o < out; ++o) {
      const int64_t first = o * in / out;
      const int64_t last = 1 + ((o + 1) * in - 1) / out;
      d.begin.push_back(first);
      d.end.push_back(last);
      d.extent.push_back(last - first);
    }
    return d;
  }

  /// Windows of `kernel` elements at `first[o]`.
  static PoolDim at(int64_t in, int64_t kernel, c10::IntArrayRef first) {
    PoolDim d;
    d.in = in;
    d.out = static_cast<int64_t>(first.size());
    for (const int64_t b : first) {
      d.begin.push_back(b);
      d.end.push_back(b + kernel);
      d.extent.push_back(kernel);
    }
    return d;
  }
};

/// Windows over depth, height and width; dimensions that are not there stand in front, with size 1.
struct PoolWindows {
  std::array<PoolDim, 3> dim{PoolDim::adaptive(1, 1), PoolDim::adaptive(1, 1), PoolDim::adaptive(1, 1)};

  int64_t in_size() const {
    return dim[0].in * dim[1].in * dim[2].in;
  }
  int64_t out_size() const {
    return dim[0].out * dim[1].out * dim[2].out;
  }
};

} // namespace at::native
