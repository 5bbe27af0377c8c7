// Depthwise convolution: with one input channel to a group there is no product of matrices to speak of, and memory is
// what it should cost. Kernels for any windows take an element at a time, and spend their time on finding positions. So
// square windows of the usual sizes in two dimensions have kernels of their own.
#include <aten/native/cuda/im2col.h>

#include <aten/native/cuda/dtype_cases.cuh>
#include <aten/native/cuda/index_decompose.cuh>
#include <aten/native/cuda/memory_access.cuh>
#include <aten/native/cuda/thread_group.cuh>
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
__global__ void __launch_bounds__(kThreads) depthwise_backward_image(
    Depthwise p, Pixels pixels, int first_channel, const T* result, const T* weight, T* image) {
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
          sum += widen(weight[channel * weights + k]) *
              widen(result[p.result.plane(e.n, channel) + p.result.inside(d, h, w)]);
        }
      }
    }
  }
  image[p.image.plane(e.n, e.c) + p.image.inside(e.at[0], e.at[1], e.at[2])] = narrow<T>(sum);
}

// A block makes one weight, from number `first` on: element k of the window of one channel, from all windows of all
// images.
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
    const int d = p.dim[0].element(o.x[1], k.x[1]), h = p.dim[1].element(o.x[2], k.x[2]),
              w = p.dim[2].element(o.x[3], k.x[3]);
    if (d >= 0 && d < p.image.size[0] && h >= 0 && h < p.image.size[1] && w >= 0 && w < p.image.size[2]) {
      sum += widen(image[p.image.plane(o.x[0], 0) + p.image.inside(d, h, w)]) *
          widen(result[p.result.plane(o.x[0], 0) + p.result.inside(o.x[1], o.x[2], o.x[3])]);
    }
  }
  sum = ThreadGroup<true>::reduce(sum, Add());
  if (threadIdx.x == 0) {
    weight[own] = narrow<T>(sum);
  }
}

// ---- square windows
// ------------------------------------------------------------------------------------------------------------

constexpr int kSide = 4; // results of a thread, side by side

/// The elements of a result, kSide of them counted as one.
Image in_groups(const Image& result) {
  Image groups = result;
  groups.size[2] = (result.size[2] + kSide - 1) / kSide;
  return groups;
}

// An element of a row serves all results of the thread that it meets. With kFlipped the weights come in the opposite
// order.
template <class T, int kKernel, int kStride, bool kFlipped>
__global__ void __launch_bounds__(kThreads)
    depthwise_squares(Depthwise p, Pixels groups, int first_channel, const T* image, const T* weight, T* result) {
  using R = opmath_type<T>;
  constexpr int kElements = (kSide - 1) * kStride + kKernel;
  const std::uint32_t i = blockIdx.x * kThreads + threadIdx.x;
  if (i >= groups.count) {
    return;
  }
  const Pixels::Pixel o = groups(i);
  const int channel = first_channel + o.c, first = o.at[2] * kSide;
  const int left = p.dim[2].element(first, 0);
  const T* plane = image + p.image.plane(o.n, channel / p.multiplier) + left * p.image.of[2];
  const T* own = weight + std::int64_t{channel} * (kKernel * kKernel);
  R sums[kSide] = {};
#pragma unroll
  for (int b = 0; b < kKernel; ++b) {
    const int h = p.dim[1].element(o.at[1], b);
    const bool in_row = h >= 0 && h < p.image.size[1];
    const T* from = plane + h * p.image.of[1];
    R row[kElements];
#pragma unroll
    for (int j = 0; j < kElements; ++j, from += p.image.of[2]) {
      row[j] = in_row && static_cast<unsigned>(left + j) < static_cast<unsigned>(p.image.size[2]) ? widen(*from) : R(0);
    }
#pragma unroll
    for (int c = 0; c < kKernel; ++c) {
      const int k = b * kKernel + c;
      const R factor = widen(own[kFlipped ? kKernel * kKernel - 1 - k : k]);
#pragma unroll
      for (int s = 0; s < kSide; ++s) {
        sums[s] += factor * row[s * kStride + c];
      }
    }
  }
  T* to = result + p.result.plane(o.n, o.c) + p.result.inside(0, o.at[1], first);
#pragma unroll
  for (int s = 0; s < kSide; ++s, to += p.result.of[2]) {
    if (first + s < p.result.size[2]) {
      *to = narrow<T>(sums[s]);
    }
  }
}

