// Resizing images. Along each dimension an element of the result is a weighted sum of a few elements, its taps; in a plain
// layout rows are resized once and then blended, in a channels-last layout all channels of a pixel are blended at once.

#include <aten/Parallel.h>
#include <aten/core/Tensor.h>
#include <aten/core/TensorSpec.h>
#include <aten/core/dtype_dispatch.h>
#include <aten/native/cpu/row_lanes.h>
#include <c10/macros/Macros.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace at::native {
inline namespace CPU_CAPABILITY {
namespace {

constexpr int64_t kGrain = 16384;

/// Nearest: a result of the size or twice the size repeats each element, whatever the scale says. PyTorch's kernels for lines
/// and for volumes by rows go by the scale alone.
enum class Mode { Nearest, NearestByScale, NearestExact, Linear, Cubic, LinearSmooth, CubicSmooth, LanczosSmooth };

bool is_nearest(Mode mode) {
  return mode == Mode::Nearest || mode == Mode::NearestByScale || mode == Mode::NearestExact;
}

// ---- taps ------------------------------------------------------------------------------------------------------------

/// Element o of the result takes elements index[o * width + k] with weight[o * width + k], k < count[o].
template <class R>
struct Taps {
  int64_t in = 1, out = 1, width = 1;
  std::vector<int64_t> index{0};
  std::vector<int64_t> count{1};
  std::vector<R> weight{R(1)};

  Taps() = default;
  Taps(int64_t in, int64_t out, int64_t width) : in(in), out(out), width(width), index(out * width), count(out, width), weight(out * width, R(1)) {}

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
  if (align_corners) return out > 1 ? static_cast<R>(in - 1) / static_cast<R>(out - 1) : R(0);
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
    int64_t at = static_cast<int64_t>(std::floor((static_cast<float>(o) + (exact ? 0.5f : 0.0f)) * step));
    if (by_sizes && out == in) at = o;
    if (by_sizes && out == 2 * in) at = o / 2;
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
    const int64_t at = std::min(static_cast<int64_t>(place), in - 1);
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
  if (mode == Mode::LanczosSmooth) return x < 3 ? sinc(x) * sinc(x / 3) : R(0);
  if (mode == Mode::LinearSmooth) return std::max(1 - x, R(0));
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
      for (int64_t k = 0; k < count; ++k) taps.weight[o * taps.width + k] /= total;
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
      for (int64_t k = o * taps.width; k < o * taps.width + taps.count[o]; ++k) f(o, taps.index[k], taps.weight[k]);
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

  Resize(Mode mode, const TensorBase& small, const TensorBase& result, bool align_corners, std::initializer_list<std::optional<double>> scales) {
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
    for (Taps<R>& taps : r.dim) taps = adjoint(taps);
    return r;
  }
  int64_t in_size() const { return dim[0].in * dim[1].in * dim[2].in; }
  int64_t out_size() const { return dim[0].out * dim[1].out * dim[2].out; }

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

// ---- forward -----------------------------------------------------------------------------------------------------------

/// What sums are rounded to.
template <class T, class R>
T rounded(R value) {
  if constexpr (std::is_integral_v<T>) return static_cast<T>(std::clamp(std::nearbyint(value), R(0), R(255)));
  else return static_cast<T>(value);
}

template <class T>
using Sum = std::conditional_t<std::is_integral_v<T>, float, at::opmath_type<T>>;

template <int Width, class T, class R>
void resize_row_of(const T* x, const Taps<R>& taps, R* to) {
  const int64_t* index = taps.index.data();
  const R* weight = taps.weight.data();
  for (int64_t o = 0; o < taps.out; ++o) {
    R sum = 0;
    for (int64_t k = 0; k < Width; ++k) sum += weight[o * Width + k] * static_cast<R>(x[index[o * Width + k]]);
    to[o] = sum;
  }
}

template <class T, class R>
void resize_row(const T* x, const Taps<R>& taps, R* to) {
  if (taps.is_uniform()) {
    if (taps.width == 1) return resize_row_of<1>(x, taps, to);
    if (taps.width == 2) return resize_row_of<2>(x, taps, to);
    if (taps.width == 4) return resize_row_of<4>(x, taps, to);
  }
  for (int64_t o = 0; o < taps.out; ++o) {
    R sum = 0;
    for (int64_t k = o * taps.width; k < o * taps.width + taps.count[o]; ++k) sum += taps.weight[k] * static_cast<R>(x[taps.index[k]]);
    to[o] = sum;
  }
}

/// sum += weight * row, or sum = weight * row.
template <class T, class R>
void add_scaled(R* sum, const T* row, R weight, int64_t n, bool first) {
  if constexpr (std::is_integral_v<T>) {
    for (int64_t i = 0; i < n; ++i) sum[i] = (first ? R(0) : sum[i]) + weight * static_cast<R>(row[i]);
  } else {
    using V = typename Lanes<T>::V;
    const V w(weight);
    for_lanes<T>(n, [&](int64_t i, auto run) {
      const V v = load_run(row + i, run) * w;
      store_run<R>(first ? v : load_run<R>(sum + i, run) + v, sum + i, run);
    });
  }
}

template <class T, class R>
void store_row(const R* row, T* to, int64_t n) {
  if constexpr (std::is_integral_v<T>) {
    for (int64_t i = 0; i < n; ++i) to[i] = rounded<T>(row[i]);
  } else {
    for_lanes<T>(n, [&](int64_t i, auto run) { store_run<T>(load_run<R>(row + i, run), to + i, run); });
  }
}

/// Rows of one plane resized along the width, each when it is first asked for.
template <class T, class R>
class ResizedRows {
 public:
  explicit ResizedRows(const Resize<R>& r) : r_(r), slots_(std::clamp<int64_t>((1 << 18) / r.dim[2].out, 8, std::max<int64_t>(8, r.dim[0].in * r.dim[1].in))), held_(slots_), rows_(slots_ * r.dim[2].out) {}

  void begin(const T* plane) {
    plane_ = plane;
    std::fill(held_.begin(), held_.end(), int64_t(-1));
  }
  const R* row(int64_t number) {
    const int64_t slot = number % slots_;
    R* to = rows_.data() + slot * r_.dim[2].out;
    if (held_[slot] == number) return to;
    held_[slot] = number;
    const T* from = plane_ + number * r_.dim[2].in;
    resize_row(from, r_.dim[2], to);
    return to;
  }

 private:
  const Resize<R>& r_;
  const int64_t slots_;
  std::vector<int64_t> held_;
  std::vector<R> rows_;
  const T* plane_ = nullptr;
};

template <class T, class R>
void resize_planes(const T* x, T* y, const Resize<R>& r) {
  const int64_t width = r.dim[2].out, grain = std::max<int64_t>(1, kGrain / (r.in_size() + r.out_size()));
  // With fewer rows in the result than in the source, rows are blended first and the blend alone is resized.
  const bool blend_first = r.dim[0].out * r.dim[1].out < r.dim[0].in * r.dim[1].in;
  at::parallel_for(0, r.batch * r.channels, grain, [&](int64_t begin, int64_t end) {
    ResizedRows<T, R> rows(r);
    std::vector<R> blend(blend_first ? r.dim[2].in : width), resized(blend_first ? width : 0);
    for (int64_t plane = begin; plane < end; ++plane) {
      const T* in = x + plane * r.in_size();
      rows.begin(in);
      T* out = y + plane * r.out_size();
      for (int64_t d = 0; d < r.dim[0].out; ++d) {
        for (int64_t h = 0; h < r.dim[1].out; ++h, out += width) {
          bool first = true;
          r.for_rows(d, h, [&](int64_t row, R weight) {
            if (blend_first) add_scaled(blend.data(), in + row * r.dim[2].in, weight, r.dim[2].in, first);
            else add_scaled(blend.data(), rows.row(row), weight, width, first);
            first = false;
          });
          if (first) std::fill(blend.begin(), blend.end(), R(0));
          if (blend_first) resize_row(blend.data(), r.dim[2], resized.data());
          store_row(blend_first ? resized.data() : blend.data(), out, width);
        }
      }
    }
  });
}

template <class T, class R>
void resize_channels_last(const T* x, T* y, const Resize<R>& r) {
  const int64_t channels = r.channels, width = r.dim[2].out, lines = r.dim[0].out * r.dim[1].out;
  const Taps<R>& columns = r.dim[2];
  at::parallel_for(0, r.batch * lines, std::max<int64_t>(1, kGrain / (8 * std::max<int64_t>(1, channels * width))), [&](int64_t begin, int64_t end) {
    // The taps of a pixel: first element of another pixel, weight.
    std::vector<std::pair<int64_t, R>> rows, taps;
    for (int64_t line = begin; line < end; ++line) {
      const T* image = x + line / lines * r.in_size() * channels;
      rows.clear();
      r.for_rows(line % lines / r.dim[1].out, line % r.dim[1].out, [&](int64_t row, R weight) { rows.emplace_back(row * columns.in, weight); });
      T* out = y + line * width * channels;
      for (int64_t o = 0; o < width; ++o, out += channels) {
        taps.clear();
        for (const auto& [row, weight] : rows) {
          for (int64_t k = o * columns.width; k < o * columns.width + columns.count[o]; ++k) {
            taps.emplace_back((row + columns.index[k]) * channels, weight * columns.weight[k]);
          }
        }
        if constexpr (std::is_integral_v<T>) {
          for (int64_t c = 0; c < channels; ++c) {
            R sum = 0;
            for (const auto& [at, weight] : taps) sum += weight * static_cast<R>(image[at + c]);
            out[c] = rounded<T>(sum);
          }
        } else {
          using V = typename Lanes<T>::V;
          for_lanes<T>(channels, [&](int64_t c, auto run) {
            V sum(R(0));
            for (const auto& [at, weight] : taps) sum += load_run(image + at + c, run) * V(weight);
            store_run<T>(sum, out + c, run);
          });
        }
      }
    }
  });
}

/// Nearest elements are copied, of any type.
template <class T>
void copy_nearest(const T* x, T* y, const Resize<float>& r, bool channels_last) {
  const int64_t inner = channels_last ? r.channels : 1, planes = channels_last ? r.batch : r.batch * r.channels;
  const Taps<float>& columns = r.dim[2];
  const int64_t width = columns.out * inner, rows = r.dim[0].out * r.dim[1].out;
  at::parallel_for(0, planes * rows, std::max<int64_t>(1, kGrain / std::max<int64_t>(1, width)), [&](int64_t begin, int64_t end) {
    const T* previous = nullptr;
    for (int64_t i = begin; i < end; ++i) {
      const int64_t row = i % rows;
      const int64_t line = r.dim[0].index[row / r.dim[1].out] * r.dim[1].in + r.dim[1].index[row % r.dim[1].out];
      const T* from = x + (i / rows * r.in_size() + line * columns.in) * inner;
      T* to = y + i * width;
      if (from == previous) {
        std::copy(to - width, to, to);
      } else if (inner == 1) {
        for (int64_t o = 0; o < columns.out; ++o) to[o] = from[columns.index[o]];
      } else {
        for (int64_t o = 0; o < columns.out; ++o) std::copy(from + columns.index[o] * inner, from + (columns.index[o] + 1) * inner, to + o * inner);
      }
      previous = from;
    }
  });
}

// ---- images of bytes -----------------------------------------------------------------------------------------------------
//
// Their weights are whole numbers of 16 bits, as many bits behind the point as the greatest of them leaves, and what comes of the
// width is rounded to bytes before the height is resized: so PyTorch gives the same bytes on all processors.

struct ByteTaps {
  int64_t in, out, width = 1;
  std::vector<int64_t> first;  // element o of the result takes `width` elements from first[o] on
  std::vector<int32_t> weight; // out x width
  int bits = 0;                // behind the point

  explicit ByteTaps(Taps<double> taps) : in(taps.in), out(taps.out), first(taps.out) {
    double greatest = 0;
    for (int64_t o = 0; o < out; ++o) {
      greatest = std::max(greatest, join_repeated(taps, o));
      width = std::max(width, taps.count[o]);
    }
    constexpr double kLimit = 1 << 15;
    while (bits < 22 && std::floor(0.5 + std::ldexp(greatest, bits + 1)) < kLimit) ++bits;
    weight.assign(out * width, 0);
    for (int64_t o = 0; o < out; ++o) {
      const int64_t begin = taps.count[o] > 0 ? taps.index[o * taps.width] : 0;
      first[o] = std::min(begin, in - width);
      for (int64_t k = 0; k < taps.count[o]; ++k) {
        const double scaled = std::ldexp(taps.weight[o * taps.width + k], bits);
        weight[o * width + begin - first[o] + k] = static_cast<int32_t>(scaled < 0 ? scaled - 0.5 : scaled + 0.5);
      }
    }
  }

  int32_t half() const { return bits > 0 ? 1 << (bits - 1) : 0; }

 private:
  /// Beyond an edge taps stand for the outermost element, and there they count as one. The greatest weight.
  static double join_repeated(Taps<double>& taps, int64_t o) {
    int64_t* at = taps.index.data() + o * taps.width;
    double* w = taps.weight.data() + o * taps.width;
    int64_t kept = 0;
    for (int64_t k = 0; k < taps.count[o]; ++k) {
      if (kept > 0 && at[kept - 1] == at[k]) {
        w[kept - 1] += w[k];
      } else {
        at[kept] = at[k];
        w[kept++] = w[k];
      }
    }
    taps.count[o] = kept;
    return kept == 0 ? 0 : *std::max_element(w, w + kept);
  }
};

/// One element of the result, `inner` bytes, of `taps` elements. Numbers that are 0 here are known at run time only.
template <int Width, int Inner>
C10_ALWAYS_INLINE void weigh_bytes(
    const uint8_t* __restrict from, const int32_t* __restrict weight, int64_t taps, int64_t count, int32_t half, int bits,
    int32_t* __restrict sum, uint8_t* __restrict to) {
  const int64_t width = Width > 0 ? Width : taps, inner = Inner > 0 ? Inner : count;
  if constexpr (Width == 0 && Inner == 0) {
    std::fill_n(sum, inner, half);
    for (int64_t k = 0; k < width; ++k, from += inner) {
      for (int64_t i = 0; i < inner; ++i) sum[i] += weight[k] * from[i];
    }
    for (int64_t i = 0; i < inner; ++i) to[i] = static_cast<uint8_t>(std::clamp(sum[i] >> bits, 0, 255));
  } else {
    for (int64_t i = 0; i < inner; ++i) {
      int32_t one = half;
      for (int64_t k = 0; k < width; ++k) one += weight[k] * from[k * inner + i];
      to[i] = static_cast<uint8_t>(std::clamp(one >> bits, 0, 255));
    }
  }
}

#if defined(__AVX2__)
/// Lines of single bytes, eight elements of the result at a time: each reads its two to four neighbouring bytes as one word.
struct GatheredBytes {
  std::vector<int32_t> first, low, high; // of each element: where its word begins, and its weights in pairs of 16 bits
  int64_t count = 0;                     // elements of a line whose words end within it, in whole eights
  __m256i half;
  __m128i bits;

  explicit GatheredBytes(const ByteTaps& taps) : half(_mm256_set1_epi32(taps.half())), bits(_mm_cvtsi32_si128(taps.bits)) {
    while (count < taps.out && taps.first[count] + 4 <= taps.in) ++count;
    count -= count % 8;
    for (int64_t o = 0; o < count; ++o) {
      const auto weight = [&](int64_t k) { return k < taps.width ? static_cast<uint32_t>(taps.weight[o * taps.width + k]) & 0xffff : 0; };
      first.push_back(static_cast<int32_t>(taps.first[o]));
      low.push_back(static_cast<int32_t>(weight(0) | weight(1) << 16));
      high.push_back(static_cast<int32_t>(weight(2) | weight(3) << 16));
    }
  }

  static bool takes(const ByteTaps& taps, int64_t inner) {
    return inner == 1 && taps.width >= 2 && taps.width <= 4 && taps.in < INT32_MAX;
  }

  /// Elements o to o + 7.
  void resize(const uint8_t* from, int64_t o, uint8_t* to) const {
    const auto eight = [o](const std::vector<int32_t>& list) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(list.data() + o)); };
    const __m256i words = _mm256_i32gather_epi32(reinterpret_cast<const int*>(from), eight(first), 1);
    // The bytes of a word with zeros between them.
    const __m256i even = _mm256_setr_epi8(
        0, -1, 1, -1, 4, -1, 5, -1, 8, -1, 9, -1, 12, -1, 13, -1, 0, -1, 1, -1, 4, -1, 5, -1, 8, -1, 9, -1, 12, -1, 13, -1);
    const __m256i odd = _mm256_setr_epi8(
        2, -1, 3, -1, 6, -1, 7, -1, 10, -1, 11, -1, 14, -1, 15, -1, 2, -1, 3, -1, 6, -1, 7, -1, 10, -1, 11, -1, 14, -1, 15, -1);
    const __m256i sums = _mm256_add_epi32(
        half, _mm256_add_epi32(
                  _mm256_madd_epi16(_mm256_shuffle_epi8(words, even), eight(low)),
                  _mm256_madd_epi16(_mm256_shuffle_epi8(words, odd), eight(high))));
    const __m256i shifted = _mm256_sra_epi32(sums, bits);
    const __m128i shorts = _mm_packs_epi32(_mm256_castsi256_si128(shifted), _mm256_extracti128_si256(shifted, 1));
    _mm_storel_epi64(reinterpret_cast<__m128i*>(to), _mm_packus_epi16(shorts, shorts));
  }
};

void resize_gathered_lines(const uint8_t* x, uint8_t* y, int64_t lines, const ByteTaps& taps) {
  const GatheredBytes gathered(taps);
  at::parallel_for(0, lines, std::max<int64_t>(1, kGrain / taps.out), [&](int64_t begin, int64_t end) {
    for (int64_t line = begin; line < end; ++line) {
      const uint8_t* from = x + line * taps.in;
      uint8_t* to = y + line * taps.out;
      for (int64_t o = 0; o < gathered.count; o += 8) gathered.resize(from, o, to + o);
      for (int64_t o = gathered.count; o < taps.out; ++o) {
        weigh_bytes<0, 1>(
            from + taps.first[o], taps.weight.data() + o * taps.width, taps.width, 1, taps.half(), taps.bits, nullptr, to + o);
      }
    }
  });
}

/// The weights of each element of the result as numbers of 16 bits, with zeros up to a multiple of `Step` of them.
template <int Step>
struct ShortWeights {
  int64_t width; // with the zeros
  std::vector<int16_t> weight;

  explicit ShortWeights(const ByteTaps& taps) : width((taps.width + Step - 1) / Step * Step), weight(taps.out * width, 0) {
    for (int64_t o = 0; o < taps.out; ++o) {
      std::copy_n(taps.weight.begin() + o * taps.width, taps.width, weight.begin() + o * width);
    }
  }

  const int16_t* of(int64_t o) const { return weight.data() + o * width; }
  /// Two of them, for products of pairs.
  static int32_t pair(const int16_t* at) {
    int32_t both;
    std::memcpy(&both, at, sizeof(both));
    return both;
  }
};

/// Pixels of 3 or 4 bytes: two neighbours are read as one word of 8 bytes.
template <int Channels>
void resize_pixels(const uint8_t* x, uint8_t* y, int64_t lines, const ByteTaps& taps) {
  const ShortWeights<2> weights(taps);
  const uint8_t* const end = x + lines * taps.in * Channels;
  const __m128i half = _mm_set1_epi32(taps.half()), bits = _mm_cvtsi32_si128(taps.bits);
  // The bytes of a channel of both, as pairs of 16 bits.
  const __m128i pairs = Channels == 3 ? _mm_setr_epi8(0, -1, 3, -1, 1, -1, 4, -1, 2, -1, 5, -1, -1, -1, -1, -1)
                                      : _mm_setr_epi8(0, -1, 4, -1, 1, -1, 5, -1, 2, -1, 6, -1, 3, -1, 7, -1);
  at::parallel_for(0, lines, std::max<int64_t>(1, kGrain / (Channels * taps.out)), [&](int64_t first_line, int64_t last_line) {
    for (int64_t line = first_line; line < last_line; ++line) {
      uint8_t* const to = y + line * taps.out * Channels;
      for (int64_t o = 0; o < taps.out; ++o) {
        const uint8_t* from = x + (line * taps.in + taps.first[o]) * Channels;
        // Four bytes are written, and eight read: not at the end.
        if (o + 1 == taps.out || end - from < (weights.width - 2) * Channels + 8) {
          weigh_bytes<0, Channels>(
              from, taps.weight.data() + o * taps.width, taps.width, Channels, taps.half(), taps.bits, nullptr, to + o * Channels);
          continue;
        }
        const int16_t* const weight = weights.of(o);
        __m128i sum = half;
        for (int64_t k = 0; k < weights.width; k += 2, from += 2 * Channels) {
          const __m128i both = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(from));
          sum = _mm_add_epi32(sum, _mm_madd_epi16(_mm_shuffle_epi8(both, pairs), _mm_set1_epi32(weights.pair(weight + k))));
        }
        const __m128i shorts = _mm_packs_epi32(_mm_sra_epi32(sum, bits), sum);
        const int32_t four = _mm_cvtsi128_si32(_mm_packus_epi16(shorts, shorts));
        std::memcpy(to + o * Channels, &four, sizeof(four));
      }
    }
  });
}

