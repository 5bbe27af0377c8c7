// Convolution as products with columns of windows: for dtypes and shapes that oneDNN has no kernel for, or that are
// plain products. Also im2col, col2im.

#include <aten/native/cpu/conv.h>

#include <aten/core/TensorBase.h>
#include <aten/core/dtype_dispatch.h>
#include <aten/native/cpu/gemm.h>
#include <aten/native/cpu/gemm_tile.h>
#include <aten/native/cpu/window_columns.h>
#include <aten/native/pointwise/math.h>
#include <aten/parallel/Parallel.h>
#include <c10/core/CPUAllocator.h>

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace at::native {
inline namespace CPU_CAPABILITY {
namespace {

// Half and bfloat16 come as float: sums over overlapping windows would lose too much.
constexpr auto kColumnDtypes = kIntegral | kFloatDouble | kComplex;

/// Bytes of columns held at once: they should still be in the cache when the product reads them.
constexpr int64_t kColumnBytes = 2 << 20;

template <class T>
struct Columns {
  const ConvProblem& p;
  const int64_t channels = p.in_channels / p.groups;
  const int64_t depth = channels * p.kernel_size();
  const int64_t rows = p.out[0] * p.out[1];
  /// The image itself is the matrix.
  const bool plain = p.is_product();
  const int64_t step = std::clamp<int64_t>(
      kColumnBytes / std::max<int64_t>(1, depth* p.out[2] * int64_t(sizeof(T))), 1, std::max<int64_t>(1, rows));

  c10::DataPtr buffer() const {
    return plain ? c10::DataPtr()
                 : c10::GetCPUAllocator()->allocate(static_cast<size_t>(depth * step * p.out[2]) * sizeof(T));
  }
  /// Calls f(window, matrix of columns) for runs of output rows; columns are gathered from `image` unless it is null.
  template <class F>
  void for_blocks(const T* image, T* cols, const F& f) const {
    for (int64_t first = 0; first < rows; first += plain ? rows : step) {
      const WindowColumns w{p, first, plain ? rows : std::min(rows, first + step)};
      if (image != nullptr && !plain) {
        at::parallel_for(
            0, channels, std::max<int64_t>(1, 16384 / std::max<int64_t>(1, w.width() * p.kernel_size())),
            [&](int64_t begin, int64_t end) {
              for (int64_t c = begin; c < end; ++c) {
                w.gather(image, c, cols);
              }
            });
      }
      f(w, Matrix<const T>{plain ? image : cols, plain ? p.in_size() : w.width(), 1});
    }
  }
};

/// Runs f(image, group, scratch) for all images and groups: over threads when there are enough of them.
template <class T, class F>
void for_images(const ConvProblem& p, const F& f) {
  const Columns<T> columns{p};
  const int64_t tasks = p.batch * p.groups;
  const auto run = [&](int64_t begin, int64_t end) {
    const c10::DataPtr scratch = columns.buffer();
    for (int64_t t = begin; t < end; ++t) {
      f(columns, t / p.groups, t % p.groups, static_cast<T*>(scratch.get()));
    }
  };
  if (tasks >= at::get_num_threads()) {
    at::parallel_for(0, tasks, 1, run);
  } else {
    run(0, tasks);
  }
}

/// A convolution that is a product of each image, weight (rows x depth) times image (depth x pixels), whose pixels do
/// not fill vectors: those that are left of all images fill some together.
template <class T>
class LeftPixels {
 public:
  explicit LeftPixels(const ConvProblem& p) : batch_(p.batch), pixels_(p.in_size()) {
    if constexpr (std::is_floating_point_v<T>) {
      constexpr int64_t kLanes = gemm_detail::kLanes<T>, kMostPixels = 64 * kLanes; // of more, few are left
      const int64_t left = p.in_size() % kLanes;
      if (!p.is_product() || p.groups != 1 || p.in_size() < kLanes || p.in_size() > kMostPixels ||
          p.batch * left < kLanes) {
        return;
      }
      left_ = left;
    }
  }

  /// Pixels of each image that fill vectors, or all of them.
  int64_t filling() const {
    return pixels_ - left_;
  }

  /// The products of the others.
  void run(const Matrix<const T>& weight, int64_t rows, int64_t depth, const T* src, const T* bias, T* dst) const {
    if (left_ == 0) {
      return;
    }
    const int64_t width = batch_ * left_;
    const c10::DataPtr scratch =
        c10::GetCPUAllocator()->allocate(static_cast<size_t>((depth + rows) * width) * sizeof(T));
    T* const from = static_cast<T*>(scratch.get());
    T* const to = from + depth * width;
    const auto for_pixels = [&](int64_t channels, const auto& f) {
      at::parallel_for(0, channels, at::divup(at::internal::GRAIN_SIZE, width), [&](int64_t begin, int64_t end) {
        for (int64_t n = 0; n < batch_; ++n) {
          for (int64_t c = begin; c < end; ++c) {
            f(c, (n * channels + c) * pixels_ + filling(), c * width + n * left_);
          }
        }
      });
    };
    for_pixels(depth, [&](int64_t, int64_t pixel, int64_t place) { std::copy_n(src + pixel, left_, from + place); });
    Gemm<T> product;
    product.m = rows;
    product.n = width;
    product.k = depth;
    product.a = weight;
    product.b = {from, width, 1};
    product.c = {to, width, 1};
    gemm(product);
    for_pixels(rows, [&](int64_t c, int64_t pixel, int64_t place) {
      const T start = bias == nullptr ? T(0) : bias[c];
      for (int64_t i = 0; i < left_; ++i) {
        dst[pixel + i] = to[place + i] + start;
      }
    });
  }

 private:
  const int64_t batch_, pixels_;
  int64_t left_ = 0;
};

template <class T>
void forward(const ConvProblem& p, const T* src, const T* weight, const T* bias, T* dst) {
  const int64_t outs = p.out_channels / p.groups;
  const LeftPixels<T> left(p);
  for_images<T>(p, [&](const Columns<T>& columns, int64_t n, int64_t g, T* scratch) {
    const T* image = src + (n * p.in_channels + g * columns.channels) * p.in_size();
    T* result = dst + (n * p.out_channels + g * outs) * p.out_size();
    columns.for_blocks(image, scratch, [&](const WindowColumns& w, Matrix<const T> cols) {
      Gemm<T> product;
      product.m = outs;
      product.n = columns.plain ? left.filling() : w.width();
      product.k = columns.depth;
      product.a = {weight + g * outs * columns.depth, columns.depth, 1};
      product.b = cols;
      product.c = {result + w.first * p.out[2], p.out_size(), 1};
      gemm(product);
      if (bias == nullptr) {
        return;
      }
      // The result is still in the cache.
      for (int64_t c = 0; c < outs; ++c) {
        T* row = product.c.data + c * p.out_size();
        for (int64_t i = 0; i < product.n; ++i) {
          row[i] = pointwise::add(row[i], bias[g * outs + c]);
        }
      }
    });
  });
  left.run({weight, p.in_channels, 1}, p.out_channels, p.in_channels, src, bias, dst);
}

template <class T>
void backward_data(const ConvProblem& p, const T* dst, const T* weight, T* src) {
  const int64_t outs = p.out_channels / p.groups;
  const LeftPixels<T> left(p);
  if (!p.is_product()) {
    std::fill(src, src + p.batch * p.in_channels * p.in_size(), T(0));
  }
  for_images<T>(p, [&](const Columns<T>& columns, int64_t n, int64_t g, T* scratch) {
    T* image = src + (n * p.in_channels + g * columns.channels) * p.in_size();
    const T* grad = dst + (n * p.out_channels + g * outs) * p.out_size();
    columns.for_blocks(nullptr, scratch, [&](const WindowColumns& w, Matrix<const T>) {
      Gemm<T> product;
      product.m = columns.depth;
      product.n = columns.plain ? left.filling() : w.width();
      product.k = outs;
      product.a = {weight + g * outs * columns.depth, 1, columns.depth, c10::is_complex<T>::value};
      product.b = {grad + w.first * p.out[2], p.out_size(), 1};
      product.c = {columns.plain ? image : scratch, w.width(), 1};
      gemm(product);
      if (columns.plain) {
        return;
      }
      at::parallel_for(
          0, columns.channels, std::max<int64_t>(1, 16384 / std::max<int64_t>(1, w.width() * p.kernel_size())),
          [&](int64_t begin, int64_t end) {
            for (int64_t c = begin; c < end; ++c) {
              w.scatter(scratch, c, image);
            }
          });
    });
  });
  left.run({weight, 1, p.in_channels}, p.in_channels, p.out_channels, dst, nullptr, src);
}

template <class T>
void backward_weight(const ConvProblem& p, const T* src, const T* dst, T* weight) {
  const Columns<T> columns{p};
  const int64_t outs = p.out_channels / p.groups;
  std::fill(weight, weight + p.out_channels * columns.depth, T(0));
  const auto run = [&](int64_t begin, int64_t end) {
    const c10::DataPtr scratch = columns.buffer();
    for (int64_t i = begin * p.batch; i < end * p.batch; ++i) {
      const int64_t g = i / p.batch, n = i % p.batch;
      const T* image = src + (n * p.in_channels + g * columns.channels) * p.in_size();
      const T* grad = dst + (n * p.out_channels + g * outs) * p.out_size();
      columns.for_blocks(image, static_cast<T*>(scratch.get()), [&](const WindowColumns& w, Matrix<const T> cols) {
        Gemm<T> product;
        product.m = outs;
        product.n = columns.depth;
        product.k = w.width();
        product.a = {grad + w.first * p.out[2], p.out_size(), 1};
        product.b = cols.transposed();
        product.b.conj = c10::is_complex<T>::value;
        product.c = {weight + g * outs * columns.depth, columns.depth, 1};
        product.beta = typename Gemm<T>::Factor(1);
        gemm(product);
      });
    }
  };
  // The images of a group are added in their order, whatever the number of threads.
  if (p.groups >= at::get_num_threads()) {
    at::parallel_for(0, p.groups, 1, run);
  } else {
    run(0, p.groups);
  }
}

/// The windows of im2col and col2im as a convolution's.
ConvProblem windows_2d(
    const TensorBase& image, IntArrayRef kernel, IntArrayRef dilation, IntArrayRef padding, IntArrayRef stride) {
  ConvProblem p;
  const int64_t rank = image.dim();
  p.dtype = image.scalar_type();
  p.batch = rank == 4 ? image.size(0) : 1;
  p.in_channels = image.size(rank - 3);
  for (int d = 0; d < 2; ++d) {
    p.in[d + 1] = image.size(rank - 2 + d);
    p.kernel[d + 1] = kernel[d];
    p.dilation[d + 1] = dilation[d];
    p.padding[d + 1] = padding[d];
    p.out[d + 1] = (p.in[d + 1] + 2 * padding[d] - dilation[d] * (kernel[d] - 1) - 1) / stride[d] + 1;
    // Where there is one window, nothing is ever moved by the stride, which may be any number.
    p.stride[d + 1] = p.out[d + 1] == 1 ? 1 : stride[d];
  }
  return p;
}

/// f(window, image index, channel) for all channels of all images.
template <class F>
void for_channels(const ConvProblem& p, const F& f) {
  const WindowColumns w{p, 0, p.out[0] * p.out[1]};
  at::parallel_for(
      0, p.batch * p.in_channels, std::max<int64_t>(1, 32768 / std::max<int64_t>(1, w.width() * p.kernel_size())),
      [&](int64_t begin, int64_t end) {
        for (int64_t c = begin; c < end; ++c) {
          f(w, c / p.in_channels, c % p.in_channels);
        }
      });
}

} // namespace

void conv_forward_columns(const ConvProblem& p, const void* src, const void* weight, const void* bias, void* dst) {
  dispatch("convolution", p.dtype, kColumnDtypes, [&]<class T> {
    forward(
        p, static_cast<const T*>(src), static_cast<const T*>(weight), static_cast<const T*>(bias),
        static_cast<T*>(dst));
  });
}

void conv_backward_data_columns(const ConvProblem& p, const void* dst, const void* weight, void* src) {
  dispatch("convolution_backward", p.dtype, kColumnDtypes, [&]<class T> {
    backward_data(p, static_cast<const T*>(dst), static_cast<const T*>(weight), static_cast<T*>(src));
  });
}

void conv_backward_weight_columns(const ConvProblem& p, const void* src, const void* dst, void* weight) {
  dispatch("convolution_backward", p.dtype, kColumnDtypes, [&]<class T> {
    backward_weight(p, static_cast<const T*>(src), static_cast<const T*>(dst), static_cast<T*>(weight));
  });
}

void im2col_kernel(
    const TensorBase& self,
    IntArrayRef kernel_size,
    IntArrayRef dilation,
    IntArrayRef padding,
    IntArrayRef stride,
    const TensorBase& out) {
  const TensorBase image = self.contiguous();
  const ConvProblem p = windows_2d(image, kernel_size, dilation, padding, stride);
  dispatch("im2col_out_cpu", p.dtype, kFloating | kComplex | kBooleans, [&]<class T> {
    const T* from = image.const_data_ptr<T>();
    T* to = out.mutable_data_ptr<T>();
    for_channels(p, [&](const WindowColumns& w, int64_t n, int64_t c) {
      w.gather(from + n * p.in_channels * p.in_size(), c, to + n * p.in_channels * p.kernel_size() * w.width());
    });
  });
}

void col2im_kernel(
    const TensorBase& self,
    IntArrayRef,
    IntArrayRef kernel_size,
    IntArrayRef dilation,
    IntArrayRef padding,
    IntArrayRef stride,
    const TensorBase& out) {
  const TensorBase columns = self.contiguous();
  const ConvProblem p = windows_2d(out, kernel_size, dilation, padding, stride);
  dispatch("col2im_out_cpu", p.dtype, kFloating | kComplex | kBooleans, [&]<class T> {
    const T* from = columns.const_data_ptr<T>();
    T* to = out.mutable_data_ptr<T>();
    std::fill(to, to + out.numel(), T(0));
    for_channels(p, [&](const WindowColumns& w, int64_t n, int64_t c) {
      w.scatter(from + n * p.in_channels * p.kernel_size() * w.width(), c, to + n * p.in_channels * p.in_size());
    });
  });
}

} // namespace CPU_CAPABILITY
} // namespace at::native
