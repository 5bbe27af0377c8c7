#include <aten/native/cuda/im2col.h>

#include <aten/native/cuda/dtype_cases.cuh>
#include <aten/native/cuda/memory_access.cuh>
#include <c10/cuda/CUDAException.h>

namespace at::native::cuda {

namespace {

constexpr int kThreads = 256;

// A thread takes one window of one channel. Its neighbours take the windows beside it, so what they read and write lies
// close together.
template <class W>
__global__ void __launch_bounds__(kThreads) gather_columns(Columns p, Pixels windows, const W* image, W* columns) {
  const std::uint32_t i = blockIdx.x * kThreads + threadIdx.x;
  if (i >= windows.count) {
    return;
  }
  const Pixels::Pixel o = windows(i);
  const W* plane = image + p.image.plane(o.n, o.c);
  const std::int64_t elements = std::int64_t{p.dim[0].kernel} * p.dim[1].kernel * p.dim[2].kernel;
  W* to = columns + o.n * p.of_batch + o.c * elements * p.of_row +
      (std::int64_t{o.at[0]} * p.dim[1].out + o.at[1]) * p.dim[2].out + o.at[2];
  for (int a = 0; a < p.dim[0].kernel; ++a) {
    const int d = p.dim[0].element(o.at[0], a);
    const bool in_depth = d >= 0 && d < p.image.size[0];
    for (int b = 0; b < p.dim[1].kernel; ++b) {
      const int h = p.dim[1].element(o.at[1], b);
      const bool in_row = in_depth && h >= 0 && h < p.image.size[1];
      for (int c = 0; c < p.dim[2].kernel; ++c) {
        const int w = p.dim[2].element(o.at[2], c);
        *to = in_row && w >= 0 && w < p.image.size[2] ? plane[p.image.inside(d, h, w)] : W();
        to += p.of_row;
      }
    }
  }
}

template <class T>
__global__ void __launch_bounds__(kThreads) sum_columns(Columns p, Pixels pixels, const T* columns, T* image) {
  using R = opmath_type<T>;
  const std::uint32_t i = blockIdx.x * kThreads + threadIdx.x;
  if (i >= pixels.count) {
    return;
  }
  const Pixels::Pixel e = pixels(i);
  const std::int64_t elements = std::int64_t{p.dim[0].kernel} * p.dim[1].kernel * p.dim[2].kernel;
  const T* from = columns + e.n * p.of_batch + e.c * elements * p.of_row;
  R sum = R(0);
  for (int a = 0; a < p.dim[0].kernel; ++a) {
    const int d = p.dim[0].window(e.at[0], a);
    for (int b = 0; d >= 0 && b < p.dim[1].kernel; ++b) {
      const int h = p.dim[1].window(e.at[1], b);
      for (int c = 0; h >= 0 && c < p.dim[2].kernel; ++c) {
        const int w = p.dim[2].window(e.at[2], c);
        if (w >= 0) {
          const std::int64_t row = (std::int64_t{a} * p.dim[1].kernel + b) * p.dim[2].kernel + c;
          sum += widen(from[row * p.of_row + (std::int64_t{d} * p.dim[1].out + h) * p.dim[2].out + w]);
        }
      }
    }
  }
  image[p.image.plane(e.n, e.c) + p.image.inside(e.at[0], e.at[1], e.at[2])] = narrow<T>(sum);
}

/// Where the columns of a part's images and channels begin.
std::int64_t first_column(const Columns& p, const ImagePart& part) {
  const std::int64_t elements = std::int64_t{p.dim[0].kernel} * p.dim[1].kernel * p.dim[2].kernel;
  return part.n * p.of_batch + part.c * elements * p.of_row;
}

} // namespace

void launch_gather_columns(const Columns& p, std::size_t size, const void* image, void* columns) {
  Image windows = p.image;
  for (int d = 0; d < 3; ++d) {
    windows.size[d] = p.dim[d].out;
    windows.of[d] = 1; // numbered with windows fastest, whatever the image's layout
  }
  with_word(size, [&](auto word) {
    using W = decltype(word);
    each_part(windows, kMostPixels, [&](const ImagePart& part) {
      gather_columns<W><<<blocks_of(part.pixels.count, kThreads), kThreads, 0, p.stream>>>(
          p, part.pixels, part.of(static_cast<const W*>(image), p.image),
          static_cast<W*>(columns) + first_column(p, part));
      C10_CUDA_KERNEL_LAUNCH_CHECK();
    });
  });
}

void launch_sum_columns(const Columns& p, c10::ScalarType dtype, const void* columns, void* image) {
  FloatingOrComplexTypes::call(dtype, [&](auto type) {
    using T = decltype(type);
    each_part(p.image, kMostPixels, [&](const ImagePart& part) {
      sum_columns<T><<<blocks_of(part.pixels.count, kThreads), kThreads, 0, p.stream>>>(
          p, part.pixels, static_cast<const T*>(columns) + first_column(p, part),
          part.of(static_cast<T*>(image), p.image));
      C10_CUDA_KERNEL_LAUNCH_CHECK();
    });
  });
}

} // namespace at::native::cuda