/// Lines of single bytes, each of the result of many neighbours.
void resize_by_long_taps(const uint8_t* x, uint8_t* y, int64_t lines, const ByteTaps& taps) {
  const ShortWeights<16> weights(taps);
  const uint8_t* const end = x + lines * taps.in;
  at::parallel_for(0, lines, std::max<int64_t>(1, kGrain / taps.out), [&](int64_t first_line, int64_t last_line) {
    for (int64_t line = first_line; line < last_line; ++line) {
      for (int64_t o = 0; o < taps.out; ++o) {
        const uint8_t* const from = x + line * taps.in + taps.first[o];
        uint8_t* const to = y + line * taps.out + o;
        if (end - from < weights.width) {
          weigh_bytes<0, 1>(from, taps.weight.data() + o * taps.width, taps.width, 1, taps.half(), taps.bits, nullptr, to);
          continue;
        }
        const int16_t* const weight = weights.of(o);
        __m256i sum = _mm256_setzero_si256();
        for (int64_t k = 0; k < weights.width; k += 16) {
          const __m256i bytes = _mm256_cvtepu8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from + k)));
          sum = _mm256_add_epi32(
              sum, _mm256_madd_epi16(bytes, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(weight + k))));
        }
        __m128i four = _mm_add_epi32(_mm256_castsi256_si128(sum), _mm256_extracti128_si256(sum, 1));
        four = _mm_add_epi32(four, _mm_shuffle_epi32(four, 0x4e));
        four = _mm_add_epi32(four, _mm_shuffle_epi32(four, 0xb1));
        *to = static_cast<uint8_t>(std::clamp((_mm_cvtsi128_si32(four) + taps.half()) >> taps.bits, 0, 255));
      }
    }
  });
}