// A block makes the weights of a channel.
template <class T, int kKernel>
__global__ void __launch_bounds__(kThreads)
    depthwise_backward_square(Depthwise p, const T* image, const T* result, T* weight) {
  using R = opmath_type<T>;
  const int channel = static_cast<int>(blockIdx.x);
  image += p.image.plane(0, channel / p.multiplier);
  result += p.result.plane(0, channel);
  const Radix windows{{p.result.batch, 1, p.result.size[1], p.result.size[2]}};
  const Digits step = windows.digits(kThreads);
  R sums[kKernel * kKernel] = {};
  for (Digits o = windows.digits(static_cast<int>(threadIdx.x)); windows.contains(o); windows.advance(o, step)) {
    const R grad = widen(result[p.result.plane(o.x[0], 0) + p.result.inside(0, o.x[2], o.x[3])]);
    const T* plane = image + p.image.plane(o.x[0], 0);
#pragma unroll
    for (int b = 0; b < kKernel; ++b) {
      const int h = p.dim[1].element(o.x[2], b);
      const bool in_row = h >= 0 && h < p.image.size[1];
      const T* row = plane + h * p.image.of[1];
#pragma unroll
      for (int c = 0; c < kKernel; ++c) {
        const int w = p.dim[2].element(o.x[3], c);
        if (in_row && w >= 0 && w < p.image.size[2]) {
          sums[b * kKernel + c] += grad * widen(row[w * p.image.of[2]]);
        }
      }
    }
  }
  constexpr int kWarps = kThreads / 32;
  __shared__ R parts[kKernel * kKernel][kWarps];
#pragma unroll
  for (int k = 0; k < kKernel * kKernel; ++k) {
    const R sum = ThreadGroup<false>::reduce(sums[k], Add());
    if (threadIdx.x % 32 == 0) {
      parts[k][threadIdx.x / 32] = sum;
    }
  }
  __syncthreads();
  const int own = static_cast<int>(threadIdx.x);
  if (own < kKernel * kKernel) {
    R sum = parts[own][0];
#pragma unroll
    for (int warp = 1; warp < kWarps; ++warp) {
      sum += parts[own][warp];
    }
    weight[std::int64_t{channel} * (kKernel * kKernel) + own] = narrow<T>(sum);
  }
}

template <int kValue>
struct Constant {
  static constexpr int value = kValue;
};

/// use(Constant<size>()) for windows that have such kernels; false for others.
template <class F>
bool with_square(const Depthwise& p, F use) {
  const bool flat = p.dim[0].kernel == 1 && p.dim[0].padding == 0 && p.image.size[0] == 1 && p.result.size[0] == 1;
  if (!flat || p.dim[1].kernel != p.dim[2].kernel || p.dtype == c10::ScalarType::Double) {
    return false;
  }
  switch (p.dim[1].kernel) {
    case 3:
      return use(Constant<3>());
    case 5:
      return use(Constant<5>());
    case 7:
      return use(Constant<7>());
    default:
      return false;
  }
}

using SquareTypes = OneTypeOf<c10::Half, c10::BFloat16, float>;

template <class T, int kKernel, int kStride, bool kFlipped>
void launch_squares(const Depthwise& p, const void* image, const void* weight, void* result) {
  each_part(in_groups(p.result), p.most, [&](const ImagePart& part) {
    depthwise_squares<T, kKernel, kStride, kFlipped><<<blocks_of(part.pixels.count, kThreads), kThreads, 0, p.stream>>>(
        p, part.pixels, part.c, static_cast<const T*>(image) + p.image.plane(part.n, 0), static_cast<const T*>(weight),
        part.of(static_cast<T*>(result), p.result));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  });
}

