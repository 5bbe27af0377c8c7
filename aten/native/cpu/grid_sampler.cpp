// Sampling an image or a volume at given points. Each point takes a weighted sum of a few elements, its taps; they are
// found once for a run of points and used for all channels.

#include <aten/native/cpu/grid_sampler.h>

#include <aten/core/Tensor.h>
#include <aten/core/TensorSpec.h>
#include <aten/core/dtype_dispatch.h>
#include <aten/parallel/Parallel.h>

#include <aten/core/OpMathType.h>
#include <aten/native/support/grid_taps.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

namespace at::native {
inline namespace CPU_CAPABILITY {
namespace {

/// Taps of a run of points in all dimensions: element (or -1), weight, and the weight's derivative for each coordinate
/// of the grid. Number k of point i lies at [k * kRun + i].
template <class R>
struct RunTaps {
  static constexpr int64_t kRun = 64;
  int64_t places = 0, taps = 0;
  std::vector<int32_t> index;
  std::vector<R> weight;
  std::array<std::vector<R>, 3> slope;

  /// With memory for the taps of `rule` in `dims` dimensions.
  RunTaps(const SampleRule& rule, int64_t dims) {
    int64_t most = 1;
    for (int64_t d = 0; d < dims; ++d) {
      most *= rule.mode == SampleMode::Cubic ? 4 : 2;
    }
    index.resize(most * kRun);
    weight.resize(most * kRun);
    for (auto& s : slope) {
      s.resize(most * kRun);
    }
  }

  /// Fills in for points whose coordinates, `dims` each, width first, begin at `grid`; slopes only if they are wanted.
  template <class T>
  void fill(
      const T* grid,
      int64_t count,
      const std::array<int64_t, 3>& size,
      int64_t dims,
      const SampleRule& rule,
      bool slopes) {
    places = count;
    for (int64_t d = 0; d < 3; ++d) {
      lines[d].fill(d < dims ? grid + d : nullptr, dims, count, size[d], rule);
    }
    taps = 0;
    const int32_t width = static_cast<int32_t>(size[0]), height = static_cast<int32_t>(size[1]);
    for (int z = 0; z < lines[2].count; ++z) {
      for (int y = 0; y < lines[1].count; ++y) {
        for (int x = 0; x < lines[0].count; ++x, ++taps) {
          const int32_t *a = lines[0].index[x], *b = lines[1].index[y], *c = lines[2].index[z];
          const R *u = lines[0].weight[x], *v = lines[1].weight[y], *w = lines[2].weight[z];
          int32_t* const to = index.data() + taps * kRun;
          R* const product = weight.data() + taps * kRun;
#pragma omp simd
          for (int64_t i = 0; i < count; ++i) {
            // Of a point outside the negative number stays, whatever the others are.
            to[i] = (a[i] | b[i] | c[i]) < 0 ? -1 : (c[i] * height + b[i]) * width + a[i];
            product[i] = u[i] * v[i] * w[i];
          }
          if (!slopes) {
            continue;
          }
          const R *du = lines[0].slope[x], *dv = lines[1].slope[y], *dw = lines[2].slope[z];
          R *const dx = slope[0].data() + taps * kRun, *const dy = slope[1].data() + taps * kRun,
                   *const dz = slope[2].data() + taps * kRun;
#pragma omp simd
          for (int64_t i = 0; i < count; ++i) {
            dx[i] = du[i] * v[i] * w[i];
            dy[i] = u[i] * dv[i] * w[i];
            dz[i] = u[i] * v[i] * dw[i];
          }
        }
      }
    }
  }

 private:
  /// The taps of the points along one dimension, as LineTaps has them for one point.
  struct RunLines {
    int count = 0;
    int32_t index[4][kRun];
    R weight[4][kRun], slope[4][kRun];

    /// Coordinates are `step` apart; without any, the one element of a dimension that is not there.
    template <class T>
    void fill(const T* coordinates, int64_t step, int64_t places, int64_t size, const SampleRule& rule) {
      using Line = LineTaps<R, int64_t>;
      if (coordinates != nullptr && rule.mode != SampleMode::Cubic && rule.padding != SamplePadding::Reflection) {
        return fill_near(coordinates, step, places, size, rule);
      }
      for (int64_t i = 0; i < places; ++i) {
        const Line line =
            coordinates == nullptr ? Line::whole() : Line::at(static_cast<R>(coordinates[i * step]), size, rule);
        count = line.count;
        for (int k = 0; k < count; ++k) {
          index[k][i] = static_cast<int32_t>(line.index[k]);
          weight[k][i] = line.weight[k];
          slope[k][i] = line.slope[k];
        }
      }
    }

   private:
    /// LineTaps::at for the rules that vectors can follow.
    template <class T>
    void fill_near(const T* coordinates, int64_t step, int64_t places, int64_t size, const SampleRule& rule) {
      const bool linear = rule.mode == SampleMode::Linear, border = rule.padding == SamplePadding::Border,
                 corners = rule.align_corners;
      const R n = static_cast<R>(size), low = border ? R(0) : -std::numeric_limits<R>::infinity();
      const R high = border ? n - 1 : std::numeric_limits<R>::infinity();
      const int32_t bound = static_cast<int32_t>(size);
      count = linear ? 2 : 1;
#pragma omp simd
      for (int64_t i = 0; i < places; ++i) {
        const SamplePlace<R> raw = unnormalized_place(static_cast<R>(coordinates[i * step]), n, corners);
        // Comparisons with NaN are false: with a border it goes to the first element.
        const R clipped = raw.at >= high ? high : raw.at > low ? raw.at : low;
        const R at = border ? clipped : raw.at;
        const R floor = linear ? std::floor(at) : std::nearbyint(at);
        const bool near = floor > R(-4) && floor < n + 3;
        const int32_t first = static_cast<int32_t>(near ? floor : R(-4));
        const R after = linear && near ? at - floor : R(0);
        const R moves = linear && (!border || (raw.at < high && raw.at > low)) ? raw.slope : R(0);
        index[0][i] = first >= 0 && first < bound ? first : -1;
        index[1][i] = first + 1 >= 0 && first + 1 < bound ? first + 1 : -1;
        weight[0][i] = 1 - after;
        weight[1][i] = after;
        slope[0][i] = -moves;
        slope[1][i] = moves;
      }
    }
  };
  RunLines lines[3];
};

/// sum[i] += weight[i] * plane[index[i]], for points inside.
template <class T, class R>
void add_taps(const T* plane, const int32_t* index, const R* weight, int64_t n, R* sum) {
  for (int64_t i = 0; i < n; ++i) {
    // Read always, which vectorises; what is read for a point outside may be no number and is dropped.
    const R value = static_cast<R>(plane[std::max(index[i], 0)]);
    sum[i] += (index[i] < 0 ? R(0) : value) * weight[i];
  }
}

/// Width, height and depth of the input. Elements of a channel have numbers of 32 bits.
std::array<int64_t, 3> sizes_of(const TensorBase& input) {
  const std::array<int64_t, 3> size{input.size(-1), input.size(-2), input.dim() == 5 ? input.size(-3) : 1};
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  TORCH_CHECK(
      input.numel() == 0 || input.numel() / (input.size(0) * input.size(1)) <= kMost,
      "grid_sampler(): a channel may have up to ", kMost, " elements on the CPU, but input has sizes ", input.sizes());
  return size;
}

SampleRule rule_of(int64_t interpolation, int64_t padding, bool align_corners) {
  return {static_cast<SampleMode>(interpolation), static_cast<SamplePadding>(padding), align_corners};
}

void sample(
    const char* op, const TensorBase& input, const TensorBase& grid, const SampleRule& rule, const TensorBase& out) {
  if (out.numel() == 0) {
    return;
  }
  const std::array<int64_t, 3> size = sizes_of(input);
  const TensorBase image = input.contiguous(), places = grid.contiguous();
  dispatch(op, input.scalar_type(), kFloating, [&]<class T> {
    using R = at::opmath_type<T>;
    const int64_t dims = input.dim() - 2, channels = input.size(1), volume = size[0] * size[1] * size[2];
    const int64_t count = out.numel() / (out.size(0) * channels),
                  runs = (count + RunTaps<R>::kRun - 1) / RunTaps<R>::kRun;
    const T *x = image.const_data_ptr<T>(), *g = places.const_data_ptr<T>();
    T* y = out.mutable_data_ptr<T>();
    at::parallel_for(0, out.size(0) * runs, 1 + 256 / std::max<int64_t>(1, channels), [&](int64_t begin, int64_t end) {
      RunTaps<R> taps(rule, dims);
      for (int64_t task = begin; task < end; ++task) {
        const int64_t n = task / runs, first = task % runs * RunTaps<R>::kRun,
                      width = std::min(RunTaps<R>::kRun, count - first);
        taps.fill(g + (n * count + first) * dims, width, size, dims, rule, /*slopes=*/false);
        for (int64_t c = 0; c < channels; ++c) {
          const T* plane = x + (n * channels + c) * volume;
          R sum[RunTaps<R>::kRun] = {};
          for (int64_t k = 0; k < taps.taps; ++k) {
            const int32_t* index = taps.index.data() + k * RunTaps<R>::kRun;
            const R* weight = taps.weight.data() + k * RunTaps<R>::kRun;
            add_taps(plane, index, weight, width, sum);
          }
          T* to = y + (n * channels + c) * count + first;
          for (int64_t i = 0; i < width; ++i) {
            to[i] = static_cast<T>(sum[i]);
          }
        }
      }
    });
  });
}

} // namespace

void grid_sampler_2d_kernel(
    const TensorBase& input,
    const TensorBase& grid,
    int64_t interpolation_mode,
    int64_t padding_mode,
    bool align_corners,
    const TensorBase& out) {
  sample("grid_sampler_2d_cpu", input, grid, rule_of(interpolation_mode, padding_mode, align_corners), out);
}

void grid_sampler_3d_kernel(
    const TensorBase& input,
    const TensorBase& grid,
    int64_t interpolation_mode,
    int64_t padding_mode,
    bool align_corners,
    const TensorBase& out) {
  sample("grid_sampler_3d_cpu", input, grid, rule_of(interpolation_mode, padding_mode, align_corners), out);
}

void grid_sampler_backward_kernel(const GridSampler& p) {
  const SampleRule rule = rule_of(p.interpolation, p.padding, p.align_corners);
  dispatch("grid_sampler_backward_cpu", p.input.scalar_type(), kFloating, [&]<class T> {
    using R = at::opmath_type<T>;
    const std::array<int64_t, 3> size = sizes_of(p.input);
    const int64_t dims = p.input.dim() - 2, batch = p.input.size(0), channels = p.input.size(1),
                  volume = size[0] * size[1] * size[2];
    const int64_t count = batch == 0 ? 0 : p.grid.numel() / (batch * dims);
    const T *x = p.input.const_data_ptr<T>(), *places = p.grid.const_data_ptr<T>(),
            *g = p.grad_output.const_data_ptr<T>();
    // Narrow types are summed in float.
    Tensor sums;
    if (p.grad_input.defined()) {
      sums = c10::CppTypeToScalarType<R>::value == p.grad_input.scalar_type()
          ? Tensor(p.grad_input)
          : at::empty_spec(TensorSpec::like(p.grad_input, p.grad_input.sizes(), c10::CppTypeToScalarType<R>::value));
    }
    R* dx = sums.defined() ? sums.mutable_data_ptr<R>() : nullptr;
    T* dgrid = p.grad_grid.defined() ? p.grad_grid.mutable_data_ptr<T>() : nullptr;
    if (dx) {
      std::fill(dx, dx + sums.numel(), R(0));
    }
    at::parallel_for(0, batch, 1, [&](int64_t begin, int64_t end) {
      RunTaps<R> taps(rule, dims);
      for (int64_t n = begin; n < end; ++n) {
        for (int64_t first = 0; first < count; first += RunTaps<R>::kRun) {
          const int64_t width = std::min(RunTaps<R>::kRun, count - first);
          taps.fill(places + (n * count + first) * dims, width, size, dims, rule, dgrid != nullptr);
          R for_grid[3][RunTaps<R>::kRun] = {};
          for (int64_t c = 0; c < channels; ++c) {
            const int64_t plane = (n * channels + c) * volume;
            const T* grad = g + (n * channels + c) * count + first;
            for (int64_t k = 0; k < taps.taps; ++k) {
              const int32_t* index = taps.index.data() + k * RunTaps<R>::kRun;
              const R* weight = taps.weight.data() + k * RunTaps<R>::kRun;
              for (int64_t i = 0; dx && i < width; ++i) {
                if (index[i] >= 0) {
                  dx[plane + index[i]] += static_cast<R>(grad[i]) * weight[i];
                }
              }
              if (!dgrid) {
                continue;
              }
              R product[RunTaps<R>::kRun];
              for (int64_t i = 0; i < width; ++i) {
                const R value = static_cast<R>(x[plane + std::max(index[i], 0)]);
                product[i] = (index[i] < 0 ? R(0) : value) * static_cast<R>(grad[i]);
              }
              for (int64_t d = 0; d < dims; ++d) {
                const R* slope = taps.slope[d].data() + k * RunTaps<R>::kRun;
                for (int64_t i = 0; i < width; ++i) {
                  for_grid[d][i] += product[i] * slope[i];
                }
              }
            }
          }
          for (int64_t i = 0; dgrid && i < width; ++i) {
            for (int64_t d = 0; d < dims; ++d) {
              dgrid[(n * count + first + i) * dims + d] = static_cast<T>(for_grid[d][i]);
            }
          }
        }
      }
    });
    if (sums.defined() && !sums.is_same(Tensor(p.grad_input))) {
      Tensor(p.grad_input).copy_(sums);
    }
  });
}

} // namespace CPU_CAPABILITY
} // namespace at::native