constexpr int64_t kByteColumns = 16;

/// Lines whose elements are rows of at least kByteColumns bytes: so many columns at a time.
void resize_byte_rows(const uint8_t* x, uint8_t* y, int64_t lines, int64_t inner, const ByteTaps& taps) {
  const ShortWeights<2> weights(taps);
  const __m256i half = _mm256_set1_epi32(taps.half());
  const __m128i bits = _mm_cvtsi32_si128(taps.bits);
  at::parallel_for(0, lines * taps.out, std::max<int64_t>(1, kGrain / (4 * inner)), [&](int64_t begin, int64_t end) {
    for (int64_t at = begin; at < end; ++at) {
      const int64_t o = at % taps.out;
      const uint8_t* const from = x + (at / taps.out * taps.in + taps.first[o]) * inner;
      const int16_t* const weight = weights.of(o);
      uint8_t* const to = y + at * inner;
      const auto columns = [&](int64_t i) {
        const auto row = [&](int64_t k) {
          return _mm256_cvtepu8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from + k * inner + i)));
        };
        __m256i low = half, high = half;
        for (int64_t k = 0; k < taps.width; k += 2) {
          const __m256i a = row(k), b = k + 1 < taps.width ? row(k + 1) : _mm256_setzero_si256();
          const __m256i both = _mm256_set1_epi32(weights.pair(weight + k));
          low = _mm256_add_epi32(low, _mm256_madd_epi16(_mm256_unpacklo_epi16(a, b), both));
          high = _mm256_add_epi32(high, _mm256_madd_epi16(_mm256_unpackhi_epi16(a, b), both));
        }
        const __m256i shorts = _mm256_packs_epi32(_mm256_sra_epi32(low, bits), _mm256_sra_epi32(high, bits));
        const __m256i bytes = _mm256_permute4x64_epi64(_mm256_packus_epi16(shorts, shorts), 0x08);
        _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i), _mm256_castsi256_si128(bytes));
      };
      int64_t i = 0;
      for (; i + kByteColumns <= inner; i += kByteColumns) columns(i);
      if (i < inner) columns(inner - kByteColumns);
    }
  });
}
#endif

