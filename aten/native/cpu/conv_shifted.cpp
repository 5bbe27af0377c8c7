// Small convolutions as products with shifted images, on one thread: where bringing images into another layout and
// back costs more than the products.
//
// Note [Shifted images of a convolution]
// The images of a group are copied with their padding, and along each dimension with the phases of the stride side by
// side: element i of phase a is at position i * stride + a of the padded image. An element of the kernel then always
// reads the same phases, from a place of its own on: for all results, numbered through a phase, it reads elements that
// follow each other. So the convolution is a product of the weight with a matrix whose rows are parts of the copy,
// beginning at various places; columns of windows are never written. Numbers between the rows of the result are
// computed too, and not used.
#include <aten/native/cpu/conv.h>

#include <aten/core/dtype_dispatch.h>
#include <aten/native/cpu/gemm_pack.h>
#include <aten/native/cpu/gemm_tile.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace at::native {
inline namespace CPU_CAPABILITY {
namespace {

using gemm_detail::kLanes;
using gemm_detail::TileShape;

/// Products that one thread does soonest alone. Elements of a kernel and of an image's copy: these stay in a cache.
constexpr int64_t kMostWork = int64_t{1} << 19, kMostKernel = 128, kMostElements = int64_t{1} << 16;

/// One dimension of the copy.
struct Axis {
  int64_t phases = 1, length = 1; // of each phase
};

struct ShiftedImages {
  const ConvProblem& p;
  std::array<Axis, 3> axes{};
  int64_t channels = p.in_channels / p.groups, outs = p.out_channels / p.groups;
  int64_t phase_size = 1, channel_size = 1;
  bool fits = p.kernel_size() <= kMostKernel && p.batch * p.out_channels <= kMostWork;

  explicit ShiftedImages(const ConvProblem& problem) : p(problem) {
    for (int d = 0; d < 3 && fits; ++d) {
      const auto is_moderate = [](int64_t n) { return n <= kMostElements; };
      fits = is_moderate(p.in[d]) && is_moderate(p.out[d]) && is_moderate(p.stride[d]) && is_moderate(p.padding[d]) &&
          is_moderate(p.dilation[d]);
      if (fits) {
        const int64_t reach = (p.kernel[d] - 1) * p.dilation[d];
        axes[d] = {std::min(p.stride[d], reach + 1), p.out[d] + reach / p.stride[d]};
        phase_size *= axes[d].length;
        channel_size *= axes[d].length * axes[d].phases;
        fits = channel_size <= kMostElements;
      }
    }
    fits = fits && channels <= kMostElements / channel_size;
  }

  /// Results with the unused numbers between them.
  int64_t run() const {
    return ((p.out[0] - 1) * axes[1].length + p.out[1] - 1) * axes[2].length + p.out[2];
  }
  int64_t work() const {
    return p.batch * p.out_channels * run() * channels * p.kernel_size();
  }

  /// Whether the copy is the images themselves.
  bool is_plain() const {
    for (int d = 0; d < 3; ++d) {
      if (axes[d].phases != 1 || p.padding[d] != 0 || axes[d].length != p.in[d]) {
        return false;
      }
    }
    return true;
  }

  /// Where an element of the kernel begins to read in a channel.
  int64_t offset(const std::array<int64_t, 3>& element) const {
    int64_t phase = 0, place = 0;
    for (int d = 0; d < 3; ++d) {
      const int64_t position = element[d] * p.dilation[d];
      phase = phase * axes[d].phases + position % p.stride[d];
      place = place * axes[d].length + position / p.stride[d];
    }
    return phase * phase_size + place;
  }
  std::array<int64_t, kMostKernel> offsets() const {
    std::array<int64_t, kMostKernel> all;
    int64_t k = 0;
    for (int64_t z = 0; z < p.kernel[0]; ++z) {
      for (int64_t y = 0; y < p.kernel[1]; ++y) {
        for (int64_t x = 0; x < p.kernel[2]; ++x) {
          all[k++] = offset({z, y, x});
        }
      }
    }
    return all;
  }

  /// Elements [begin, end) of a phase that lie in the image, of which `begin` is at `position`.
  struct Part {
    int64_t begin, end, position;
  };
  Part part(int d, int64_t phase) const {
    const int64_t stride = p.stride[d], before = p.padding[d] - phase;
    const int64_t begin = before <= 0 ? 0 : std::min(axes[d].length, (before + stride - 1) / stride);
    const int64_t room = p.in[d] + before;
    const int64_t end = room <= 0 ? begin : std::clamp((room + stride - 1) / stride, begin, axes[d].length);
    return {begin, end, begin * stride - before};
  }

  /// Copies the images of a group, into zeros unless is_plain().
  template <class T>
  void copy_all(const T* src, T* to) const {
    if (is_plain()) {
      std::copy_n(src, channels * channel_size, to);
      return;
    }
    for (int64_t c = 0; c < channels; ++c) {
      copy(src + c * p.in_size(), to + c * channel_size);
    }
  }

  /// Copies a channel's image into zeros.
  template <class T>
  void copy(const T* image, T* to) const {
    for (int64_t a = 0; a < axes[0].phases; ++a) {
      const Part planes = part(0, a);
      for (int64_t b = 0; b < axes[1].phases; ++b) {
        const Part rows = part(1, b);
        for (int64_t c = 0; c < axes[2].phases; ++c, to += phase_size) {
          const Part columns = part(2, c);
          for (int64_t z = planes.begin; z < planes.end; ++z) {
            const int64_t plane = planes.position + (z - planes.begin) * p.stride[0];
            for (int64_t y = rows.begin; y < rows.end; ++y) {
              const int64_t row = rows.position + (y - rows.begin) * p.stride[1];
              copy_row(
                  image + (plane * p.in[1] + row) * p.in[2] + columns.position, columns.end - columns.begin,
                  to + (z * axes[1].length + y) * axes[2].length + columns.begin);
            }
          }
        }
      }
    }
  }

 private:
  template <class T>
  void copy_row(const T* from, int64_t count, T* to) const {
    if (p.stride[2] == 1) {
      gemm_detail::convert_run(from, to, count);
      return;
    }
    for (int64_t i = 0; i < count; ++i) {
      to[i] = from[i * p.stride[2]];
    }
  }
};

template <class T>
struct ShiftedProduct {
  static constexpr int kRows = TileShape<1>::kRows, kVectors = TileShape<1>::kVectors;
  static constexpr int64_t kWidth = kLanes<T>;

  const ShiftedImages& images;
  const std::array<int64_t, kMostKernel> offsets = images.offsets();
  const int64_t kernel = images.p.kernel_size(), depth = images.channels * kernel;
  const int64_t vectors = (images.run() + kWidth - 1) / kWidth, row = vectors * kWidth;

  /// What the last vectors read beyond the copy, and beyond the sums.
  static constexpr int64_t kBeyond = kWidth;

  /// sums[row of `row`] = `Rows` rows of the weight times `Vectors` vectors of the shifted image.
  template <int Rows, int Vectors>
  void tile(const T* weight, const T* image, T* sums) const {
    using V = gemm_detail::Vector<T>;
    V sum[Rows][Vectors] = {};
    for (int64_t c = 0; c < images.channels; ++c, image += images.channel_size, weight += kernel) {
      for (int64_t k = 0; k < kernel; ++k) {
        const T* from = image + offsets[k];
        V x[Vectors];
#pragma GCC unroll 4
        for (int j = 0; j < Vectors; ++j) {
          x[j] = gemm_detail::load(from + j * kWidth);
        }
#pragma GCC unroll 8
        for (int i = 0; i < Rows; ++i) {
          const T w = weight[i * depth + k];
#pragma GCC unroll 4
          for (int j = 0; j < Vectors; ++j) {
            sum[i][j] += w * x[j];
          }
        }
      }
    }
#pragma GCC unroll 8
    for (int i = 0; i < Rows; ++i) {
#pragma GCC unroll 4
      for (int j = 0; j < Vectors; ++j) {
        gemm_detail::store(sums + i * row + j * kWidth, sum[i][j]);
      }
    }
  }

  template <int Rows>
  void rows(const T* weight, const T* image, T* sums) const {
    for (int64_t v = 0; v < vectors;) {
      const int64_t left = vectors - v, panels = (left + kVectors - 1) / kVectors, wide = (left + panels - 1) / panels;
      const T* from = image + v * kWidth;
      T* to = sums + v * kWidth;
      if (wide == 1) {
        tile<Rows, 1>(weight, from, to);
      } else if (wide == 2) {
        tile<Rows, 2>(weight, from, to);
      } else {
        tile<Rows, kVectors>(weight, from, to);
      }
      v += wide;
    }
  }

  /// Some rows of the result without bias. Returns how many.
  int64_t sum(int64_t left, const T* weight, const T* image, T* sums) const {
    const int height = gemm_detail::tile_height<1>(left);
    if constexpr (kRows == 8) {
      if (height == 8) {
        rows<8>(weight, image, sums);
      }
    }
    if (height == 4) {
      rows<4>(weight, image, sums);
    } else if (height == 2) {
      rows<2>(weight, image, sums);
    } else if (height == 1) {
      rows<1>(weight, image, sums);
    }
    return height;
  }

  /// The results among the sums, plus the bias. What follows them up to `end` is written later: whole vectors may reach
  /// there.
  void store(const T* sums, T bias, T* result, const T* end) const {
    const ConvProblem& p = images.p;
    const bool closed = images.axes[2].length == p.out[2]; // nothing between the rows
    const int64_t lines = closed ? 1 : p.out[1], line = closed ? p.out[1] * p.out[2] : p.out[2];
    for (int64_t z = 0; z < p.out[0]; ++z) {
      for (int64_t y = 0; y < lines; ++y, result += line) {
        const T* from = sums + (z * images.axes[1].length + y) * images.axes[2].length;
        store_line(from, bias, line, result, end);
      }
    }
  }

 private:
  static void store_line(const T* from, T bias, int64_t line, T* result, const T* end) {
    if (end - result < line + kWidth) {
      for (int64_t x = 0; x < line; ++x) {
        result[x] = from[x] + bias;
      }
      return;
    }
    for (int64_t x = 0; x < line; x += kWidth) {
      gemm_detail::store(result + x, gemm_detail::load(from + x) + bias);
    }
  }
};

template <class T>
void convolve(const ShiftedImages& images, const T* src, const T* weight, const T* bias, T* dst) {
  const ConvProblem& p = images.p;
  const ShiftedProduct<T> product{images};
  const int64_t copied = images.channels * images.channel_size + product.kBeyond;
  gemm_detail::Scratch memory(
      (copied + product.kRows * product.row + product.kBeyond) * static_cast<int64_t>(sizeof(T)));
  T* const copy = memory.as<T>();
  T* const sums = copy + copied;
  const T* const end = dst + p.batch * p.out_channels * p.out_size();
  std::fill(images.is_plain() ? copy + copied - product.kBeyond : copy, copy + copied, T(0));
  for (int64_t n = 0; n < p.batch; ++n) {
    for (int64_t g = 0; g < p.groups; ++g, src += images.channels * p.in_size()) {
      images.copy_all(src, copy);
      for (int64_t m = 0; m < images.outs;) {
        const int64_t channel = g * images.outs + m;
        const int64_t height = product.sum(images.outs - m, weight + channel * product.depth, copy, sums);
        for (int64_t i = 0; i < height; ++i, dst += p.out_size()) {
          product.store(sums + i * product.row, bias == nullptr ? T(0) : bias[channel + i], dst, end);
        }
        m += height;
      }
    }
  }
}

/// Padding is zeros here, which infinite weights must not meet.
template <class T>
bool is_finite(const T* weight, int64_t count) {
  bool finite = true;
  for (int64_t i = 0; i < count; ++i) {
    finite &= std::abs(weight[i]) <= std::numeric_limits<T>::max();
  }
  return finite;
}

} // namespace

bool conv_forward_shifted(const ConvProblem& p, const void* src, const void* weight, const void* bias, void* dst) {
  const ShiftedImages images(p);
  if (!images.fits || images.work() > kMostWork) {
    return false;
  }
  return dispatch("convolution", p.dtype, kFloatDouble, [&]<class T> {
    const T* factors = static_cast<const T*>(weight);
    if (p.padding != std::array<int64_t, 3>{0, 0, 0} &&
        !is_finite(factors, p.out_channels * images.channels * p.kernel_size())) {
      return false;
    }
    convolve(images, static_cast<const T*>(src), factors, static_cast<const T*>(bias), static_cast<T*>(dst));
    return true;
  });
}

} // namespace CPU_CAPABILITY
} // namespace at::native
