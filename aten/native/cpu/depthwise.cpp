// Depthwise convolution of images in the plain layout: each channel is convolved by itself.
//
// Note [Planes of a depthwise convolution]
// A channel's plane is copied into a buffer in the first or second cache, with its padding, and with the columns of
// each phase of the stride side by side: then all windows of a row read whole vectors, and the result is a sum of
// shifted rows,
//   result[y][x] = sum of weight[ky][kx] * buffer[y * stride + ky * dilation][x * stride + kx * dilation].
// The gradient of the input is the same sum with the kernel turned round, over the gradient spread out by the stride.
#include <aten/native/cpu/conv.h>

#include <aten/core/dtype_dispatch.h>
#include <aten/native/cpu/row_lanes.h>
#include <aten/parallel/Parallel.h>

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace at::native {
inline namespace CPU_CAPABILITY {
namespace {

constexpr auto kDtypes = kFloating;
/// Bytes of a buffer, in which some rows of a large plane are held at once.
constexpr int64_t kBufferBytes = 256 << 10;
/// Multiplications worth a thread of their own.
constexpr int64_t kGrain = 1 << 16;

/// Calls f with n, which is 1 to Most, as a constant.
template <int Most, class F>
VEC_INLINE void with_count(int64_t n, const F& f) {
  if constexpr (Most > 1) {
    if (n < Most) {
      return with_count<Most - 1>(n, f);
    }
  }
  f(std::integral_constant<int, Most>{});
}

/// One axis: positions of the buffer, results and steps of windows over it, and where the elements of a source lie in
/// it.
struct Axis {
  int64_t results, kernel, stride, dilation;
  int64_t source, offset,
      spread; // source element i is at position i * spread + offset, if that exists; stride or spread is 1

  int64_t length_of(int64_t count) const {
    return (count - 1) * stride + (kernel - 1) * dilation + 1;
  }
};

template <class T>
class Plane {
 public:
  using R = typename Lanes<T>::R;
  using V = typename Lanes<T>::V;
  static constexpr int64_t kSize = V::size();
  static constexpr int64_t kUnroll = 4;

  Plane(const Axis& rows, const Axis& columns) : rows_(rows), columns_(columns) {
    phase_ = (columns.length_of(columns.results) + columns.stride - 1) / columns.stride;
    // All rows begin alike beside the lines of the cache.
    phase_ = (phase_ + kSize - 1) / kSize * kSize;
    pitch_ = phase_ * columns.stride;
    const int64_t fitting = kBufferBytes / (pitch_ * int64_t(sizeof(R)));
    together_ =
        std::clamp<int64_t>((fitting - (rows.kernel - 1) * rows.dilation - 1) / rows.stride + 1, 1, rows.results);
    // Vectors at the end of a row read on.
    room_.resize(static_cast<size_t>(rows.length_of(together_) * pitch_ + (kUnroll + 2) * kSize));
    constexpr std::uintptr_t kBytes = kSize * sizeof(R);
    buffer_ = reinterpret_cast<R*>((reinterpret_cast<std::uintptr_t>(room_.data()) + kBytes - 1) / kBytes * kBytes);
    // A source that is copied as it lies begins at vectors.
    if (columns.stride == 1 && columns.spread == 1 && columns.offset > 0) {
      buffer_ += (kSize - columns.offset % kSize) % kSize;
    }
    const auto steps_by_one = [](const Axis& axis) { return axis.stride == 1 && axis.dilation == 1; };
    if (steps_by_one(rows) && steps_by_one(columns) && rows.kernel == columns.kernel) {
      square_ = rows.kernel;
    }
    for (int64_t ky = 0; ky < rows.kernel; ++ky) {
      for (int64_t kx = 0; kx < columns.kernel; ++kx) {
        shifts_.push_back(ky * rows.dilation * pitch_ + column_place(kx * columns.dilation));
      }
    }
  }

  Plane(const Plane&) = delete;
  Plane& operator=(const Plane&) = delete;

  /// Calls f(first result row, end) for the blocks of rows that are held at once, with the buffer filled from `source`.
  template <class F>
  void for_blocks(const T* source, const F& f) {
    for (int64_t first = 0; first < rows_.results; first += together_) {
      const int64_t end = std::min(rows_.results, first + together_);
      // The padding of a plane that is held whole stays zero.
      if (together_ < rows_.results) {
        std::fill(room_.begin(), room_.end(), R(0));
      }
      fill(source, first * rows_.stride, rows_.length_of(end - first));
      f(first, end);
    }
  }

  /// The result of a plane of `source`.
  void correlate(const T* source, const R* weight, R start, T* result) {
    for_blocks(source, [&](int64_t first, int64_t end) {
      int64_t y = first;
      if (square_ == 3) {
        y = correlate_squares<3>(source, first, end, weight, start, result);
      }
      if (square_ == 5) {
        y = correlate_squares<5>(source, first, end, weight, start, result);
      }
      for (; y < end; ++y) {
        const R* row = buffer_ + (y - first) * rows_.stride * pitch_;
        T* to = result + y * columns_.results;
        for (int64_t x = 0; x < columns_.results; x += kUnroll * kSize) {
          const int64_t left = columns_.results - x;
          with_count<kUnroll>((left + kSize - 1) / kSize, [&](auto count) {
            correlate_run(count, row + x, weight, start, left, to + x);
          });
        }
      }
    });
  }

  /// Adds what each weight's gradient gets from a plane of `source` and the gradient of its result.
  void weight_gradient(const T* source, const T* grad, double* to) {
    constexpr int kTogether = 9; // sums that fit the registers
    for_blocks(source, [&](int64_t first, int64_t end) {
      const auto weights = static_cast<int64_t>(shifts_.size());
      for (int64_t k = 0; k < weights; k += kTogether) {
        with_count<kTogether>(std::min<int64_t>(kTogether, weights - k), [&](auto count) {
          V sums[count];
          std::fill(sums, sums + count, V(R(0)));
          for (int64_t y = first; y < end; ++y) {
            const R* row = buffer_ + (y - first) * rows_.stride * pitch_;
            for_lanes<T>(columns_.results, [&](int64_t x, auto run) {
              const V g = load_run(grad + y * columns_.results + x, run);
              for (int i = 0; i < count; ++i) {
                sums[i] += g * load_run<R>(row + shifts_[k + i] + x, run);
              }
            });
          }
          for (int i = 0; i < count; ++i) {
            to[k + i] += vec::reduce_add(sums[i]);
          }
        });
      }
    });
  }

 private:
  int64_t column_place(int64_t x) const {
    return x % columns_.stride * phase_ + x / columns_.stride;
  }

  /// Results of some rows at a time, as windows of K x K share rows of the source: each vector of it is read once for
  /// all of them. Returns the first row that is left.
  template <int K>
  int64_t correlate_squares(const T* source, int64_t first, int64_t end, const R* weight, R start, T* result) const {
    constexpr int kRows = vec::kVecBytes == 64 ? 4 : 2; // sums that fit the registers
    int64_t y = first;
    for (; y + kRows <= end; y += kRows) {
      // Meanwhile the same rows of the plane behind this one, the next, come from memory.
      const T* next = source + (rows_.source + y) * columns_.source;
      for (int64_t i = 0; i < kRows * columns_.source; i += 64 / sizeof(T)) {
        __builtin_prefetch(next + i);
      }
      for (int64_t x = 0; x < columns_.results; x += kUnroll * kSize) {
        const int64_t left = columns_.results - x;
        with_count<kUnroll>((left + kSize - 1) / kSize, [&](auto count) {
          constexpr int kCount = decltype(count)::value;
          V sums[kRows][kCount];
          for (auto& row : sums) {
            std::fill(row, row + kCount, V(start));
          }
          const R* from = buffer_ + (y - first) * pitch_ + x;
#pragma GCC unroll 8
          for (int r = 0; r < kRows + K - 1; ++r, from += pitch_) {
#pragma GCC unroll 5
            for (int kx = 0; kx < K; ++kx) {
              V run[kCount];
#pragma GCC unroll 4
              for (int i = 0; i < kCount; ++i) run[i] = V::load(from + kx + i * kSize);
#pragma GCC unroll 4
              for (int q = 0; q < kRows; ++q) {
                if (r - q < 0 || r - q >= K) continue;
                const V w(weight[(r - q) * K + kx]);
#pragma GCC unroll 4
                for (int i = 0; i < kCount; ++i) sums[q][i] += w * run[i];
              }
            }
          }
          for (int q = 0; q < kRows; ++q) store_sums<kCount>(sums[q], left, result + (y + q) * columns_.results + x);
        });
      }
    }
    return y;
  }

  /// `left` results, which begin in vectors up to the last.
  template <int Count>
  static VEC_INLINE void store_sums(const V* sums, int64_t left, T* to) {
    for (int i = 0; i + 1 < Count; ++i) {
      Lanes<T>::store(sums[i], to + i * kSize);
    }
    const int64_t last = std::min(kSize, left - (Count - 1) * kSize);
    if (last == kSize) {
      Lanes<T>::store(sums[Count - 1], to + (Count - 1) * kSize);
    } else {
      Lanes<T>::store(sums[Count - 1], to + (Count - 1) * kSize, static_cast<int>(last));
    }
  }

  template <int Count>
  VEC_INLINE void correlate_run(
      std::integral_constant<int, Count>, const R* row, const R* weight, R start, int64_t left, T* to) const {
    V sums[Count];
    std::fill(sums, sums + Count, V(start));
    for (size_t k = 0; k < shifts_.size(); ++k) {
      const V w(weight[k]);
      for (int i = 0; i < Count; ++i) {
        sums[i] += w * V::load(row + shifts_[k] + i * kSize);
      }
    }
    store_sums<Count>(sums, left, to);
  }

  /// The source's elements that lie in rows [begin, begin + length) of the padded plane.
  void fill(const T* source, int64_t begin, int64_t length) {
    const int64_t width = columns_.length_of(columns_.results);
    // The source columns that lie in it.
    const auto past = [](int64_t gap, int64_t step) { return gap <= 0 ? 0 : (gap + step - 1) / step; };
    const int64_t low = past(-columns_.offset, columns_.spread);
    const int64_t high = std::min(columns_.source, past(width - columns_.offset, columns_.spread));
    if (low >= high) {
      return;
    }
    for (int64_t r = past(begin - rows_.offset, rows_.spread); r < rows_.source; ++r) {
      const int64_t y = r * rows_.spread + rows_.offset - begin;
      if (y >= length) {
        break;
      }
      const T* from = source + r * columns_.source;
      R* to = buffer_ + y * pitch_;
      if (columns_.spread != 1) {
        for (int64_t i = low; i < high; ++i) {
          to[i * columns_.spread + columns_.offset] = static_cast<R>(from[i]);
        }
      } else if (columns_.stride == 1) {
        for_lanes<T>(high - low, [&](int64_t i, auto run) {
          store_run<R>(load_run(from + low + i, run), to + columns_.offset + low + i, run);
        });
      } else if (columns_.stride == 2) {
        fill_phases(from, low, high, std::integral_constant<int64_t, 2>{}, to);
      } else {
        fill_phases(from, low, high, columns_.stride, to);
      }
    }
  }

  template <class Stride>
  VEC_INLINE void fill_phases(const T* from, int64_t low, int64_t high, Stride stride, R* to) const {
    for (int64_t i = low; i < std::min<int64_t>(high, low + stride); ++i) {
      R* phase = to + column_place(i + columns_.offset);
      const int64_t count = (high - i + stride - 1) / stride;
      for (int64_t k = 0; k < count; ++k) {
        phase[k] = static_cast<R>(from[i + k * stride]);
      }
    }
  }

  Axis rows_, columns_;
  int64_t phase_, pitch_, together_;
  int64_t square_ = 0; // the length of windows that are squares and move by one
  std::vector<R> room_;
  R* buffer_;
  std::vector<int64_t> shifts_;
};

Axis forward_axis(const ConvProblem& p, int d) {
  return {p.out[d], p.kernel[d], p.stride[d], p.dilation[d], p.in[d], p.padding[d], 1};
}

Axis backward_axis(const ConvProblem& p, int d) {
  return {p.in[d],    p.kernel[d], 1, p.dilation[d], p.out[d], (p.kernel[d] - 1) * p.dilation[d] - p.padding[d],
          p.stride[d]};
}

/// f(plane, image, channel of the input) for all of them, each thread with a plane of its own.
template <class T, class F>
void for_planes(const ConvProblem& p, const Axis& rows, const Axis& columns, const F& f) {
  const int64_t work = rows.results * columns.results * p.kernel_size() * (p.out_channels / p.groups);
  at::parallel_for(0, p.batch * p.groups, std::max<int64_t>(1, kGrain / work), [&](int64_t begin, int64_t end) {
    Plane<T> plane(rows, columns);
    for (int64_t i = begin; i < end; ++i) {
      f(plane, i / p.groups, i % p.groups);
    }
  });
}

} // namespace

void conv_depthwise_forward(const ConvProblem& p, const void* src, const void* weight, const void* bias, void* dst) {
  dispatch("convolution", p.dtype, kDtypes, [&]<class T> {
    using R = typename Lanes<T>::R;
    const int64_t multiplier = p.out_channels / p.groups, size = p.kernel_size();
    const std::vector<R> weights(static_cast<const T*>(weight), static_cast<const T*>(weight) + p.out_channels * size);
    for_planes<T>(p, forward_axis(p, 1), forward_axis(p, 2), [&](Plane<T>& plane, int64_t n, int64_t g) {
      const T* image = static_cast<const T*>(src) + (n * p.groups + g) * p.in_size();
      for (int64_t c = g * multiplier; c < (g + 1) * multiplier; ++c) {
        const R start = bias == nullptr ? R(0) : static_cast<R>(static_cast<const T*>(bias)[c]);
        plane.correlate(
            image, weights.data() + c * size, start, static_cast<T*>(dst) + (n * p.out_channels + c) * p.out_size());
      }
    });
  });
}

void conv_depthwise_backward_data(const ConvProblem& p, const void* dst, const void* weight, void* src) {
  dispatch("convolution_backward", p.dtype, kDtypes, [&]<class T> {
    using R = typename Lanes<T>::R;
    const int64_t size = p.kernel_size();
    std::vector<R> turned(static_cast<const T*>(weight), static_cast<const T*>(weight) + p.out_channels * size);
    for (int64_t c = 0; c < p.out_channels; ++c) {
      std::reverse(turned.begin() + c * size, turned.begin() + (c + 1) * size);
    }
    for_planes<T>(p, backward_axis(p, 1), backward_axis(p, 2), [&](Plane<T>& plane, int64_t n, int64_t g) {
      const int64_t at = n * p.groups + g;
      plane.correlate(
          static_cast<const T*>(dst) + at * p.out_size(), turned.data() + g * size, R(0),
          static_cast<T*>(src) + at * p.in_size());
    });
  });
}

void conv_depthwise_backward_weight(const ConvProblem& p, const void* src, const void* dst, void* weight) {
  dispatch("convolution_backward", p.dtype, kDtypes, [&]<class T> {
    const int64_t multiplier = p.out_channels / p.groups, size = p.kernel_size();
    // The images of a channel are added in their order, whatever the number of threads.
    at::parallel_for(
        0, p.out_channels, std::max<int64_t>(1, kGrain / (p.batch * p.out_size() * size)),
        [&](int64_t begin, int64_t end) {
          Plane<T> plane(forward_axis(p, 1), forward_axis(p, 2));
          std::vector<double> sums(static_cast<size_t>(size));
          for (int64_t c = begin; c < end; ++c) {
            std::fill(sums.begin(), sums.end(), 0.0);
            for (int64_t n = 0; n < p.batch; ++n) {
              plane.weight_gradient(
                  static_cast<const T*>(src) + (n * p.groups + c / multiplier) * p.in_size(),
                  static_cast<const T*>(dst) + (n * p.out_channels + c) * p.out_size(), sums.data());
            }
            std::transform(sums.begin(), sums.end(), static_cast<T*>(weight) + c * size, [](double sum) {
              return static_cast<T>(static_cast<typename Lanes<T>::R>(sum));
            });
          }
        });
  });
}

} // namespace CPU_CAPABILITY
} // namespace at::native