/// Lines [in, inner] of bytes become [out, inner].
template <int Width, int Inner>
void resize_byte_lines(const uint8_t* x, uint8_t* y, int64_t lines, int64_t inner, const ByteTaps& taps) {
  at::parallel_for(0, lines * taps.out, std::max<int64_t>(1, kGrain / (4 * inner)), [&](int64_t begin, int64_t end) {
    std::vector<int32_t> sum(inner);
    const int64_t* __restrict first = taps.first.data();
    const int32_t* __restrict weight = taps.weight.data();
    const int64_t width = taps.width;
    const int32_t half = taps.half();
    const int bits = taps.bits;
    for (int64_t at = begin; at < end;) {
      const uint8_t* from = x + at / taps.out * taps.in * inner;
      const int64_t o = at % taps.out, last = std::min(taps.out, o + end - at);
      uint8_t* __restrict to = y + at * inner;
      for (int64_t i = o; i < last; ++i) {
        weigh_bytes<Width, Inner>(
            from + first[i] * inner, weight + i * width, width, inner, half, bits, sum.data(), to + (i - o) * inner);
      }
      at += last - o;
    }
  });
}

template <int Width>
void resize_byte_lines(const uint8_t* x, uint8_t* y, int64_t lines, int64_t inner, const ByteTaps& taps) {
  if (inner == 1) return resize_byte_lines<Width, 1>(x, y, lines, inner, taps);
  if (inner == 3) return resize_byte_lines<Width, 3>(x, y, lines, inner, taps);
  resize_byte_lines<Width, 0>(x, y, lines, inner, taps);
}

