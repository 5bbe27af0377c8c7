// Depthwise convolution: with one input channel to a group there is no product of matrices to speak of, and memory is what
// it costs.
#include <aten/native/cuda/columns.h>

#include <aten/native/cuda/dtype_cases.cuh>
#include <aten/native/cuda/memory_access.cuh>
#include <aten/native/cuda/team.cuh>
#include <c10/cuda/CUDAException.h>

namespace at::native::cuda {

namespace {

constexpr int kThreads = 256;

__device__ std::int64_t weights_of(const Depthwise& p) {
  return std::int64_t{p.dim[0].kernel} * p.dim[1].kernel * p.dim[2].kernel;
}

template <class T>
__global__ void __launch_bounds__(kThreads)
    depthwise_forward(Depthwise p, Pixels pixels, const T* image, const T* weight, T* result) {
  using R = opmath_type<T>;
  const std::uint32_t i = blockIdx.x * kThreads + threadIdx.x;
  if (i >= pixels.count) {
    return;
  }
  const Pixels::Pixel o = pixels(i);
  const T* plane = image + p.image.plane(o.n, o.c / p.multiplier);
  const T* own = weight + o.c * weights_of(p);
  R sum = 0;
  for (int a = 0; a < p.dim[0].kernel; ++a) {
    const int d = p.dim[0].element(o.at[0], a);
    const bool in_depth = d >= 0 && d < p.image.size[0];
    for (int b = 0; b < p.dim[1].kernel; ++b) {
      const int h = p.dim[1].element(o.at[1], b);
      const bool in_row = in_depth && h >= 0 && h < p.image.size[1];
      for (int c = 0; c < p.dim[2].kernel; ++c, ++own) {
        const int w = p.dim[2].element(o.at[2], c);
        if (in_row && w >= 0 && w < p.image.size[2]) {
          sum += widen(*own) * widen(plane[p.image.inside(d, h, w)]);
        }
      }
    }
  }
  result[p.result.plane(o.n, o.c) + p.result.inside(o.at[0], o.at[1], o.at[2])] = narrow<T>(sum);
}

template <class T>
__global__ void __launch_bounds__(kThreads)
    depthwise_backward_image(Depthwise p, Pixels pixels, const T* result, const T* weight, T* image) {
  using R = opmath_type<T>;
  const std::uint32_t i = blockIdx.x * kThreads + threadIdx.x;
  if (i >= pixels.count) {
    return;
  }
  const Pixels::Pixel e = pixels(i);
  const std::int64_t weights = weights_of(p);
  R sum = 0;
  for (int a = 0; a < p.dim[0].kernel; ++a) {
    const int d = p.dim[0].window(e.at[0], a);
    for (int b = 0; d >= 0 && b < p.dim[1].kernel; ++b) {
      const int h = p.dim[1].window(e.at[1], b);
      for (int c = 0; h >= 0 && c < p.dim[2].kernel; ++c) {
        const int w = p.dim[2].window(e.at[2], c);
        if (w < 0) {
          continue;
        }
        const std::int64_t k = (std::int64_t{a} * p.dim[1].kernel + b) * p.dim[2].kernel + c;
        for (int m = 0; m < p.multiplier; ++m) {
          const int channel = e.c * p.multiplier + m;
          sum += widen(weight[channel * weights + k]) * widen(result[p.result.plane(e.n, channel) + p.result.inside(d, h, w)]);
        }
      }
    }
  }
  image[p.image.plane(e.n, e.c) + p.image.inside(e.at[0], e.at[1], e.at[2])] = narrow<T>(sum);
}

// A block makes one weight: element k of the window of one channel, from all windows of all images.
template <class T>
__global__ void __launch_bounds__(kThreads)
    depthwise_backward_weight(Depthwise p, Pixels windows, const T* image, const T* result, T* weight) {
  using R = opmath_type<T>;
  const std::int64_t weights = weights_of(p);
  const int channel = static_cast<int>(blockIdx.x / weights), k = static_cast<int>(blockIdx.x % weights);
  const int c = k % p.dim[2].kernel, b = k / p.dim[2].kernel % p.dim[1].kernel, a = k / p.dim[2].kernel / p.dim[1].kernel;
  R sum = 0;
  for (std::uint32_t i = threadIdx.x; i < windows.count; i += kThreads) {
    const Pixels::Pixel o = windows(i);
    const int d = p.dim[0].element(o.at[0], a), h = p.dim[1].element(o.at[1], b), w = p.dim[2].element(o.at[2], c);
    if (d >= 0 && d < p.image.size[0] && h >= 0 && h < p.image.size[1] && w >= 0 && w < p.image.size[2]) {
      sum += widen(image[p.image.plane(o.n, channel / p.multiplier) + p.image.inside(d, h, w)]) *
          widen(result[p.result.plane(o.n, channel) + p.result.inside(o.at[0], o.at[1], o.at[2])]);
    }
  }
  sum = Team<true>::reduce(sum, Add());
  if (threadIdx.x == 0) {
    weight[blockIdx.x] = narrow<T>(sum);
  }
}

} // namespace

void launch_depthwise(const Depthwise& p, const void* image, const void* weight, void* result) {
  const Pixels pixels = pixels_of(p.result);
  FloatingTypes::call(p.dtype, [&](auto type) {
    using T = decltype(type);
    depthwise_forward<T><<<blocks_of(pixels.count, kThreads), kThreads, 0, p.stream>>>(
        p, pixels, static_cast<const T*>(image), static_cast<const T*>(weight), static_cast<T*>(result));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  });
}

void launch_depthwise_backward_image(const Depthwise& p, const void* result, const void* weight, void* image) {
  const Pixels pixels = pixels_of(p.image);
  FloatingTypes::call(p.dtype, [&](auto type) {
    using T = decltype(type);
    depthwise_backward_image<T><<<blocks_of(pixels.count, kThreads), kThreads, 0, p.stream>>>(
        p, pixels, static_cast<const T*>(result), static_cast<const T*>(weight), static_cast<T*>(image));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  });
}

void launch_depthwise_backward_weight(const Depthwise& p, const void* image, const void* result, void* weight) {
  Image one_channel = p.result;
  one_channel.channels = 1;
  const Pixels windows = pixels_of(one_channel);
  const unsigned weights = static_cast<unsigned>(p.result.channels * p.dim[0].kernel * p.dim[1].kernel * p.dim[2].kernel);
  FloatingTypes::call(p.dtype, [&](auto type) {
    using T = decltype(type);
    depthwise_backward_weight<T><<<weights, kThreads, 0, p.stream>>>(
        p, windows, static_cast<const T*>(image), static_cast<const T*>(result), static_cast<T*>(weight));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  });
}

} // namespace at::native::cuda
