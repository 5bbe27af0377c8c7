// Weights are found by each thread for itself: arithmetic is cheaper than tables that would have to be copied to the
// device. On the way back an element gathers from the elements of the result that took it, so no sums race.
#include <aten/native/cuda/upsample.h>

#include <aten/native/cuda/dtype_cases.cuh>
#include <aten/native/cuda/memory_access.cuh>
#include <c10/cuda/CUDAException.h>

#include <type_traits>

namespace at::native::cuda {

namespace {

constexpr int kThreads = 256;

using ResizeTypes = OneTypeOf<std::uint8_t, c10::Half, c10::BFloat16, float, double>;

template <class T>
using ResizeSum = std::conditional_t<std::is_integral_v<T>, float, opmath_type<T>>;

__device__ int between(int x, int low, int high) {
  return x < low ? low : x > high ? high : x;
}

__device__ bool is_smooth(ResizeMode mode) {
  return mode == ResizeMode::LinearSmooth || mode == ResizeMode::CubicSmooth || mode == ResizeMode::LanczosSmooth;
}

template <class R>
__device__ R cubic_near(R x, R a) {
  return ((a + 2) * x - (a + 3)) * x * x + 1;
}
template <class R>
__device__ R cubic_far(R x, R a) {
  return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
}

template <class R>
__device__ R sinc(R x) {
  const R angle = R(3.14159265358979323846) * x;
#ifdef __CUDA_ARCH__
  const R sine = ::sinpi(x); // takes no stack for angles beyond all bounds, as sin does
#else
  const R sine = ::sin(angle);
#endif
  return x == 0 ? R(1) : sine / angle;
}

/// How far a filter reaches that is not widened.
__device__ int reach_of(ResizeMode mode) {
  return mode == ResizeMode::LanczosSmooth ? 3 : mode == ResizeMode::Cubic || mode == ResizeMode::CubicSmooth ? 2 : 1;
}

/// The taps of one element: elements first, first + 1, ... as far as they exist, the outermost instead of those that do
/// not.
template <class R>
struct ResizeTaps {
  int first, count;
  R place; // how far the element lies behind the first tap's neighbour, or where a smooth filter has its middle
  R scale; // of the weights of a smooth filter
};

/// The weight of tap k before it is scaled.
template <class R>
__device__ R raw_weight(const ResizeDim& d, const ResizeTaps<R>& taps, int k) {
  switch (d.mode) {
    case ResizeMode::Linear:
      return k == 0 ? 1 - taps.place : taps.place;
    case ResizeMode::Cubic: {
      const R sharpness = R(-0.75), t = taps.place;
      return k == 0 ? cubic_far(t + 1, sharpness)
          : k == 1  ? cubic_near(t, sharpness)
          : k == 2  ? cubic_near(1 - t, sharpness)
                    : cubic_far(2 - t, sharpness);
    }
    case ResizeMode::LinearSmooth:
    case ResizeMode::CubicSmooth:
    case ResizeMode::LanczosSmooth: {
      const R step = static_cast<R>(d.step), widening = step > 1 ? step : R(1);
      const R distance = (static_cast<R>(k + taps.first) - taps.place + R(0.5)) / widening,
              x = distance < 0 ? -distance : distance;
      if (d.mode == ResizeMode::LinearSmooth) {
        return x < 1 ? 1 - x : R(0);
      }
      if (d.mode == ResizeMode::LanczosSmooth) {
        return x < 3 ? sinc(x) * sinc(x / 3) : R(0);
      }
      return x < 1 ? cubic_near(x, R(-0.5)) : x < 2 ? cubic_far(x, R(-0.5)) : R(0);
    }
    default:
      return 1;
  }
}

template <class R>
__device__ R weight_of(const ResizeDim& d, const ResizeTaps<R>& taps, int k) {
  const R weight = raw_weight(d, taps, k);
  return is_smooth(d.mode) ? weight * taps.scale : weight;
}

template <class R>
__device__ ResizeTaps<R> smooth_taps(const ResizeDim& d, int o) {
  const R step = static_cast<R>(d.step), widening = step > 1 ? step : R(1);
  const R reach = static_cast<R>(reach_of(d.mode)) * widening, center = step * (static_cast<R>(o) + R(0.5));
  const R begin = center - reach + R(0.5), end = center + reach + R(0.5), size = static_cast<R>(d.in);
  const int first = begin > 0 ? static_cast<int>(begin < size ? begin : size) : 0;
  const int last = static_cast<int>(end < size ? end : size);
  ResizeTaps<R> taps{first, last > first ? last - first : 0, center, R(1)};
  R total = 0;
  for (int k = 0; k < taps.count; ++k) {
    total += raw_weight(d, taps, k);
  }
  taps.scale = total != 0 ? 1 / total : R(1);
  return taps;
}

template <class R>
__device__ ResizeTaps<R> taps_of(const ResizeDim& d, int o) {
  if (d.mode == ResizeMode::Nearest || d.mode == ResizeMode::NearestExact) {
    const float half = d.mode == ResizeMode::NearestExact ? 0.5f : 0.0f;
    const float place = ::floorf((static_cast<float>(o) + half) * static_cast<float>(d.step));
    return {static_cast<int>(place < static_cast<float>(d.in) ? place : static_cast<float>(d.in)), 1, R(0), R(1)};
  }
  if (is_smooth(d.mode)) {
    return smooth_taps<R>(d, o);
  }
  const R step = static_cast<R>(d.step), size = static_cast<R>(d.in);
  R place = d.align_corners ? step * static_cast<R>(o) : step * (static_cast<R>(o) + R(0.5)) - R(0.5);
  if (d.mode == ResizeMode::Linear) {
    place = place > 0 ? place : R(0);
    const int first = between(static_cast<int>(place < size ? place : size), 0, d.in - 1);
    const R after = place - static_cast<R>(first);
    return {first, 2, after < 1 ? after : R(1), R(1)};
  }
  const R whole = ::floor(place);
  // Beyond the input all taps are its last element.
  return {static_cast<int>(whole < size + 2 ? whole : size + 2) - 1, 4, place - whole, R(1)};
}

template <class T>
__global__ void __launch_bounds__(kThreads) resize_forward(Resize p, Pixels pixels, const T* x, T* y) {
  using R = ResizeSum<T>;
  const std::uint32_t i = blockIdx.x * kThreads + threadIdx.x;
  if (i >= pixels.count) {
    return;
  }
  const Pixels::Pixel o = pixels(i);
  const ResizeTaps<R> depth = taps_of<R>(p.dim[0], o.at[0]), height = taps_of<R>(p.dim[1], o.at[1]),
                      width = taps_of<R>(p.dim[2], o.at[2]);
  const T* plane = x + p.small.plane(o.n, o.c);
  R sum = 0;
  for (int d = 0; d < depth.count; ++d) {
    const R of_depth = weight_of(p.dim[0], depth, d);
    const int z = between(depth.first + d, 0, p.dim[0].in - 1);
    for (int h = 0; h < height.count; ++h) {
      const R of_row = of_depth * weight_of(p.dim[1], height, h);
      const T* row = plane + p.small.inside(z, between(height.first + h, 0, p.dim[1].in - 1), 0);
      for (int w = 0; w < width.count; ++w) {
        const int column = between(width.first + w, 0, p.dim[2].in - 1);
        sum += of_row * weight_of(p.dim[2], width, w) * static_cast<R>(widen(row[column * p.small.of[2]]));
      }
    }
  }
  T* to = y + p.result.plane(o.n, o.c) + p.result.inside(o.at[0], o.at[1], o.at[2]);
  if constexpr (std::is_integral_v<T>) {
    sum = ::rintf(sum);
    *to = static_cast<T>(sum < 0 ? 0 : sum > 255 ? 255 : sum);
  } else {
    *to = narrow<T>(sum);
  }
}

/// Elements of the result that may have taken element i: some more than those that have.
struct TakenBy {
  int first, last;
};
template <class R>
__device__ TakenBy taken_by(const ResizeDim& d, int i) {
  const R step = static_cast<R>(d.step), last = static_cast<R>(d.out - 1);
  R low = 0, high = last;
  if (step > 0) {
    const R widening = is_smooth(d.mode) && step > 1 ? step : R(1);
    const R reach = static_cast<R>(reach_of(d.mode)) * widening + 1;
    // The outermost elements stand for all beyond them.
    low = i == 0 ? R(0) : (static_cast<R>(i) - reach) / step - 2;
    high = i == d.in - 1 ? last : (static_cast<R>(i) + reach + 1) / step + 1;
  }
  return {static_cast<int>(low > 0 ? (low < last ? low : last) : 0), static_cast<int>(high < last ? high : last)};
}

/// The weight with which element o of the result took element i.
template <class R>
__device__ R weight_for(const ResizeDim& d, int o, int i) {
  const ResizeTaps<R> taps = taps_of<R>(d, o);
  R sum = 0;
  for (int k = 0; k < taps.count; ++k) {
    if (between(taps.first + k, 0, d.in - 1) == i) {
      sum += weight_of(d, taps, k);
    }
  }
  return sum;
}

template <class T>
__global__ void __launch_bounds__(kThreads) resize_backward(Resize p, Pixels pixels, const T* dy, T* dx) {
  using R = opmath_type<T>;
  const std::uint32_t i = blockIdx.x * kThreads + threadIdx.x;
  if (i >= pixels.count) {
    return;
  }
  const Pixels::Pixel e = pixels(i);
  const TakenBy depth = taken_by<R>(p.dim[0], e.at[0]), height = taken_by<R>(p.dim[1], e.at[1]),
                width = taken_by<R>(p.dim[2], e.at[2]);
  const T* plane = dy + p.result.plane(e.n, e.c);
  R sum = 0;
  for (int d = depth.first; d <= depth.last; ++d) {
    const R of_depth = weight_for<R>(p.dim[0], d, e.at[0]);
    for (int h = height.first; of_depth != 0 && h <= height.last; ++h) {
      const R of_row = of_depth * weight_for<R>(p.dim[1], h, e.at[1]);
      for (int w = width.first; of_row != 0 && w <= width.last; ++w) {
        const R weight = of_row * weight_for<R>(p.dim[2], w, e.at[2]);
        if (weight != 0) {
          sum += weight * widen(plane[p.result.inside(d, h, w)]);
        }
      }
    }
  }
  dx[p.small.plane(e.n, e.c) + p.small.inside(e.at[0], e.at[1], e.at[2])] = narrow<T>(sum);
}

} // namespace

void launch_resize(const Resize& p, const void* x, void* y) {
  ResizeTypes::call(p.dtype, [&](auto type) {
    using T = decltype(type);
    each_part(p.result, p.most, [&](const ImagePart& part) {
      resize_forward<T><<<blocks_of(part.pixels.count, kThreads), kThreads, 0, p.stream>>>(
          p, part.pixels, part.of(static_cast<const T*>(x), p.small), part.of(static_cast<T*>(y), p.result));
      C10_CUDA_KERNEL_LAUNCH_CHECK();
    });
  });
}

void launch_resize_backward(const Resize& p, const void* dy, void* dx) {
  FloatingTypes::call(p.dtype, [&](auto type) {
    using T = decltype(type);
    each_part(p.small, p.most, [&](const ImagePart& part) {
      resize_backward<T><<<blocks_of(part.pixels.count, kThreads), kThreads, 0, p.stream>>>(
          p, part.pixels, part.of(static_cast<const T*>(dy), p.result), part.of(static_cast<T*>(dx), p.small));
      C10_CUDA_KERNEL_LAUNCH_CHECK();
    });
  });
}

} // namespace at::native::cuda
