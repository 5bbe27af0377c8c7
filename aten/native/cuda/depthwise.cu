// Depthwise convolution: with one input channel to a group there is no product of matrices to speak of, and memory is what
// it costs.
#include <aten/native/cuda/columns.h>

#include <aten/native/cuda/digits.cuh>
#include <aten/native/cuda/dtype_cases.cuh>
#include <aten/native/cuda/memory_access.cuh>
#include <aten/native/cuda/team.cuh>
#include <c10/cuda/CUDAException.h>

#include <algorithm>

namespace at::native::cuda {

namespace {

constexpr int kThreads = 256;

/// Of a channel.
HOST_DEVICE inline std::int64_t weights_of(const Depthwise& p) {
  return std::int64_t{p.dim[0].kernel} * p.dim[1].kernel * p.dim[2].kernel;
}

// The channels of `pixels`, and of `result`, begin at number first_channel; those of `image` and `weight` at 0.
template <class T>
__global__ void __launch_bounds__(kThreads)
    depthwise_forward(Depthwise p, Pixels pixels, int first_channel, const T* image, const T* weight, T* result) {
  using R = opmath_type<T>;
  const std::uint32_t i = blockIdx.x * kThreads + threadIdx.x;
  if (i >= pixels.count) {
    return;
  }
  const Pixels::Pixel o = pixels(i);
  const int channel = first_channel + o.c;
  const T* plane = image + p.image.plane(o.n, channel / p.multiplier);
  const T* own = weight + channel * weights_of(p);
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

// The channels of `pixels`, and of `image`, begin at number first_channel; those of `result` and `weight` at 0.
template <class T>
__global__ void __launch_bounds__(kThreads)
    depthwise_backward_image(Depthwise p, Pixels pixels, int first_channel, const T* result, const T* weight, T* image) {
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
          const int channel = (first_channel + e.c) * p.multiplier + m;
          sum += widen(weight[channel * weights + k]) * widen(result[p.result.plane(e.n, channel) + p.result.inside(d, h, w)]);
        }
      }
    }
  }
  image[p.image.plane(e.n, e.c) + p.image.inside(e.at[0], e.at[1], e.at[2])] = narrow<T>(sum);
}

// A block makes one weight, from number `first` on: element k of the window of one channel, from all windows of all images.
template <class T>
__global__ void __launch_bounds__(kThreads)
    depthwise_backward_weight(Depthwise p, std::int64_t first, const T* image, const T* result, T* weight) {
  using R = opmath_type<T>;
  const std::int64_t weights = weights_of(p), own = first + blockIdx.x;
  const int channel = static_cast<int>(own / weights);
  const Digits k = Radix{{1, p.dim[0].kernel, p.dim[1].kernel, p.dim[2].kernel}}.digits(own % weights);
  image += p.image.plane(0, channel / p.multiplier);
  result += p.result.plane(0, channel);
  // Windows are counted as images and coordinates: there may be more of them than 32 bits can number.
  const Radix windows{{p.result.batch, p.result.size[0], p.result.size[1], p.result.size[2]}};
  const Digits step = windows.digits(kThreads);
  R sum = 0;
  for (Digits o = windows.digits(static_cast<int>(threadIdx.x)); windows.contains(o); windows.advance(o, step)) {
    const int d = p.dim[0].element(o.x[1], k.x[1]), h = p.dim[1].element(o.x[2], k.x[2]), w = p.dim[2].element(o.x[3], k.x[3]);
    if (d >= 0 && d < p.image.size[0] && h >= 0 && h < p.image.size[1] && w >= 0 && w < p.image.size[2]) {
      sum += widen(image[p.image.plane(o.x[0], 0) + p.image.inside(d, h, w)]) *
          widen(result[p.result.plane(o.x[0], 0) + p.result.inside(o.x[1], o.x[2], o.x[3])]);
    }
  }
  sum = Team<true>::reduce(sum, Add());
  if (threadIdx.x == 0) {
    weight[own] = narrow<T>(sum);
  }
}

} // namespace

void launch_depthwise(const Depthwise& p, const void* image, const void* weight, void* result) {
  FloatingTypes::call(p.dtype, [&](auto type) {
    using T = decltype(type);
    each_part(p.result, p.most, [&](const ImagePart& part) {
      depthwise_forward<T><<<blocks_of(part.pixels.count, kThreads), kThreads, 0, p.stream>>>(
          p, part.pixels, part.c, static_cast<const T*>(image) + p.image.plane(part.n, 0), static_cast<const T*>(weight),
          part.of(static_cast<T*>(result), p.result));
      C10_CUDA_KERNEL_LAUNCH_CHECK();
    });
  });
}

void launch_depthwise_backward_image(const Depthwise& p, const void* result, const void* weight, void* image) {
  FloatingTypes::call(p.dtype, [&](auto type) {
    using T = decltype(type);
    each_part(p.image, p.most, [&](const ImagePart& part) {
      depthwise_backward_image<T><<<blocks_of(part.pixels.count, kThreads), kThreads, 0, p.stream>>>(
          p, part.pixels, part.c, static_cast<const T*>(result) + p.result.plane(part.n, 0), static_cast<const T*>(weight),
          part.of(static_cast<T*>(image), p.image));
      C10_CUDA_KERNEL_LAUNCH_CHECK();
    });
  });
}

void launch_depthwise_backward_weight(const Depthwise& p, const void* image, const void* result, void* weight) {
  const std::int64_t weights = p.result.channels * weights_of(p);
  FloatingTypes::call(p.dtype, [&](auto type) {
    using T = decltype(type);
    for (std::int64_t first = 0; first < weights; first += p.most) {
      const auto blocks = static_cast<unsigned>(std::min(weights - first, p.most));
      depthwise_backward_weight<T><<<blocks, kThreads, 0, p.stream>>>(
          p, first, static_cast<const T*>(image), static_cast<const T*>(result), static_cast<T*>(weight));
      C10_CUDA_KERNEL_LAUNCH_CHECK();
    }
  });
}

} // namespace at::native::cuda