void resize_byte_lines(const uint8_t* x, uint8_t* y, int64_t lines, int64_t inner, const ByteTaps& taps) {
#if defined(__AVX2__)
  if (GatheredBytes::takes(taps, inner)) return resize_gathered_lines(x, y, lines, taps);
  if (inner == 1 && taps.width > 4) return resize_by_long_taps(x, y, lines, taps);
  if (inner == 3) return resize_pixels<3>(x, y, lines, taps);
  if (inner == 4) return resize_pixels<4>(x, y, lines, taps);
  if (inner >= kByteColumns) return resize_byte_rows(x, y, lines, inner, taps);
#endif
  if (taps.width == 2) return resize_byte_lines<2>(x, y, lines, inner, taps);
  if (taps.width == 3) return resize_byte_lines<3>(x, y, lines, inner, taps);
  if (taps.width == 4) return resize_byte_lines<4>(x, y, lines, inner, taps);
  resize_byte_lines<0>(x, y, lines, inner, taps);
}

void resize_bytes(const uint8_t* x, uint8_t* y, const Resize<double>& r, bool channels_last) {
  const int64_t inner = channels_last ? r.channels : 1, planes = channels_last ? r.batch : r.batch * r.channels;
  const int64_t rows = planes * r.dim[1].in, row = r.dim[2].out * inner;
  // A dimension that keeps its size is left as it is, whatever the scale says.
  const bool same_width = r.dim[2].in == r.dim[2].out, same_height = r.dim[1].in == r.dim[1].out;
  if (same_width && same_height) {
    std::copy_n(x, rows * row, y);
  } else if (same_height) {
    resize_byte_lines(x, y, rows, inner, ByteTaps(r.dim[2]));
  } else if (same_width) {
    resize_byte_lines(x, y, planes, row, ByteTaps(r.dim[1]));
  } else {
    const Tensor between = at::empty_contiguous({rows * row}, c10::ScalarType::Byte, c10::Device(c10::DeviceType::CPU));
    resize_byte_lines(x, between.mutable_data_ptr<uint8_t>(), rows, inner, ByteTaps(r.dim[2]));
    resize_byte_lines(between.const_data_ptr<uint8_t>(), y, planes, row, ByteTaps(r.dim[1]));
  }
}

