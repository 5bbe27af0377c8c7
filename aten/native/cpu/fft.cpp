// Fourier transforms along the dimensions of a tensor.
//
// Lines are transformed some at a time: they are gathered into two planes, real and imaginary parts, with the lines side by
// side, so that each arithmetic step runs over all of them at once, and scattered to the output. A transform is a sequence of
// Stockham passes between two such pairs of planes, which leave the points in order. Two lines of real numbers go as the real
// and the imaginary part of one complex line.
#include <aten/Parallel.h>
#include <aten/core/Tensor.h>
#include <aten/core/TensorSpec.h>
#include <aten/core/dtype_dispatch.h>
#include <aten/native/cpu/generic/fft_plan.h>
#include <aten/native/transposed_copy.h>

#include <c10/core/WrapDimMinimal.h>
#include <c10/util/DimVector.h>
#include <c10/util/complex.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

namespace at::native {
inline namespace CPU_CAPABILITY {

namespace {

template <class T>
struct Planes {
  T* re;
  T* im;
};

// ---- passes --------------------------------------------------------------------------------------------------------------

template <class T>
struct Point {
  T re, im;
};
template <class T>
inline Point<T> operator+(Point<T> a, Point<T> b) {
  return {a.re + b.re, a.im + b.im};
}
template <class T>
inline Point<T> operator-(Point<T> a, Point<T> b) {
  return {a.re - b.re, a.im - b.im};
}
template <class T>
inline Point<T> operator*(Point<T> a, Point<T> b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
template <class T>
inline Point<T> operator*(T a, Point<T> b) {
  return {a * b.re, a * b.im};
}
/// -i a
template <class T>
inline Point<T> turned(Point<T> a) {
  return {a.im, -a.re};
}

template <int R, class T>
inline void butterfly(Point<T> (&a)[R]) {
  if constexpr (R == 2) {
    const Point<T> sum = a[0] + a[1];
    a[1] = a[0] - a[1];
    a[0] = sum;
  } else if constexpr (R == 3) {
    constexpr T kSin = T(0.86602540378443864676);
    const Point<T> sum = a[1] + a[2], difference = turned(kSin * (a[1] - a[2]));
    const Point<T> middle = a[0] - T(0.5) * sum;
    a[0] = a[0] + sum;
    a[1] = middle + difference;
    a[2] = middle - difference;
  } else if constexpr (R == 4) {
    const Point<T> even = a[0] + a[2], odd = a[1] + a[3];
    const Point<T> even_difference = a[0] - a[2], odd_difference = turned(a[1] - a[3]);
    a[0] = even + odd;
    a[1] = even_difference + odd_difference;
    a[2] = even - odd;
    a[3] = even_difference - odd_difference;
  } else {
    static_assert(R == 5);
    constexpr T kCos1 = T(0.30901699437494742410), kCos2 = T(-0.80901699437494742410);
    constexpr T kSin1 = T(0.95105651629515357212), kSin2 = T(0.58778525229247312917);
    const Point<T> outer = a[1] + a[4], inner = a[2] + a[3];
    const Point<T> outer_difference = a[1] - a[4], inner_difference = a[2] - a[3];
    const Point<T> first = a[0] + kCos1 * outer + kCos2 * inner, second = a[0] + kCos2 * outer + kCos1 * inner;
    const Point<T> first_turned = turned(kSin1 * outer_difference + kSin2 * inner_difference);
    const Point<T> second_turned = turned(kSin2 * outer_difference - kSin1 * inner_difference);
    a[0] = a[0] + outer + inner;
    a[1] = first + first_turned;
    a[4] = first - first_turned;
    a[2] = second + second_turned;
    a[3] = second - second_turned;
  }
}

/// y[p][k][q] = w^(p k) sum_j x[j][p][q] r^(j k), for p below `rest` and q below `width`.
template <int R, class T>
[[gnu::noinline]] void run_pass(const FftPass& pass, const FftPlan<T>& plan, int64_t width, Planes<T> x, Planes<T> y) {
  const int64_t rest = pass.rest, step = rest * width;
  const T* const w_re = plan.re.data() + pass.first_twiddle;
  const T* const w_im = plan.im.data() + pass.first_twiddle;
  const T* __restrict const x_re = x.re;
  const T* __restrict const x_im = x.im;
  T* __restrict const y_re = y.re;
  T* __restrict const y_im = y.im;
  const auto one = [=](int64_t from, int64_t to, const Point<T>* w) __attribute__((always_inline)) {
    Point<T> a[R];
    for (int j = 0; j < R; ++j) a[j] = {x_re[from + j * step], x_im[from + j * step]};
    butterfly<R>(a);
    y_re[to] = a[0].re;
    y_im[to] = a[0].im;
    for (int k = 1; k < R; ++k) {
      const Point<T> result = a[k] * w[k];
      y_re[to + k * width] = result.re;
      y_im[to + k * width] = result.im;
    }
  };
  if (width == 1) {
    // Nothing lies side by side yet: run over the groups instead.
#pragma omp simd
    for (int64_t p = 0; p < rest; ++p) {
      Point<T> w[R];
      for (int k = 1; k < R; ++k) w[k] = {w_re[p * (R - 1) + k - 1], w_im[p * (R - 1) + k - 1]};
      one(p, p * R, w);
    }
    return;
  }
  for (int64_t p = 0; p < rest; ++p) {
    Point<T> w[R];
    for (int k = 1; k < R; ++k) w[k] = {w_re[p * (R - 1) + k - 1], w_im[p * (R - 1) + k - 1]};
    const int64_t from = p * width, to = p * R * width;
#pragma omp simd
    for (int64_t q = 0; q < width; ++q) one(from + q, to + q, w);
  }
}

/// A pass of any radix, by the definition.
template <class T>
void run_any_pass(const FftPass& pass, const FftPlan<T>& plan, int64_t width, Planes<T> x, Planes<T> y) {
  const int64_t radix = pass.radix, rest = pass.rest, step = rest * width;
  for (int64_t p = 0; p < rest; ++p) {
    for (int64_t k = 0; k < radix; ++k) {
      T* const to_re = y.re + (p * radix + k) * width;
      T* const to_im = y.im + (p * radix + k) * width;
      const T* const from_re = x.re + p * width;
      const T* const from_im = x.im + p * width;
#pragma omp simd
      for (int64_t q = 0; q < width; ++q) {
        to_re[q] = from_re[q];
        to_im[q] = from_im[q];
      }
      for (int64_t j = 1; j < radix; ++j) {
        const Point<T> w{plan.re[pass.first_root + j * k % radix], plan.im[pass.first_root + j * k % radix]};
#pragma omp simd
        for (int64_t q = 0; q < width; ++q) {
          const Point<T> term = Point<T>{from_re[q + j * step], from_im[q + j * step]} * w;
          to_re[q] += term.re;
          to_im[q] += term.im;
        }
      }
      if (k == 0 || p == 0) continue;
      const int64_t at = pass.first_twiddle + p * (radix - 1) + k - 1;
      const Point<T> w{plan.re[at], plan.im[at]};
#pragma omp simd
      for (int64_t q = 0; q < width; ++q) {
        const Point<T> value = Point<T>{to_re[q], to_im[q]} * w;
        to_re[q] = value.re;
        to_im[q] = value.im;
      }
    }
  }
}

/// Transforms `width` lines in `a`; the result is in the planes that come back, `a` or `b`.
template <class T>
Planes<T> run_passes(const FftPlan<T>& plan, int64_t width, Planes<T> a, Planes<T> b) {
  for (const FftPass& pass : plan.passes) {
    switch (pass.radix) {
      case 2: run_pass<2>(pass, plan, width, a, b); break;
      case 3: run_pass<3>(pass, plan, width, a, b); break;
      case 4: run_pass<4>(pass, plan, width, a, b); break;
      case 5: run_pass<5>(pass, plan, width, a, b); break;
      default: run_any_pass(pass, plan, width, a, b); break;
    }
    width *= pass.radix;
    std::swap(a, b);
  }
  return a;
}

template <class T>
void multiply_lines(Planes<T> x, int64_t count, int64_t width, const std::vector<T>& re, const std::vector<T>& im) {
  for (int64_t i = 0; i < count; ++i) {
    const Point<T> w{re[i], im[i]};
#pragma omp simd
    for (int64_t q = 0; q < width; ++q) {
      const Point<T> value = Point<T>{x.re[i * width + q], x.im[i * width + q]} * w;
      x.re[i * width + q] = value.re;
      x.im[i * width + q] = value.im;
    }
  }
}

template <class T>
Planes<T> transform(const FftPlan<T>& plan, int64_t width, Planes<T> a, Planes<T> b) {
  if (plan.inner == nullptr) return run_passes(plan, width, a, b);
  // Bluestein: x times a chirp, convolved with the opposite chirp, times the chirp again.
  const int64_t n = plan.n, length = plan.inner->n;
  multiply_lines(a, n, width, plan.chirp_re, plan.chirp_im);
  std::fill(a.re + n * width, a.re + length * width, T(0));
  std::fill(a.im + n * width, a.im + length * width, T(0));
  const Planes<T> spectrum = run_passes(*plan.inner, width, a, b);
  multiply_lines(spectrum, length, width, plan.kernel_re, plan.kernel_im);
  // The way back swaps real and imaginary parts before and after.
  const Planes<T> other = spectrum.re == a.re ? b : a;
  Planes<T> result = run_passes(*plan.inner, width, Planes<T>{spectrum.im, spectrum.re}, Planes<T>{other.im, other.re});
  std::swap(result.re, result.im);
  multiply_lines(result, n, width, plan.chirp_re, plan.chirp_im);
  return result;
}

// ---- lines of tensors ------------------------------------------------------------------------------------------------------

/// All lines along one dimension of two tensors that agree in the other dimensions.
class Lines {
 public:
  Lines(const TensorBase& in, const TensorBase& out, int64_t dim) : in_stride_(in.stride(dim)), out_stride_(out.stride(dim)) {
    for (int64_t d = 0; d < in.dim(); ++d) {
      if (d != dim && in.size(d) != 1) dims_.push_back({in.size(d), in.stride(d), out.stride(d)});
    }
    // Lines that are neighbours in memory are neighbours in number.
    std::stable_sort(dims_.begin(), dims_.end(), [](const Dim& a, const Dim& b) { return a.in > b.in; });
  }

  int64_t count() const {
    int64_t n = 1;
    for (const Dim& d : dims_) n *= d.size;
    return n;
  }
  int64_t in_stride() const { return in_stride_; }
  int64_t out_stride() const { return out_stride_; }

  /// Offsets of `count` lines from number `first` on.
  void locate(int64_t first, int64_t count, int64_t* in, int64_t* out) const {
    for (int64_t i = 0; i < count; ++i) {
      int64_t index = first + i, from = 0, to = 0;
      for (size_t d = dims_.size(); d-- > 0;) {
        const int64_t at = index % dims_[d].size;
        index /= dims_[d].size;
        from += at * dims_[d].in;
        to += at * dims_[d].out;
      }
      in[i] = from;
      out[i] = to;
    }
  }

 private:
  struct Dim {
    int64_t size, in, out;
  };
  int64_t in_stride_, out_stride_;
  c10::SmallVector<Dim, 5> dims_;
};

/// Memory of one thread: two pairs of planes, and where the lines are. Lines pass through a tile, in which they lie side by side.
template <class T>
struct Workspace {
  std::unique_ptr<T[]> memory;
  std::vector<int64_t> in, out;
  Planes<T> a{}, b{};
  T *tile, *turned; // turn_tile may write 15 bytes more

  Workspace(int64_t length, int64_t width, int64_t tile_size)
      : memory(new T[4 * length * width + 2 * (tile_size + 16)]), in(2 * width), out(2 * width) {
    T* p = memory.get();
    a = {p, p + length * width};
    b = {p + 2 * length * width, p + 3 * length * width};
    tile = p + 4 * length * width;
    turned = tile + tile_size + 16;
  }

  /// `n` elements of each of `count` lines from number `first` on, as rows of one element of each.
  template <class E>
  const E* gather(const E* from, int64_t stride, int64_t n, int64_t first, int64_t count) {
    const int64_t* const at = in.data() + first;
    const int64_t step = spacing(at, count);
    E* const to = reinterpret_cast<E*>(tile);
    if (stride == 1 && step > 1) {
      turn_tile(sizeof(E), from + at[0], step * int64_t(sizeof(E)), count, n, to);
      return to;
    }
    for (int64_t i = 0; i < n; ++i) {
      if (step == 1) {
        std::copy_n(from + at[0] + i * stride, count, to + i * count);
        continue;
      }
      for (int64_t q = 0; q < count; ++q) to[i * count + q] = from[at[q] + i * stride];
    }
    return to;
  }

  /// The way back, of the rows that were put into `tile`.
  template <class E>
  void scatter(E* to, int64_t stride, int64_t n, int64_t first, int64_t count) {
    const int64_t* const at = out.data() + first;
    const E* const from = reinterpret_cast<const E*>(tile);
    if (stride == 1 && count > 1) {
      E* const lines = reinterpret_cast<E*>(turned);
      turn_tile(sizeof(E), from, count * int64_t(sizeof(E)), n, count, lines);
      for (int64_t q = 0; q < count; ++q) std::copy_n(lines + q * n, n, to + at[q]);
      return;
    }
    const int64_t step = spacing(at, count);
    for (int64_t i = 0; i < n; ++i) {
      if (step == 1) {
        std::copy_n(from + i * count, count, to + at[0] + i * stride);
        continue;
      }
      for (int64_t q = 0; q < count; ++q) to[at[q] + i * stride] = from[i * count + q];
    }
  }

 private:
  /// How far lines are apart, 0 unless all are as far.
  static int64_t spacing(const int64_t* at, int64_t count) {
    if (count < 2) return 0;
    const int64_t step = at[1] - at[0];
    for (int64_t q = 2; q < count; ++q) {
      if (at[q] - at[q - 1] != step) return 0;
    }
    return step;
  }
};

constexpr int64_t kMostLines = 16;

/// Lines to take at once: many for short ones; long ones fill the cache alone.
int64_t lines_at_once(int64_t length, int64_t lines) {
  const int64_t fit = std::max<int64_t>(1, (1 << 16) / std::max<int64_t>(length, 1));
  return std::clamp<int64_t>(std::min(fit, lines), 1, kMostLines);
}

/// Calls f(workspace, first, count) on groups of lines, `per_column` of which share a column of the planes.
template <class T, class F>
void for_line_groups(const FftPlan<T>& plan, int64_t lines, int64_t per_column, const F& f) {
  const int64_t length = plan.inner != nullptr ? plan.inner->n : plan.n;
  const int64_t width = lines_at_once(length, (lines + per_column - 1) / per_column);
  const int64_t group = width * per_column, groups = (lines + group - 1) / group;
  at::parallel_for(0, groups, std::max<int64_t>(1, 16384 / (length * group)), [&](int64_t begin, int64_t end) {
    Workspace<T> work(length, width, 2 * (plan.n + 2) * group);
    for (int64_t g = begin; g < end; ++g) {
      const int64_t count = std::min(group, lines - g * group);
      f(work, g * group, count);
    }
  });
}

/// Which signs elements are read with: the tensor may be a lazy conjugate or negative.
template <class T>
struct Signs {
  T re, im;
  explicit Signs(const TensorBase& t) : re(t.is_neg() ? -1 : 1), im(t.is_neg() != t.is_conj() ? -1 : 1) {}
};

/// Real and imaginary parts of complex numbers, one after the other, into planes.
template <class T>
void split(const T* __restrict from, int64_t count, Signs<T> sign, T* __restrict re, T* __restrict im) {
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) {
    re[i] = sign.re * from[2 * i];
    im[i] = sign.im * from[2 * i + 1];
  }
}

template <class T>
void complex_lines(const TensorBase& in, const TensorBase& out, int64_t dim, bool forward, T scale) {
  const int64_t n = in.size(dim);
  const auto plan = fft_plan<T>(n);
  const Lines lines(in, out, dim);
  const auto* from = in.const_data_ptr<c10::complex<T>>();
  auto* to = out.mutable_data_ptr<c10::complex<T>>();
  const Signs<T> sign(in);
  for_line_groups<T>(*plan, lines.count(), 1, [&](Workspace<T>& work, int64_t first, int64_t count) {
    lines.locate(first, count, work.in.data(), work.out.data());
    // A backward transform is a forward one with real and imaginary parts swapped.
    T* const re = forward ? work.a.re : work.a.im;
    T* const im = forward ? work.a.im : work.a.re;
    const T* const x = reinterpret_cast<const T*>(work.gather(from, lines.in_stride(), n, 0, count));
    split(x, n * count, sign, re, im);
    Planes<T> result = transform(*plan, count, work.a, work.b);
    if (!forward) std::swap(result.re, result.im);
    T* const y = work.tile;
#pragma omp simd
    for (int64_t i = 0; i < n * count; ++i) {
      y[2 * i] = scale * result.re[i];
      y[2 * i + 1] = scale * result.im[i];
    }
    work.scatter(to, lines.out_stride(), n, 0, count);
  });
}

// Note [Two real lines in one complex line]
// Real lines go in pairs, as real and imaginary parts. The passes mix these, so rounding errors of one line are of the size of
// the larger one, and what is not finite spreads to both. So the smaller line of a pair is scaled up by a power of two, which
// is exact, and taken back afterwards; lines that are not finite, or too far apart for that, go alone. What is left of the
// other line in a line of zeros is dropped.

/// Sizes of the lines of a group, as sums of absolute values, and what they are multiplied by to go in pairs q and q + width.
template <class T>
struct LinePairs {
  T size[2 * kMostLines] = {}, up[2 * kMostLines];
  int64_t width, count;

  LinePairs(int64_t width, int64_t count) : width(width), count(count) {
    std::fill_n(up, count, T(1));
  }

  /// Adds up a plane of n rows, whose columns are the lines from `begin`.
  void add(const T* plane, int64_t n, int64_t begin) {
    constexpr int64_t kLanes = 16;
    if (kLanes % width != 0) {
      for (int64_t i = 0; i < n; ++i) {
        for (int64_t q = 0; q < width; ++q) size[begin + q] += std::abs(plane[i * width + q]);
      }
      return;
    }
    T lanes[kLanes] = {};
    const int64_t total = n * width, whole = total / kLanes * kLanes;
    for (int64_t i = 0; i < whole; i += kLanes) {
      for (int64_t l = 0; l < kLanes; ++l) lanes[l] += std::abs(plane[i + l]);
    }
    for (int64_t i = whole; i < total; ++i) lanes[i - whole] += std::abs(plane[i]);
    for (int64_t l = 0; l < kLanes; ++l) size[begin + l % width] += lanes[l];
  }

  /// Says whether any line must be scaled.
  bool set_scales() {
    bool any = false;
    for (int64_t q = 0; q < count - width; ++q) {
      const T a = size[q], b = size[q + width];
      if (!(a > 0 && b > 0) || !std::isfinite(a) || !std::isfinite(b)) continue;
      const int steps = std::ilogb(b) - std::ilogb(a);
      if (std::abs(steps) <= 2) continue;
      up[steps > 0 ? q : q + width] = std::ldexp(T(1), std::abs(steps));
      any = true;
    }
    return any;
  }

  /// Whether the lines may share columns.
  bool fit() const {
    for (int64_t q = 0; q < count; ++q) {
      if (!std::isfinite(size[q]) || up[q] > T(1ull << 60)) return false;
    }
    return true;
  }

  /// What results are multiplied by.
  void set_factors(T scale, T* factors) const {
    for (int64_t q = 0; q < count; ++q) factors[q] = size[q] == 0 ? T(0) : scale / up[q];
  }
};

/// Real lines to half spectra, or whole ones. See Note [Two real lines in one complex line].
template <class T>
void real_to_complex_lines(const TensorBase& in, const TensorBase& out, int64_t dim, T scale) {
  const int64_t n = in.size(dim), half = n / 2 + 1;
  const bool whole = out.size(dim) == n;
  const auto plan = fft_plan<T>(n);
  const Lines lines(in, out, dim);
  const T* from = in.const_data_ptr<T>();
  auto* to = out.mutable_data_ptr<c10::complex<T>>();
  const T sign = in.is_neg() ? -1 : 1;
  for_line_groups<T>(*plan, lines.count(), 2, [&](Workspace<T>& work, int64_t first, int64_t count) {
    lines.locate(first, count, work.in.data(), work.out.data());
    // `width` lines from `begin` go in as real parts, those after them, up to `end`, as imaginary ones.
    const auto load = [&](int64_t begin, int64_t width, int64_t end) {
      const int64_t count = end - begin;
      const T* const x = work.gather(from, lines.in_stride(), n, begin, count);
      for (int64_t i = 0; i < n; ++i) {
        for (int64_t q = 0; q < width; ++q) work.a.re[i * width + q] = sign * x[i * count + q];
        for (int64_t q = width; q < count; ++q) work.a.im[i * width + q - width] = sign * x[i * count + q];
        for (int64_t q = count - width; q < width; ++q) work.a.im[i * width + q] = 0;
      }
    };
    const auto finish = [&](int64_t begin, int64_t width, int64_t end, const T* factors) {
      const Planes<T> z = transform(*plan, width, work.a, work.b);
      const int64_t count = end - begin;
      auto* const spectra = reinterpret_cast<c10::complex<T>*>(work.tile);
      // z = x + i y with real x and y: their spectra are its Hermitian and skew parts.
      for (int64_t i = 0; i < half; ++i) {
        const int64_t here = i * width, there = (i == 0 ? 0 : n - i) * width;
        const bool own_mirror = i == 0 || 2 * i == n;
        const auto put = [&](int64_t q, T re, T im) {
          const c10::complex<T> value{factors[q] * re, own_mirror ? T(0) : factors[q] * im};
          spectra[i * count + q] = value;
          if (whole && i > 0) spectra[(n - i) * count + q] = {value.real(), -value.imag()};
        };
        for (int64_t q = 0; q < width; ++q) put(q, z.re[here + q] + z.re[there + q], z.im[here + q] - z.im[there + q]);
        for (int64_t q = 0; q < count - width; ++q) {
          put(q + width, z.im[here + q] + z.im[there + q], z.re[there + q] - z.re[here + q]);
        }
      }
      work.scatter(to, lines.out_stride(), whole ? n : half, begin, count);
    };
    const int64_t width = (count + 1) / 2;
    LinePairs<T> pairs(width, count);
    T factors[2 * kMostLines];
    load(0, width, count);
    pairs.add(work.a.re, n, 0);
    pairs.add(work.a.im, n, width);
    const bool scaled = pairs.set_scales();
    if (!pairs.fit()) {
      std::fill_n(factors, count, scale / 2);
      load(0, width, width);
      finish(0, width, width, factors);
      if (count == width) return;
      load(width, count - width, count);
      finish(width, count - width, count, factors);
      return;
    }
    for (int64_t i = 0; scaled && i < n; ++i) {
      for (int64_t q = 0; q < width; ++q) work.a.re[i * width + q] *= pairs.up[q];
      for (int64_t q = width; q < count; ++q) work.a.im[i * width + q - width] *= pairs.up[q];
    }
    pairs.set_factors(scale / 2, factors);
    finish(0, width, count, factors);
  });
}

/// Half spectra to real lines. See Note [Two real lines in one complex line].
template <class T>
void complex_to_real_lines(const TensorBase& in, const TensorBase& out, int64_t dim, T scale) {
  const int64_t n = out.size(dim), half = n / 2 + 1;
  const auto plan = fft_plan<T>(n);
  const Lines lines(in, out, dim);
  const auto* from = in.const_data_ptr<c10::complex<T>>();
  T* to = out.mutable_data_ptr<T>();
  const Signs<T> sign(in);
  for_line_groups<T>(*plan, lines.count(), 2, [&](Workspace<T>& work, int64_t first, int64_t count) {
    lines.locate(first, count, work.in.data(), work.out.data());
    // `width` lines from `begin` go in as real parts, those after them, up to `end`, as imaginary ones. Gives their sizes.
    const auto load = [&](int64_t begin, int64_t width, int64_t end, const T* scales, T* sizes) {
      T up[2 * kMostLines], size[2 * kMostLines] = {};
      const int64_t count = end - begin;
      std::copy_n(scales, count, up);
      const c10::complex<T>* const spectra = work.gather(from, lines.in_stride(), half, begin, count);
      // Planes are swapped for the backward transform.
      T* const re = work.a.im;
      T* const im = work.a.re;
      for (int64_t i = 0; i < half; ++i) {
        // Numbers that are their own mirror image are real, whatever the input says.
        const bool own_mirror = i == 0 || 2 * i == n;
        const int64_t here = i * width, there = (n - i) * width;
        const auto read = [&](int64_t q) {
          const c10::complex<T> x = spectra[i * count + q];
          const Point<T> point{sign.re * x.real(), own_mirror ? T(0) : sign.im * x.imag()};
          size[q] += std::abs(point.re) + std::abs(point.im);
          return up[q] * point;
        };
        for (int64_t q = 0; q < width; ++q) {
          const Point<T> x = read(q), y = begin + q + width < end ? read(q + width) : Point<T>{0, 0};
          re[here + q] = x.re - y.im;
          im[here + q] = x.im + y.re;
          if (!own_mirror) {
            re[there + q] = x.re + y.im;
            im[there + q] = y.re - x.im;
          }
        }
      }
      std::copy_n(size, end - begin, sizes);
    };
    const auto finish = [&](int64_t begin, int64_t width, int64_t end, const T* factors) {
      Planes<T> z = transform(*plan, width, work.a, work.b);
      std::swap(z.re, z.im);
      const int64_t count = end - begin;
      T* const y = work.tile;
      for (int64_t i = 0; i < n; ++i) {
        for (int64_t q = 0; q < width; ++q) y[i * count + q] = factors[q] * z.re[i * width + q];
        for (int64_t q = width; q < count; ++q) y[i * count + q] = factors[q] * z.im[i * width + q - width];
      }
      work.scatter(to, lines.out_stride(), n, begin, count);
    };
    const int64_t width = (count + 1) / 2;
    LinePairs<T> pairs(width, count);
    T factors[2 * kMostLines], ignored[2 * kMostLines];
    load(0, width, count, pairs.up, pairs.size);
    const bool scaled = pairs.set_scales();
    if (!pairs.fit()) {
      std::fill_n(pairs.up, count, T(1));
      std::fill_n(factors, count, scale);
      load(0, width, width, pairs.up, ignored);
      finish(0, width, width, factors);
      if (count == width) return;
      load(width, count - width, count, pairs.up, ignored);
      finish(width, count - width, count, factors);
      return;
    }
    if (scaled) load(0, width, count, pairs.up, ignored);
    pairs.set_factors(scale, factors);
    finish(0, width, count, factors);
  });
}

// ---- all dimensions --------------------------------------------------------------------------------------------------------

double scale_of(int64_t normalization, double points) {
  return normalization == 0 ? 1.0 : normalization == 1 ? 1.0 / std::sqrt(points) : 1.0 / points;
}

c10::DimVector wrapped(const TensorBase& self, IntArrayRef dim) {
  c10::DimVector dims;
  for (const int64_t d : dim) dims.push_back(c10::maybe_wrap_dim(d, self.dim()));
  return dims;
}

/// Complex transforms along `dims`, from `in` to `out` and on in place.
template <class T>
void complex_dims(TensorBase in, const TensorBase& out, IntArrayRef dims, bool forward, double scale) {
  for (const int64_t d : dims) {
    complex_lines<T>(in, out, d, forward, static_cast<T>(scale));
    in = out;
    scale = 1;
  }
}

} // namespace

void fft_c2c_kernel(const TensorBase& self, IntArrayRef dim, int64_t normalization, bool forward, const TensorBase& out) {
  if (out.numel() == 0) return;
  const auto dims = wrapped(self, dim);
  if (dims.empty()) {
    Tensor(out).copy_(Tensor(self));
    return;
  }
  double points = 1;
  for (const int64_t d : dims) points *= double(self.size(d));
  dispatch("fft_c2c", out.scalar_type(), kComplex, [&]<class C> {
    using T = typename C::value_type;
    complex_dims<T>(self, out, dims, forward, scale_of(normalization, points));
  });
}

void fft_r2c_kernel(const TensorBase& self, IntArrayRef dim, int64_t normalization, bool, const TensorBase& out) {
  if (out.numel() == 0) return;
  auto dims = wrapped(self, dim);
  double points = 1;
  for (const int64_t d : dims) points *= double(self.size(d));
  const int64_t last = dims.back();
  dims.pop_back();
  dispatch("fft_r2c", self.scalar_type(), kFloatDouble, [&]<class T> {
    real_to_complex_lines<T>(self, out, last, static_cast<T>(scale_of(normalization, points)));
    complex_dims<T>(out, out, dims, /*forward=*/true, 1);
  });
}

void fft_c2r_kernel(const TensorBase& self, IntArrayRef dim, int64_t normalization, int64_t last_dim_size, const TensorBase& out) {
  if (out.numel() == 0) return;
  auto dims = wrapped(self, dim);
  const int64_t last = dims.back();
  dims.pop_back();
  double points = double(last_dim_size);
  for (const int64_t d : dims) points *= double(self.size(d));
  dispatch("fft_c2r", self.scalar_type(), kComplex, [&]<class C> {
    using T = typename C::value_type;
    TensorBase half = self;
    if (!dims.empty()) {
      half = at::empty_contiguous(self.sizes(), self.scalar_type(), kCPU);
      complex_dims<T>(self, half, dims, /*forward=*/false, 1);
    }
    complex_to_real_lines<T>(half, out, last, static_cast<T>(scale_of(normalization, points)));
  });
}

} // namespace CPU_CAPABILITY
} // namespace at::native
