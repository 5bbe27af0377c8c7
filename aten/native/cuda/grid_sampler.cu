// A thread takes one place and uses its taps for all channels. Gradients of the input are added atomically: the order of
// the sums is not fixed.
#include <aten/native/cuda/grid_sampler.h>

#include <aten/native/cuda/dtype_cases.cuh>
#include <aten/native/cuda/memory_access.cuh>
#include <c10/cuda/CUDAException.h>

namespace at::native::cuda {

namespace {

constexpr int kThreads = 256;

/// Taps over depth, height and width of the place that the grid gives at `at`.
template <class R>
struct SampleTaps {
  using Line = LineTaps<R, int>;
  Line line[3];

  template <class T>
  __device__ SampleTaps(const GridSample& p, const T* at) {
    for (int d = 0; d < 3; ++d) {
      const int coordinate = 2 - d; // width comes first in the grid
      line[d] = coordinate < p.dims ? Line::at(R(widen(at[coordinate])), p.input.size[d], p.rule) : Line::whole();
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
