// One thread makes one element, also on the way back: an element gathers from the windows that cover it, so no sums
// race.
#include <aten/native/cuda/pool.h>

#include <aten/native/cuda/dtype_cases.cuh>
#include <aten/native/cuda/memory_access.cuh>
#include <c10/cuda/CUDAException.h>

#include <limits>

namespace at::native::cuda {

namespace {

constexpr int kThreads = 256;

using AvgTypes = OneTypeOf<std::int64_t, c10::Half, c10::BFloat16, float, double>;

/// The first element of window `o` of `d`, whose distances vary with `sample`; the last window ends with the input.
template <class R>
__device__ PoolDim::Window fractional_window(const PoolDim& d, std::int32_t o, R sample) {
  std::int64_t first = d.in - d.kernel;
  if (o + 1 < d.out) {
    const R alpha = static_cast<R>(d.in - d.kernel) / static_cast<R>(d.out - 1);
    const std::int64_t begin =
        static_cast<std::int64_t>((static_cast<R>(o) + sample) * alpha) - static_cast<std::int64_t>(sample * alpha);
    // Samples beyond [0, 1), which nobody should give, must not lead outside.
    first = begin < 0 ? 0 : begin < first ? begin : first;
  }
  return {static_cast<std::int32_t>(first), static_cast<std::int32_t>(first + d.kernel), d.kernel};
}

template <class T>
__device__ PoolDim::Window max_window(const MaxPool& p, const Pixels::Pixel& at, int d) {
  if constexpr (!std::is_integral_v<T>) {
    if (p.dim[d].kind == PoolDim::Fractional) {
      // Samples are given as (width, height), but (depth, height, width).
      const int own = p.sample_dims == 2 ? 2 - d : d;
      const T* samples = static_cast<const T*>(p.samples);
      const std::int64_t plane = std::int64_t{at.n} * p.sample_channels + at.c;
      return fractional_window(p.dim[d], at.at[d], widen(samples[plane * p.sample_dims + own]));
    }
  }
  return p.dim[d].window(at.at[d]);
}

template <class T>
__global__ void __launch_bounds__(kThreads)
    max_forward(MaxPool p, Pixels pixels, const T* x, T* y, std::int64_t* places) {
  using R = opmath_type<T>;
  const std::uint32_t i = blockIdx.x * kThreads + threadIdx.x;
  if (i >= pixels.count) {
    return;
  }
  const Pixels::Pixel o = pixels(i);
  const PoolDim::Window depth = max_window<T>(p, o, 0), height = max_window<T>(p, o, 1), width = max_window<T>(p, o, 2);
  const T* plane = x + p.x.plane(o.n, o.c);
  R best =
      std::numeric_limits<R>::has_infinity ? -std::numeric_limits<R>::infinity() : std::numeric_limits<R>::lowest();
  std::int64_t place = 0;
  bool none = true;
  for (int d = depth.first; d < depth.last; d += p.dim[0].dilation) {
    for (int h = height.first; h < height.last; h += p.dim[1].dilation) {
      for (int w = width.first; w < width.last; w += p.dim[2].dilation) {
        const R v = widen(plane[p.x.inside(d, h, w)]);
        if (none || v > best || v != v) {
          best = v;
          place = (std::int64_t{d} * p.x.size[1] + h) * p.x.size[2] + w;
          none = false;
        }
      }
    }
  }
  y[p.y.plane(o.n, o.c) + p.y.inside(o.at[0], o.at[1], o.at[2])] = narrow<T>(best);
  places[p.places.plane(o.n, o.c) + p.places.inside(o.at[0], o.at[1], o.at[2])] = place;
}

template <class T>
__global__ void __launch_bounds__(kThreads)
    max_backward(MaxPool p, Pixels pixels, const T* dy, const std::int64_t* places, T* dx) {
  using R = opmath_type<T>;
  const std::uint32_t i = blockIdx.x * kThreads + threadIdx.x;
  if (i >= pixels.count) {
    return;
  }
  const Pixels::Pixel e = pixels(i);
  const std::int64_t own = (std::int64_t{e.at[0]} * p.x.size[1] + e.at[1]) * p.x.size[2] + e.at[2];
  const PoolDim::Range depth = p.dim[0].windows_over(e.at[0]), height = p.dim[1].windows_over(e.at[1]),
                       width = p.dim[2].windows_over(e.at[2]);
  const T* grads = dy + p.y.plane(e.n, e.c);
  const std::int64_t* chosen = places + p.places.plane(e.n, e.c);
  R sum = 0;
  for (int d = depth.first; d <= depth.last; ++d) {
    for (int h = height.first; h <= height.last; ++h) {
      for (int w = width.first; w <= width.last; ++w) {
        if (chosen[p.places.inside(d, h, w)] == own) {
          sum += widen(grads[p.y.inside(d, h, w)]);
        }
      }
    }
  }
  dx[p.x.plane(e.n, e.c) + p.x.inside(e.at[0], e.at[1], e.at[2])] = narrow<T>(sum);
}

/// What the sum over three windows is divided by.
__device__ std::int64_t divisor_of(
    const AvgPool& p, const PoolDim::Window& d, const PoolDim::Window& h, const PoolDim::Window& w) {
  if (p.divisor != 0) {
    return p.divisor;
  }
  const std::int64_t count = p.count_padding ? d.extent * h.extent * w.extent
                                             : std::int64_t{d.last - d.first} * (h.last - h.first) * (w.last - w.first);
  return count > 0 ? count : 1; // nothing in a window: its sum is zero
}

template <class T>
__global__ void __launch_bounds__(kThreads) avg_forward(AvgPool p, Pixels pixels, const T* x, T* y) {
  using R = opmath_type<T>;
  const std::uint32_t i = blockIdx.x * kThreads + threadIdx.x;
  if (i >= pixels.count) {
    return;
  }
  const Pixels::Pixel o = pixels(i);
  const PoolDim::Window depth = p.dim[0].window(o.at[0]), height = p.dim[1].window(o.at[1]),
                        width = p.dim[2].window(o.at[2]);
  const T* plane = x + p.x.plane(o.n, o.c);
  R sum = 0;
  for (int d = depth.first; d < depth.last; ++d) {
    for (int h = height.first; h < height.last; ++h) {
      for (int w = width.first; w < width.last; ++w) {
        sum += widen(plane[p.x.inside(d, h, w)]);
      }
    }
  }
  y[p.y.plane(o.n, o.c) + p.y.inside(o.at[0], o.at[1], o.at[2])] =
      narrow<T>(sum / static_cast<R>(divisor_of(p, depth, height, width)));
}

__device__ bool covers(const PoolDim::Window& window, int i) {
  return window.first <= i && i < window.last;
}

template <class T>
__global__ void __launch_bounds__(kThreads) avg_backward(AvgPool p, Pixels pixels, const T* dy, T* dx) {
  using R = opmath_type<T>;
  const std::uint32_t i = blockIdx.x * kThreads + threadIdx.x;
  if (i >= pixels.count) {
    return;
  }
  const Pixels::Pixel e = pixels(i);
  const PoolDim::Range depth = p.dim[0].windows_over(e.at[0]), height = p.dim[1].windows_over(e.at[1]),
                       width = p.dim[2].windows_over(e.at[2]);
  const T* grads = dy + p.y.plane(e.n, e.c);
  R sum = 0;
  for (int d = depth.first; d <= depth.last; ++d) {
    const PoolDim::Window in_depth = p.dim[0].window(d);
    for (int h = height.first; h <= height.last; ++h) {
      const PoolDim::Window in_height = p.dim[1].window(h);
      for (int w = width.first; w <= width.last; ++w) {
        const PoolDim::Window in_width = p.dim[2].window(w);
        if (covers(in_depth, e.at[0]) && covers(in_height, e.at[1]) && covers(in_width, e.at[2])) {
          sum += widen(grads[p.y.inside(d, h, w)]) / static_cast<R>(divisor_of(p, in_depth, in_height, in_width));
        }
      }
    }
  }
  dx[p.x.plane(e.n, e.c) + p.x.inside(e.at[0], e.at[1], e.at[2])] = narrow<T>(sum);
}

} // namespace

void launch_max_pool(const MaxPool& p, const void* x, void* y, std::int64_t* places) {
  RealTypes::call(p.dtype, [&](auto type) {
    using T = decltype(type);
    each_part(p.y, p.most, [&](const ImagePart& part) {
      MaxPool own = p;
      if (p.samples != nullptr) {
        own.samples =
            static_cast<const T*>(p.samples) + (std::int64_t{part.n} * p.sample_channels + part.c) * p.sample_dims;
      }
      max_forward<T><<<blocks_of(part.pixels.count, kThreads), kThreads, 0, p.stream>>>(
          own, part.pixels, part.of(static_cast<const T*>(x), p.x), part.of(static_cast<T*>(y), p.y),
          part.of(places, p.places));
      C10_CUDA_KERNEL_LAUNCH_CHECK();
    });
  });
}

void launch_max_pool_backward(const MaxPool& p, const void* dy, const std::int64_t* places, void* dx) {
  RealTypes::call(p.dtype, [&](auto type) {
    using T = decltype(type);
    each_part(p.x, p.most, [&](const ImagePart& part) {
      max_backward<T><<<blocks_of(part.pixels.count, kThreads), kThreads, 0, p.stream>>>(
          p, part.pixels, part.of(static_cast<const T*>(dy), p.y), part.of(places, p.places),
          part.of(static_cast<T*>(dx), p.x));
      C10_CUDA_KERNEL_LAUNCH_CHECK();
    });
  });
}

void launch_avg_pool(const AvgPool& p, const void* x, void* y) {
  AvgTypes::call(p.dtype, [&](auto type) {
    using T = decltype(type);
    each_part(p.y, p.most, [&](const ImagePart& part) {
      avg_forward<T><<<blocks_of(part.pixels.count, kThreads), kThreads, 0, p.stream>>>(
          p, part.pixels, part.of(static_cast<const T*>(x), p.x), part.of(static_cast<T*>(y), p.y));
      C10_CUDA_KERNEL_LAUNCH_CHECK();
    });
  });
}

void launch_avg_pool_backward(const AvgPool& p, const void* dy, void* dx) {
  AvgTypes::call(p.dtype, [&](auto type) {
    using T = decltype(type);
    each_part(p.x, p.most, [&](const ImagePart& part) {
      avg_backward<T><<<blocks_of(part.pixels.count, kThreads), kThreads, 0, p.stream>>>(
          p, part.pixels, part.of(static_cast<const T*>(dy), p.y), part.of(static_cast<T*>(dx), p.x));
      C10_CUDA_KERNEL_LAUNCH_CHECK();
    });
  });
}

} // namespace at::native::cuda