/// `wanted`, or where it has another layout or dtype a tensor that has them.
Tensor writable(const TensorBase& wanted, c10::MemoryFormat format, c10::ScalarType dtype) {
  if (wanted.scalar_type() == dtype && wanted.is_contiguous(format)) return Tensor(wanted);
  TensorSpec spec = TensorSpec::like(wanted, wanted.sizes(), dtype);
  spec.memory_format = format;
  return at::empty_spec(spec);
}

void finish(const Tensor& written, const TensorBase& wanted) {
  if (!written.is_same(Tensor(wanted))) Tensor(wanted).copy_(written);
}

void resize(const char* op, Mode mode, const TensorBase& self, bool align_corners, std::initializer_list<std::optional<double>> scales, const TensorBase& out) {
  if (out.numel() == 0) return;
  const auto format = self.suggest_memory_format();
  const bool channels_last = format != c10::MemoryFormat::Contiguous;
  const TensorBase x = self.contiguous(format);
  const Tensor y = writable(out, format, out.scalar_type());
  dispatch(op, self.scalar_type(), kFloating | dtype_set<c10::ScalarType::Byte>, [&]<class T> {
    const T* from = x.const_data_ptr<T>();
    T* to = y.mutable_data_ptr<T>();
    if (is_nearest(mode)) {
      const bool by_scale = mode == Mode::Nearest && scales.size() != 2 && !(channels_last && self.size(1) > 3);
      return copy_nearest(from, to, Resize<float>(by_scale ? Mode::NearestByScale : mode, x, y, align_corners, scales), channels_last);
    }
    if constexpr (std::is_same_v<T, uint8_t>) {
      if (scales.size() == 2) return resize_bytes(from, to, Resize<double>(mode, x, y, align_corners, scales), channels_last);
    }
    const Resize<Sum<T>> r(mode, x, y, align_corners, scales);
    if (channels_last) resize_channels_last(from, to, r);
    else resize_planes(from, to, r);
  });
  finish(y, out);
}

