// A thread takes one place and uses its taps for all channels. Gradients of the input are added atomically: the order of
// the sums is not fixed.
#include <aten/native/cuda/grid_sampler.h>

#include <aten/native/cuda/dtype_cases.cuh>
#include <aten/native/cuda/memory_access.cuh>
#include <c10/cuda/CUDAException.h>

namespace at::native::cuda {

namespace {

constexpr int kThreads = 256;

/// A coordinate and its derivative for the one that it was made from.
template <class R>
struct Place {
  R at, slope;
};

/// From [-1, 1] to elements: the ends are centres or edges of the outermost elements.
template <class R>
__device__ Place<R> unnormalized(R x, int size, bool align_corners) {
  const R n = static_cast<R>(size);
  return align_corners ? Place<R>{(x + 1) / 2 * (n - 1), (n - 1) / 2} : Place<R>{((x + 1) * n - 1) / 2, n / 2};
}

template <class R>
__device__ Place<R> clipped(R x, int size) {
  const R last = static_cast<R>(size - 1);
  // NaN goes to the first element.
  return x >= last ? Place<R>{last, 0} : x > 0 ? Place<R>{x, 1} : Place<R>{0, 0};
}

template <class R>
__device__ Place<R> reflected(R x, int size, bool align_corners) {
  const R low = align_corners ? R(0) : R(-0.5), span = static_cast<R>(align_corners ? size - 1 : size);
  if (span == 0) {
    return {0, 0};
  }
  const R sign = x < low ? R(-1) : R(1), distance = ::fabs(x - low);
  const R rest = ::fmod(distance, span), flips = ::floor(distance / span);
  return ::fmod(flips, R(2)) == 0 ? Place<R>{rest + low, sign} : Place<R>{span - rest + low, -sign};
}

template <class R>
__device__ Place<R> padded(R x, int size, SamplePadding padding, bool align_corners) {
  if (padding == SamplePadding::Zeros) {
    return {x, 1};
  }
  Place<R> p{x, 1};
  if (padding == SamplePadding::Reflection) {
    p = reflected(x, size, align_corners);
  }
  const Place<R> inside = clipped(p.at, size);
  return {inside.at, p.slope * inside.slope};
}

/// Floor as an element's number; -4 for what is far from any element.
template <class R>
__device__ int floor_index(R x, int size) {
  return x > R(-3) && x < static_cast<R>(size) + R(3) ? static_cast<int>(::floor(x)) : -4;
}

/// Taps along one dimension: elements (or -1 for none), weights, derivatives of the weights for the grid's coordinate.
template <class R>
struct LineTaps {
  int count;
  int index[4];
  R weight[4], slope[4];

  __device__ void add(int at, int size, R w, R s) {
    index[count] = at >= 0 && at < size ? at : -1;
    weight[count] = w;
    slope[count] = s;
    ++count;
  }
};

template <class R>
__device__ LineTaps<R> cubic_taps(R coordinate, int size, SamplePadding padding, bool align_corners) {
  const R a = R(-0.75);
  const Place<R> p = unnormalized(coordinate, size, align_corners);
  const R base = ::floor(p.at), t = p.at - base;
  LineTaps<R> taps{};
  for (int k = 0; k < 4; ++k) {
    const bool near = k == 1 || k == 2;
    const R x = k < 2 ? t + R(1 - k) : R(k - 1) - t, sign = k < 2 ? R(1) : R(-1);
    const R weight = near ? ((a + 2) * x - (a + 3)) * x * x + 1 : ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
    const R slope = near ? (3 * (a + 2) * x - 2 * (a + 3)) * x : (3 * a * x - 10 * a) * x + 8 * a;
    // Each tap is padded by itself.
    const R at = padded(base + static_cast<R>(k - 1), size, padding, align_corners).at;
    taps.add(floor_index(at, size), size, weight, sign * slope * p.slope);
  }
  return taps;
}

template <class R>
__device__ LineTaps<R> taps_at(const GridSample& p, R coordinate, int size) {
  if (p.mode == SampleMode::Cubic) {
    return cubic_taps(coordinate, size, p.padding, p.align_corners);
  }
  const Place<R> raw = unnormalized(coordinate, size, p.align_corners), at = padded(raw.at, size, p.padding, p.align_corners);
  LineTaps<R> taps{};
  if (p.mode == SampleMode::Nearest) {
    taps.add(floor_index(::rint(at.at), size), size, R(1), R(0));
    return taps;
  }
  const int first = floor_index(at.at, size);
  const R after = first == -4 ? R(0) : at.at - static_cast<R>(first), slope = raw.slope * at.slope;
  taps.add(first, size, 1 - after, -slope);
  taps.add(first + 1, size, after, slope);
  return taps;
}

/// Taps over depth, height and width of the place that the grid gives at `at`.
template <class R>
struct SampleTaps {
  LineTaps<R> line[3];