bool squares(const Depthwise& p, const void* image, const void* weight, void* result) {
  return with_square(p, [&](auto kernel) {
    constexpr int kKernel = decltype(kernel)::value;
    const int stride = p.dim[2].stride;
    if (p.dim[2].dilation != 1 || stride > 2) {
      return false;
    }
    SquareTypes::call(p.dtype, [&](auto type) {
      using T = decltype(type);
      stride == 1 ? launch_squares<T, kKernel, 1, false>(p, image, weight, result)
                  : launch_squares<T, kKernel, 2, false>(p, image, weight, result);
    });
    return true;
  });
}

/// With steps of one the gradient of the image is a convolution of that of the result, by the flipped weights.
bool squares_backward_image(const Depthwise& p, const void* result, const void* weight, void* image) {
  return with_square(p, [&](auto kernel) {
    constexpr int kKernel = decltype(kernel)::value;
    Depthwise back = p;
    for (int d = 1; d < 3; ++d) {
      if (p.dim[d].stride != 1 || p.dim[d].dilation != 1) {
        return false;
      }
      back.dim[d].padding = kKernel - 1 - p.dim[d].padding;
    }
    if (p.multiplier != 1) {
      return false;
    }
    back.image = p.result;
    back.result = p.image;
    SquareTypes::call(
        p.dtype, [&](auto type) { launch_squares<decltype(type), kKernel, 1, true>(back, result, weight, image); });
    return true;
  });
}

bool squares_backward_weight(const Depthwise& p, const void* image, const void* result, void* weight) {
  return with_square(p, [&](auto kernel) {
    constexpr int kKernel = decltype(kernel)::value;
    SquareTypes::call(p.dtype, [&](auto type) {
      using T = decltype(type);
      depthwise_backward_square<T, kKernel><<<static_cast<unsigned>(p.result.channels), kThreads, 0, p.stream>>>(
          p, static_cast<const T*>(image), static_cast<const T*>(result), static_cast<T*>(weight));
      C10_CUDA_KERNEL_LAUNCH_CHECK();
    });
    return true;
  });
}

} // namespace

void launch_depthwise(const Depthwise& p, const void* image, const void* weight, void* result) {
  if (squares(p, image, weight, result)) {
    return;
  }
  FloatingTypes::call(p.dtype, [&](auto type) {
    using T = decltype(type);
    each_part(p.result, p.most, [&](const ImagePart& part) {
      depthwise_forward<T><<<blocks_of(part.pixels.count, kThreads), kThreads, 0, p.stream>>>(
          p, part.pixels, part.c, static_cast<const T*>(image) + p.image.plane(part.n, 0),
          static_cast<const T*>(weight), part.of(static_cast<T*>(result), p.result));
      C10_CUDA_KERNEL_LAUNCH_CHECK();
    });
  });
}

void launch_depthwise_backward_image(const Depthwise& p, const void* result, const void* weight, void* image) {
  if (squares_backward_image(p, result, weight, image)) {
    return;
  }
  FloatingTypes::call(p.dtype, [&](auto type) {
    using T = decltype(type);
    each_part(p.image, p.most, [&](const ImagePart& part) {
      depthwise_backward_image<T><<<blocks_of(part.pixels.count, kThreads), kThreads, 0, p.stream>>>(
          p, part.pixels, part.c, static_cast<const T*>(result) + p.result.plane(part.n, 0),
          static_cast<const T*>(weight), part.of(static_cast<T*>(image), p.image));
      C10_CUDA_KERNEL_LAUNCH_CHECK();
    });
  });
}

void launch_depthwise_backward_weight(const Depthwise& p, const void* image, const void* result, void* weight) {
  if (squares_backward_weight(p, image, result, weight)) {
    return;
  }
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
