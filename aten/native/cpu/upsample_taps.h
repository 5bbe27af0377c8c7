// Which elements of an image an element of the resized image is made of. Included by upsample.cpp only.
#pragma once

#include <aten/core/TensorBase.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <vector>

namespace at::native {
inline namespace CPU_CAPABILITY {
namespace {

/// Nearest: a result of the size or twice the size repeats each element, whatever the scale says. PyTorch's kernels for
/// lines and for volumes by rows go by the scale alone.
enum class Mode { Nearest, NearestByScale, NearestExact, Linear, Cubic, LinearSmooth, CubicSmooth, LanczosSmooth };

bool is_nearest(Mode mode) {
  return mode == Mode::Nearest || mode == Mode::NearestByScale || mode == Mode::NearestExact;
}

/// Element o of the result takes elements index[o * width + k] with weight[o * width + k], k < count[o].
template <class R>
struct Taps {
  int64_t in = 1, out = 1, width = 1;
  std::vector<int64_t> index{0};
  std::vector<int64_t> count{1};
  std::vector<R> weight{R(1)};

  Taps() = default;
  Taps(int64_t in, int64_t out, int64_t width)
      : in(in), out(out), width(width), index(out * width), count(out, width), weight(out * width, R(1)) {}

  bool is_uniform() const {
    return std::all_of(count.begin(), count.end(), [this](int64_t n) { return n == width; });
  }
  void set(int64_t o, int64_t k, int64_t at, R w) {
    index[o * width + k] = std::clamp<int64_t>(at, 0, in - 1);
    weight[o * width + k] = w;
  }
};

/// Distance of elements of the result, in elements of the input.
template <class R>
R step_of(int64_t in, int64_t out, bool align_corners, std::optional<double> scale) {
  if (align_corners) {
    return out > 1 ? static_cast<R>(in - 1) / static_cast<R>(out - 1) : R(0);
  }
  return scale.has_value() && *scale > 0 ? static_cast<R>(1.0 / *scale) : static_cast<R>(in) / static_cast<R>(out);
}

/// The element that holds x, from 0 to `size`; 0 for NaN.
template <class R>
int64_t element_of(R x, int64_t size) {
  return x > 0 ? (x < static_cast<R>(size) ? static_cast<int64_t>(x) : size) : 0;
}

template <class R>
R place_of(R step, int64_t o, bool align_corners) {
  return align_corners ? step * static_cast<R>(o) : step * (static_cast<R>(o) + R(0.5)) - R(0.5);
}

template <class R>
R cubic_near(R x, R a) {
  return ((a + 2) * x - (a + 3)) * x * x + 1;
}

template <class R>
R cubic_far(R x, R a) {
  return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
}

template <class R>
Taps<R> nearest_taps(int64_t in, int64_t out, bool exact, bool by_sizes, std::optional<double> scale) {
  Taps<R> taps(in, out, 1);
  const float step = step_of<float>(in, out, false, scale);
  for (int64_t o = 0; o < out; ++o) {
    int64_t at = element_of((static_cast<float>(o) + (exact ? 0.5f : 0.0f)) * step, in);
    if (by_sizes && out == in) {
      at = o;
    }
    if (by_sizes && out == 2 * in) {
      at = o / 2;
    }
    taps.set(o, 0, at, R(1));
  }
  return taps;
}

template <class R>
Taps<R> linear_taps(int64_t in, int64_t out, bool align_corners, std::optional<double> scale) {
  Taps<R> taps(in, out, 2);
  const R step = step_of<R>(in, out, align_corners, scale);
  for (int64_t o = 0; o < out; ++o) {
    const R place = std::max(place_of(step, o, align_corners), R(0));
    const int64_t at = element_of(place, in - 1);
    const R after = std::clamp(place - static_cast<R>(at), R(0), R(1));
    taps.set(o, 0, at, 1 - after);
    taps.set(o, 1, at + 1, after);
  }
  return taps;
}

template <class R>
Taps<R> cubic_taps(int64_t in, int64_t out, bool align_corners, std::optional<double> scale) {
  constexpr R kSharpness = R(-0.75);
  Taps<R> taps(in, out, 4);
  const R step = step_of<R>(in, out, align_corners, scale);
  for (int64_t o = 0; o < out; ++o) {
    const R place = place_of(step, o, align_corners), whole = std::floor(place), t = place - whole;
    // Far outside all taps are the outermost element.
    const int64_t at = whole < 0 ? static_cast<int64_t>(std::max(whole, R(-4))) : element_of(whole, in + 4);
    taps.set(o, 0, at - 1, cubic_far(t + 1, kSharpness));
    taps.set(o, 1, at, cubic_near(t, kSharpness));
    taps.set(o, 2, at + 1, cubic_near(1 - t, kSharpness));
    taps.set(o, 3, at + 2, cubic_far(2 - t, kSharpness));
  }
  return taps;
}

template <class R>
R sinc(R x) {
  const R angle = static_cast<R>(3.14159265358979323846) * x;
  return x == 0 ? R(1) : std::sin(angle) / angle;
}

/// The smooth filters at a distance of x >= 0 elements; they end at their reach.
template <class R>
R smooth_weight(Mode mode, R x) {
  constexpr R kSharpness = R(-0.5);
  if (mode == Mode::LanczosSmooth) {
    return x < 3 ? sinc(x) * sinc(x / 3) : R(0);
  }
  if (mode == Mode::LinearSmooth) {
    return std::max(1 - x, R(0));
  }
  return x < 1 ? cubic_near(x, kSharpness) : x < 2 ? cubic_far(x, kSharpness) : R(0);
}

/// A filter that is widened to the distance of the result's elements when these are fewer.
template <class R>
Taps<R> smooth_taps(Mode mode, int64_t in, int64_t out, bool align_corners, std::optional<double> scale) {
  const R step = step_of<R>(in, out, align_corners, scale), widening = std::max(step, R(1));
  const R reach = (mode == Mode::LinearSmooth ? 1 : mode == Mode::CubicSmooth ? 2 : 3) * widening;
  Taps<R> taps(in, out, std::min(in, element_of(std::ceil(reach), in) * 2 + 1));
  for (int64_t o = 0; o < out; ++o) {
    const R center = step * (static_cast<R>(o) + R(0.5));
    const int64_t first = element_of(center - reach + R(0.5), in);
    const int64_t last = element_of(center + reach + R(0.5), in);
    const int64_t count = std::clamp<int64_t>(last - first, 0, taps.width);
    taps.count[o] = count;
    R total = 0;
    for (int64_t k = 0; k < count; ++k) {
      const R w = smooth_weight(mode, std::abs((static_cast<R>(k + first) - center + R(0.5)) / widening));
      taps.set(o, k, first + k, w);
      total += w;
    }
    if (total != 0) {
      for (int64_t k = 0; k < count; ++k) {
        taps.weight[o * taps.width + k] /= total;
      }
    }
  }
  return taps;
}

template <class R>
Taps<R> taps_of(Mode mode, int64_t in, int64_t out, bool align_corners, std::optional<double> scale) {
  switch (mode) {
    case Mode::Nearest:
    case Mode::NearestByScale:
    case Mode::NearestExact:
      return nearest_taps<R>(in, out, mode == Mode::NearestExact, mode == Mode::Nearest, scale);
    case Mode::Linear:
      return linear_taps<R>(in, out, align_corners, scale);
    case Mode::Cubic:
      return cubic_taps<R>(in, out, align_corners, scale);
    default:
      return smooth_taps<R>(mode, in, out, align_corners, scale);
  }
}

/// The way back: elements of the result that an element went to, with the same weights.
template <class R>
Taps<R> adjoint(const Taps<R>& taps) {
  std::vector<int64_t> count(taps.in, 0);
  const auto for_taps = [&](const auto& f) {
    for (int64_t o = 0; o < taps.out; ++o) {
      for (int64_t k = o * taps.width; k < o * taps.width + taps.count[o]; ++k) {
        f(o, taps.index[k], taps.weight[k]);
      }
    }
  };
  for_taps([&](int64_t, int64_t i, R) { ++count[i]; });
  Taps<R> back(taps.out, taps.in, std::max<int64_t>(1, *std::max_element(count.begin(), count.end())));
  std::fill(back.count.begin(), back.count.end(), int64_t(0));
  for_taps([&](int64_t o, int64_t i, R w) { back.set(i, back.count[i]++, o, w); });
  return back;
}

/// Taps over depth, height and width; dimensions that are not there stand in front, with size 1.
template <class R>
struct Resize {
  std::array<Taps<R>, 3> dim;
  int64_t batch = 1, channels = 1;

  Resize(
      Mode mode,
      const TensorBase& small,
      const TensorBase& result,
      bool align_corners,
      std::initializer_list<std::optional<double>> scales) {
    batch = small.size(0);
    channels = small.size(1);
    const size_t dims = scales.size();
    for (size_t d = 0; d < dims; ++d) {
      const int64_t at = static_cast<int64_t>(d) + 2;
      dim[3 - dims + d] = taps_of<R>(mode, small.size(at), result.size(at), align_corners, scales.begin()[d]);
    }
  }
  /// The gradient's way: from the result to what it was made of.
  Resize back() const {
    Resize r = *this;
    for (Taps<R>& taps : r.dim) {
      taps = adjoint(taps);
    }
    return r;
  }
  int64_t in_size() const {
    return dim[0].in * dim[1].in * dim[2].in;
  }
  int64_t out_size() const {
    return dim[0].out * dim[1].out * dim[2].out;
  }

  /// Calls f(input row, weight) for the rows that row (d, h) of the result is blended from.
  template <class F>
  void for_rows(int64_t d, int64_t h, const F& f) const {
    const Taps<R>&depth = dim[0], &height = dim[1];
    for (int64_t i = d * depth.width; i < d * depth.width + depth.count[d]; ++i) {
      for (int64_t j = h * height.width; j < h * height.width + height.count[h]; ++j) {
        f(depth.index[i] * height.in + height.index[j], depth.weight[i] * height.weight[j]);
      }
    }
  }
};

} // namespace
} // namespace CPU_CAPABILITY
} // namespace at::native