  template <class T>
  __device__ SampleTaps(const GridSample& p, const T* at) {
    for (int d = 0; d < 3; ++d) {
      const int coordinate = 2 - d; // width comes first in the grid
      if (coordinate < p.dims) {
        line[d] = taps_at(p, R(widen(at[coordinate])), p.input.size[d]);
      } else {
        line[d] = LineTaps<R>{};
        line[d].add(0, 1, R(1), R(0));
      }
    }
  }

  /// f(depth, height, width, numbers of the three taps) for the taps that lie inside.
  template <class F>
  __device__ void each(F f) const {
    for (int a = 0; a < line[0].count; ++a) {
      for (int b = 0; b < line[1].count; ++b) {
        for (int c = 0; c < line[2].count; ++c) {
          if (line[0].index[a] >= 0 && line[1].index[b] >= 0 && line[2].index[c] >= 0) {
            f(line[0].index[a], line[1].index[b], line[2].index[c], a, b, c);
          }
        }
      }
    }
  }
};

template <class T>
__global__ void __launch_bounds__(kThreads)
    grid_sample(GridSample p, Pixels places, const T* input, const T* grid, T* result) {
  using R = opmath_type<T>;
  const std::uint32_t i = blockIdx.x * kThreads + threadIdx.x;
  if (i >= places.count) {
    return;
  }
  const Pixels::Pixel o = places(i);
  const SampleTaps<R> taps(p, grid + std::int64_t{i} * p.dims);
  for (int c = 0; c < p.input.channels; ++c) {
    const T* plane = input + p.input.plane(o.n, c);
    R sum = 0;
    taps.each([&](int d, int h, int w, int x, int y, int z) {
      sum += taps.line[0].weight[x] * taps.line[1].weight[y] * taps.line[2].weight[z] * widen(plane[p.input.inside(d, h, w)]);
    });
    result[p.result.plane(o.n, c) + p.result.inside(o.at[0], o.at[1], o.at[2])] = narrow<T>(sum);
  }
}

template <class T, class R>
__global__ void __launch_bounds__(kThreads) grid_sample_backward(
    GridSample p, Pixels places, const T* input, const T* grid, const T* grad, R* grad_input, T* grad_grid) {
  const std::uint32_t i = blockIdx.x * kThreads + threadIdx.x;
  if (i >= places.count) {
    return;
  }
  const Pixels::Pixel o = places(i);
  const SampleTaps<R> taps(p, grid + std::int64_t{i} * p.dims);
  const std::int64_t volume = std::int64_t{p.input.size[0]} * p.input.size[1] * p.input.size[2];
  R slope[3] = {0, 0, 0};
  for (int c = 0; c < p.input.channels; ++c) {
    const R g = widen(grad[p.result.plane(o.n, c) + p.result.inside(o.at[0], o.at[1], o.at[2])]);
    const T* plane = input + p.input.plane(o.n, c);
    R* sums = grad_input != nullptr ? grad_input + (std::int64_t{o.n} * p.input.channels + c) * volume : nullptr;
    taps.each([&](int d, int h, int w, int x, int y, int z) {
      const R u = taps.line[0].weight[x], v = taps.line[1].weight[y], t = taps.line[2].weight[z];
      if (sums != nullptr) {
        atomicAdd(sums + (std::int64_t{d} * p.input.size[1] + h) * p.input.size[2] + w, g * u * v * t);
      }
      if (grad_grid != nullptr) {
        const R value = g * widen(plane[p.input.inside(d, h, w)]);
        slope[0] += value * taps.line[0].slope[x] * v * t;
        slope[1] += value * u * taps.line[1].slope[y] * t;
        slope[2] += value * u * v * taps.line[2].slope[z];
      }
    });
  }
  if (grad_grid != nullptr) {
    for (int k = 0; k < p.dims; ++k) {
      grad_grid[std::int64_t{i} * p.dims + k] = narrow<T>(slope[2 - k]);
    }
  }
}

/// All places, of all images, as the grid numbers them.
Pixels places_of(const GridSample& p) {
  Image places = p.result;
  places.channels = 1;
  return pixels_of(places);
}

} // namespace

void launch_grid_sample(const GridSample& p, const void* input, const void* grid, void* result) {
  const Pixels places = places_of(p);
  FloatingTypes::call(p.dtype, [&](auto type) {
    using T = decltype(type);
    grid_sample<T><<<blocks_of(places.count, kThreads), kThreads, 0, p.stream>>>(
        p, places, static_cast<const T*>(input), static_cast<const T*>(grid), static_cast<T*>(result));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  });
}

void launch_grid_sample_backward(
    const GridSample& p, const void* input, const void* grid, const void* grad, void* grad_input, void* grad_grid) {
  const Pixels places = places_of(p);
  FloatingTypes::call(p.dtype, [&](auto type) {
    using T = decltype(type);
    using R = opmath_type<T>;
    grid_sample_backward<T, R><<<blocks_of(places.count, kThreads), kThreads, 0, p.stream>>>(
        p, places, static_cast<const T*>(input), static_cast<const T*>(grid), static_cast<const T*>(grad),
        static_cast<R*>(grad_input), static_cast<T*>(grad_grid));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  });
}

} // namespace at::native::cuda