// ---- backward ------------------------------------------------------------------------------------------------------------

void resize_backward(const char* op, Mode mode, const TensorBase& grad_output, bool align_corners, std::initializer_list<std::optional<double>> scales, const TensorBase& grad_input) {
  if (grad_input.numel() == 0) return;
  const auto format = grad_output.suggest_memory_format();
  const TensorBase grad = grad_output.contiguous(format);
  const Tensor dx = writable(grad_input, format, grad.scalar_type());
  dispatch(op, grad.scalar_type(), kFloating, [&]<class T> {
    const Resize<Sum<T>> r = Resize<Sum<T>>(mode, dx, grad, align_corners, scales).back();
    if (format != c10::MemoryFormat::Contiguous) resize_channels_last(grad.const_data_ptr<T>(), dx.mutable_data_ptr<T>(), r);
    else resize_planes(grad.const_data_ptr<T>(), dx.mutable_data_ptr<T>(), r);
  });
  finish(dx, grad_input);
}

} // namespace

void upsample_nearest1d_kernel(const TensorBase& self, IntArrayRef, std::optional<double> scales, const TensorBase& out) {
  resize("upsample_nearest1d", Mode::Nearest, self, false, {scales}, out);
}

void upsample_nearest1d_backward_kernel(const TensorBase& grad_output, IntArrayRef, IntArrayRef, std::optional<double> scales, const TensorBase& grad_input) {
  resize_backward("upsample_nearest1d_backward", Mode::Nearest, grad_output, false, {scales}, grad_input);
}

void upsample_nearest2d_kernel(const TensorBase& self, IntArrayRef, std::optional<double> scales_h, std::optional<double> scales_w, const TensorBase& out) {
  resize("upsample_nearest2d", Mode::Nearest, self, false, {scales_h, scales_w}, out);
}

void upsample_nearest2d_backward_kernel(const TensorBase& grad_output, IntArrayRef, IntArrayRef, std::optional<double> scales_h, std::optional<double> scales_w, const TensorBase& grad_input) {
  resize_backward("upsample_nearest2d_backward", Mode::Nearest, grad_output, false, {scales_h, scales_w}, grad_input);
}

void upsample_nearest3d_kernel(const TensorBase& self, IntArrayRef, std::optional<double> scales_d, std::optional<double> scales_h, std::optional<double> scales_w, const TensorBase& out) {
  resize("upsample_nearest3d", Mode::Nearest, self, false, {scales_d, scales_h, scales_w}, out);
}

void upsample_nearest3d_backward_kernel(const TensorBase& grad_output, IntArrayRef, IntArrayRef, std::optional<double> scales_d, std::optional<double> scales_h, std::optional<double> scales_w, const TensorBase& grad_input) {
  resize_backward("upsample_nearest3d_backward", Mode::Nearest, grad_output, false, {scales_d, scales_h, scales_w}, grad_input);
}

void upsample_nearest_exact1d_kernel(const TensorBase& self, IntArrayRef, std::optional<double> scales, const TensorBase& out) {
  resize("_upsample_nearest_exact1d", Mode::NearestExact, self, false, {scales}, out);
}

void upsample_nearest_exact1d_backward_kernel(const TensorBase& grad_output, IntArrayRef, IntArrayRef, std::optional<double> scales, const TensorBase& grad_input) {
  resize_backward("_upsample_nearest_exact1d_backward", Mode::NearestExact, grad_output, false, {scales}, grad_input);
}

void upsample_nearest_exact2d_kernel(const TensorBase& self, IntArrayRef, std::optional<double> scales_h, std::optional<double> scales_w, const TensorBase& out) {
  resize("_upsample_nearest_exact2d", Mode::NearestExact, self, false, {scales_h, scales_w}, out);
}

void upsample_nearest_exact2d_backward_kernel(const TensorBase& grad_output, IntArrayRef, IntArrayRef, std::optional<double> scales_h, std::optional<double> scales_w, const TensorBase& grad_input) {
  resize_backward("_upsample_nearest_exact2d_backward", Mode::NearestExact, grad_output, false, {scales_h, scales_w}, grad_input);
}

void upsample_nearest_exact3d_kernel(const TensorBase& self, IntArrayRef, std::optional<double> scales_d, std::optional<double> scales_h, std::optional<double> scales_w, const TensorBase& out) {
  resize("_upsample_nearest_exact3d", Mode::NearestExact, self, false, {scales_d, scales_h, scales_w}, out);
}

void upsample_nearest_exact3d_backward_kernel(const TensorBase& grad_output, IntArrayRef, IntArrayRef, std::optional<double> scales_d, std::optional<double> scales_h, std::optional<double> scales_w, const TensorBase& grad_input) {
  resize_backward("_upsample_nearest_exact3d_backward", Mode::NearestExact, grad_output, false, {scales_d, scales_h, scales_w}, grad_input);
}

