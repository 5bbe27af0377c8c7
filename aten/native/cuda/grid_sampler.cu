// A thread takes one place and uses its taps for all channels. Gradients of the input are added atomically: the order
// of the sums is not fixed.
#include <aten/native/cuda/grid_sampler.h>

#include <aten/native/cuda/dtype_cases.cuh>
#include <aten/native/cuda/memory_access.cuh>
#include <c10/cuda/CUDAException.h>

namespace at::native::cuda {

namespace {

constexpr int kThreads = 256;

/// Taps over depth, height and width of the point that the grid gives at `at`: up to `Taps` in each of `Dims`
/// dimensions. Loops over them are unrolled, so that they stay in registers.
template <class R, int Dims, int Taps>
struct SampleTaps {
  using Line = LineTaps<R, int>;
  Line line[3];

  template <class T>
  __device__ SampleTaps(const GridSample& p, const T* at) {
    SampleRule rule = p.rule;
    rule.mode = Taps == 4                  ? SampleMode::Cubic
        : rule.mode == SampleMode::Nearest ? SampleMode::Nearest
                                           : SampleMode::Linear;
#pragma unroll
    for (int d = 0; d < 3; ++d) {
      const int coordinate = 2 - d; // width comes first in the grid
      line[d] = coordinate < Dims ? Line::at(R(widen(at[coordinate])), p.input.size[d], rule) : Line::whole();
#pragma unroll
      for (int k = 0; k < Taps; ++k) {
        line[d].index[k] = k < line[d].count ? line[d].index[k] : -1;
      }
    }
  }

  /// f(depth, height, width, numbers of the three taps) for the taps that lie inside.
  template <class F>
  __device__ void each(F f) const {
#pragma unroll
    for (int a = 0; a < (Dims == 3 ? Taps : 1); ++a) {
#pragma unroll
      for (int b = 0; b < Taps; ++b) {
#pragma unroll
        for (int c = 0; c < Taps; ++c) {
          if (line[0].index[a] >= 0 && line[1].index[b] >= 0 && line[2].index[c] >= 0) {
            f(line[0].index[a], line[1].index[b], line[2].index[c], a, b, c);
          }
        }
      }
    }
  }
};

template <class T, int Dims, int Taps>
__global__ void __launch_bounds__(kThreads)
    grid_sample(GridSample p, Pixels places, const T* input, const T* grid, T* result) {
  using R = opmath_type<T>;
  const std::uint32_t i = blockIdx.x * kThreads + threadIdx.x;
  if (i >= places.count) {
    return;
  }
  const Pixels::Pixel o = places(i);
  const SampleTaps<R, Dims, Taps> taps(p, grid + std::int64_t{i} * Dims);
  for (int c = 0; c < p.input.channels; ++c) {
    const T* plane = input + p.input.plane(o.n, c);
    R sum = 0;
    taps.each([&](int d, int h, int w, int x, int y, int z) {
      sum += taps.line[0].weight[x] * taps.line[1].weight[y] * taps.line[2].weight[z] *
          widen(plane[p.input.inside(d, h, w)]);
    });
    result[p.result.plane(o.n, c) + p.result.inside(o.at[0], o.at[1], o.at[2])] = narrow<T>(sum);
  }
}

template <class T, int Dims, int Taps>
__global__ void __launch_bounds__(kThreads) grid_sample_backward(
    GridSample p,
    Pixels places,
    const T* input,
    const T* grid,
    const T* grad,
    opmath_type<T>* grad_input,
    T* grad_grid) {
  using R = opmath_type<T>;
  const std::uint32_t i = blockIdx.x * kThreads + threadIdx.x;
  if (i >= places.count) {
    return;
  }
  const Pixels::Pixel o = places(i);
  const SampleTaps<R, Dims, Taps> taps(p, grid + std::int64_t{i} * Dims);
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
#pragma unroll
    for (int k = 0; k < Dims; ++k) {
      grad_grid[std::int64_t{i} * Dims + k] = narrow<T>(slope[2 - k]);
    }
  }
}

/// use(part, first) for parts of the points of all images, of which `first` is the number of a part's first one in the
/// grid.
template <class F>
void each_part_of_places(const GridSample& p, F use) {
  Image places = p.result;
  places.channels = 1;
  // A box is cut across the slowest of its dimensions: its places follow each other in the grid.
  each_part(places, p.most, [&](const ImagePart& part) {
    std::int64_t first = part.n;
    for (int d = 0; d < 3; ++d) {
      first = first * places.size[d] + part.pixels.first[d];
    }
    use(part, first);
  });
}

template <int Dims_, int Taps_>
struct SampleShape {
  static constexpr int kDims = Dims_, kTaps = Taps_;
};

/// f(T(), shape) for the dtype, and the dimensions and taps.
template <class F>
void with_shape(const GridSample& p, F f) {
  const bool cubic = p.rule.mode == SampleMode::Cubic;
  FloatingTypes::call(p.dtype, [&](auto type) {
    if (p.dims == 3 && cubic) {
      f(type, SampleShape<3, 4>());
    } else if (p.dims == 3) {
      f(type, SampleShape<3, 2>());
    } else if (cubic) {
      f(type, SampleShape<2, 4>());
    } else {
      f(type, SampleShape<2, 2>());
    }
  });
}

} // namespace

void launch_grid_sample(const GridSample& p, const void* input, const void* grid, void* result) {
  with_shape(p, [&](auto type, auto shape) {
    using T = decltype(type);
    constexpr int kDims = shape.kDims, kTaps = shape.kTaps;
    each_part_of_places(p, [&](const ImagePart& part, std::int64_t first) {
      grid_sample<T, kDims, kTaps><<<blocks_of(part.pixels.count, kThreads), kThreads, 0, p.stream>>>(
          p, part.pixels, part.of(static_cast<const T*>(input), p.input), static_cast<const T*>(grid) + first * p.dims,
          part.of(static_cast<T*>(result), p.result));
      C10_CUDA_KERNEL_LAUNCH_CHECK();
    });
  });
}

void launch_grid_sample_backward(
    const GridSample& p, const void* input, const void* grid, const void* grad, void* grad_input, void* grad_grid) {
  with_shape(p, [&](auto type, auto shape) {
    using T = decltype(type);
    using R = opmath_type<T>;
    constexpr int kDims = shape.kDims, kTaps = shape.kTaps;
    each_part_of_places(p, [&](const ImagePart& part, std::int64_t first) {
      const std::int64_t volume = std::int64_t{p.input.size[0]} * p.input.size[1] * p.input.size[2];
      R* const sums =
          grad_input == nullptr ? nullptr : static_cast<R*>(grad_input) + part.n * volume * p.input.channels;
      T* const slopes = grad_grid == nullptr ? nullptr : static_cast<T*>(grad_grid) + first * p.dims;
      grid_sample_backward<T, kDims, kTaps><<<blocks_of(part.pixels.count, kThreads), kThreads, 0, p.stream>>>(
          p, part.pixels, part.of(static_cast<const T*>(input), p.input), static_cast<const T*>(grid) + first * p.dims,
          part.of(static_cast<const T*>(grad), p.result), sums, slopes);
      C10_CUDA_KERNEL_LAUNCH_CHECK();
    });
  });
}

} // namespace at::native::cuda
