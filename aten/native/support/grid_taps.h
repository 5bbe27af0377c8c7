// The elements that grid sampling takes for a point, on every backend: numbers, weights, and derivatives of the
// weights.
#pragma once

#include <c10/macros/Macros.h>

#include <cmath>
#include <cstdint>

namespace at::native {

/// The numbers of PyTorch's enumerations.
enum class SampleMode : std::int32_t { Linear, Nearest, Cubic };
enum class SamplePadding : std::int32_t { Zeros, Border, Reflection };

/// How points become taps.
struct SampleRule {
  SampleMode mode;
  SamplePadding padding;
  bool align_corners;
};

/// A coordinate and its derivative for the one that it was made from.
template <class R>
struct SamplePlace {
  R at, slope;
};

/// From [-1, 1] to elements: the ends are centres or edges of the outermost elements.
template <class R>
HOST_DEVICE SamplePlace<R> unnormalized_place(R x, R size, bool align_corners) {
  return align_corners ? SamplePlace<R>{(x + 1) / 2 * (size - 1), (size - 1) / 2}
                       : SamplePlace<R>{((x + 1) * size - 1) / 2, size / 2};
}

template <class R>
HOST_DEVICE SamplePlace<R> clipped_place(R x, R size) {
  const R last = size - 1;
  // NaN goes to the first element.
  return x >= last ? SamplePlace<R>{last, 0} : x > 0 ? SamplePlace<R>{x, 1} : SamplePlace<R>{0, 0};
}

template <class R>
HOST_DEVICE SamplePlace<R> reflected_place(R x, R size, bool align_corners) {
  const R low = align_corners ? R(0) : R(-0.5), span = align_corners ? size - 1 : size;
  if (span == 0) {
    return {0, 0};
  }
  const R sign = x < low ? R(-1) : R(1), distance = std::abs(x - low);
  const R rest = std::fmod(distance, span), flips = std::floor(distance / span);
  return std::fmod(flips, R(2)) == 0 ? SamplePlace<R>{rest + low, sign} : SamplePlace<R>{span - rest + low, -sign};
}

template <class R>
HOST_DEVICE SamplePlace<R> padded_place(R x, R size, const SampleRule& rule) {
  if (rule.padding == SamplePadding::Zeros) {
    return {x, 1};
  }
  SamplePlace<R> p{x, 1};
  if (rule.padding == SamplePadding::Reflection) {
    p = reflected_place(x, size, rule.align_corners);
  }
  const SamplePlace<R> inside = clipped_place(p.at, size);
  return {inside.at, p.slope * inside.slope};
}

/// Taps along one dimension: elements (or -1 for none), weights, derivatives of the weights for the grid's coordinate.
/// Index numbers the elements of the backend.
template <class R, class Index>
struct LineTaps {
  int count = 0;
  Index index[4] = {};
  R weight[4] = {}, slope[4] = {};

  /// `coordinate` is the grid's, `size` the number of elements in this dimension.
  HOST_DEVICE static LineTaps at(R coordinate, Index size, const SampleRule& rule) {
    LineTaps taps;
    const R n = static_cast<R>(size);
    const SamplePlace<R> raw = unnormalized_place(coordinate, n, rule.align_corners);
    if (rule.mode == SampleMode::Cubic) {
      taps.add_cubic(raw, size, rule);
      return taps;
    }
    const SamplePlace<R> p = padded_place(raw.at, n, rule);
    if (rule.mode == SampleMode::Nearest) {
      taps.add(near_index(std::nearbyint(p.at), size), size, R(1), R(0));
      return taps;
    }
    const Index first = near_index(p.at, size);
    const R after = first == kFar ? R(0) : p.at - static_cast<R>(first), slope = raw.slope * p.slope;
    taps.add(first, size, 1 - after, -slope);
    taps.add(first + 1, size, after, slope);
    return taps;
  }
  /// The one element of a dimension that is not there.
  HOST_DEVICE static LineTaps whole() {
    LineTaps taps;
    taps.add(0, 1, R(1), R(0));
    return taps;
  }

 private:
  static constexpr Index kFar = -4;

  /// Floor as an element's number, or kFar for what is far from any element; what is near keeps its place.
  HOST_DEVICE static Index near_index(R x, Index size) {
    return x > R(-3) && x < static_cast<R>(size) + R(3) ? static_cast<Index>(std::floor(x)) : kFar;
  }
  HOST_DEVICE void add(Index at, Index size, R w, R s) {
    index[count] = at >= 0 && at < size ? at : -1;
    weight[count] = w;
    slope[count] = s;
    ++count;
  }
  // Convolution with Keys' cubic kernel, a = -0.75: Cubic convolution interpolation for digital image processing, 1981.
  HOST_DEVICE void add_cubic(const SamplePlace<R>& place, Index size, const SampleRule& rule) {
    constexpr R a = R(-0.75);
    const R base = std::floor(place.at), t = place.at - base;
    for (int k = 0; k < 4; ++k) {
      const bool near = k == 1 || k == 2;
      const R x = k < 2 ? t + R(1 - k) : R(k - 1) - t, sign = k < 2 ? R(1) : R(-1);
      const R w = near ? ((a + 2) * x - (a + 3)) * x * x + 1 : ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
      const R s = near ? (3 * (a + 2) * x - 2 * (a + 3)) * x : (3 * a * x - 10 * a) * x + 8 * a;
      // Each tap is padded by itself.
      const R at = padded_place(base + static_cast<R>(k - 1), static_cast<R>(size), rule).at;
      add(near_index(at, size), size, w, sign * s * place.slope);
    }
  }
};

} // namespace at::native