void upsample_linear1d_kernel(const TensorBase& self, IntArrayRef, bool align_corners, std::optional<double> scales, const TensorBase& out) {
  resize("upsample_linear1d", Mode::Linear, self, align_corners, {scales}, out);
}

void upsample_linear1d_backward_kernel(const TensorBase& grad_output, IntArrayRef, IntArrayRef, bool align_corners, std::optional<double> scales, const TensorBase& grad_input) {
  resize_backward("upsample_linear1d_backward", Mode::Linear, grad_output, align_corners, {scales}, grad_input);
}

void upsample_bilinear2d_kernel(const TensorBase& self, IntArrayRef, bool align_corners, std::optional<double> scales_h, std::optional<double> scales_w, const TensorBase& out) {
  resize("upsample_bilinear2d", Mode::Linear, self, align_corners, {scales_h, scales_w}, out);
}

void upsample_bilinear2d_backward_kernel(const TensorBase& grad_output, IntArrayRef, IntArrayRef, bool align_corners, std::optional<double> scales_h, std::optional<double> scales_w, const TensorBase& grad_input) {
  resize_backward("upsample_bilinear2d_backward", Mode::Linear, grad_output, align_corners, {scales_h, scales_w}, grad_input);
}

void upsample_trilinear3d_kernel(const TensorBase& self, IntArrayRef, bool align_corners, std::optional<double> scales_d, std::optional<double> scales_h, std::optional<double> scales_w, const TensorBase& out) {
  resize("upsample_trilinear3d", Mode::Linear, self, align_corners, {scales_d, scales_h, scales_w}, out);
}

void upsample_trilinear3d_backward_kernel(const TensorBase& grad_output, IntArrayRef, IntArrayRef, bool align_corners, std::optional<double> scales_d, std::optional<double> scales_h, std::optional<double> scales_w, const TensorBase& grad_input) {
  resize_backward("upsample_trilinear3d_backward", Mode::Linear, grad_output, align_corners, {scales_d, scales_h, scales_w}, grad_input);
}

void upsample_bicubic2d_kernel(const TensorBase& self, IntArrayRef, bool align_corners, std::optional<double> scales_h, std::optional<double> scales_w, const TensorBase& out) {
  resize("upsample_bicubic2d", Mode::Cubic, self, align_corners, {scales_h, scales_w}, out);
}

void upsample_bicubic2d_backward_kernel(const TensorBase& grad_output, IntArrayRef, IntArrayRef, bool align_corners, std::optional<double> scales_h, std::optional<double> scales_w, const TensorBase& grad_input) {
  resize_backward("upsample_bicubic2d_backward", Mode::Cubic, grad_output, align_corners, {scales_h, scales_w}, grad_input);
}

void upsample_bilinear2d_aa_kernel(const TensorBase& self, IntArrayRef, bool align_corners, std::optional<double> scales_h, std::optional<double> scales_w, const TensorBase& out) {
  resize("_upsample_bilinear2d_aa", Mode::LinearSmooth, self, align_corners, {scales_h, scales_w}, out);
}

void upsample_bilinear2d_aa_backward_kernel(const TensorBase& grad_output, IntArrayRef, IntArrayRef, bool align_corners, std::optional<double> scales_h, std::optional<double> scales_w, const TensorBase& grad_input) {
  resize_backward("_upsample_bilinear2d_aa_backward", Mode::LinearSmooth, grad_output, align_corners, {scales_h, scales_w}, grad_input);
}

void upsample_bicubic2d_aa_kernel(const TensorBase& self, IntArrayRef, bool align_corners, std::optional<double> scales_h, std::optional<double> scales_w, const TensorBase& out) {
  resize("_upsample_bicubic2d_aa", Mode::CubicSmooth, self, align_corners, {scales_h, scales_w}, out);
}

void upsample_bicubic2d_aa_backward_kernel(const TensorBase& grad_output, IntArrayRef, IntArrayRef, bool align_corners, std::optional<double> scales_h, std::optional<double> scales_w, const TensorBase& grad_input) {
  resize_backward("_upsample_bicubic2d_aa_backward", Mode::CubicSmooth, grad_output, align_corners, {scales_h, scales_w}, grad_input);
}

void upsample_lanczos2d_aa_kernel(const TensorBase& self, IntArrayRef, bool align_corners, std::optional<double> scales_h, std::optional<double> scales_w, const TensorBase& out) {
  resize("_upsample_lanczos2d_aa", Mode::LanczosSmooth, self, align_corners, {scales_h, scales_w}, out);
}

void upsample_lanczos2d_aa_backward_kernel(const TensorBase& grad_output, IntArrayRef, IntArrayRef, bool align_corners, std::optional<double> scales_h, std::optional<double> scales_w, const TensorBase& grad_input) {
  resize_backward("_upsample_lanczos2d_aa_backward", Mode::LanczosSmooth, grad_output, align_corners, {scales_h, scales_w}, grad_input);
}

} // namespace CPU_CAPABILITY
} // namespace at::native
