// Transforms of lines that lie side by side in two planes, of real and of imaginary parts.
//
// Each arithmetic step runs over all the lines at once. A transform is a sequence of Stockham passes between two such
// pairs of planes, which leave the points in order. A long line that is alone is laid out as a matrix, whose columns
// are such lines.
#pragma once

#include <aten/native/cpu/generic/fft_plan.h>
#include <aten/native/cpu/transpose_square.h>
#include <aten/native/vec/Vec.h>

#include <algorithm>
#include <type_traits>
#include <utility>
#include <vector>

namespace at::native {
inline namespace CPU_CAPABILITY {

template <class T>
struct Planes {
  T* re;
  T* im;
};

/// A complex number, or a vector of them.
template <class E>
struct Point {
  E re, im;
};
template <class E>
VEC_INLINE Point<E> operator+(Point<E> a, Point<E> b) {
  return {a.re + b.re, a.im + b.im};
}
template <class E>
VEC_INLINE Point<E> operator-(Point<E> a, Point<E> b) {
  return {a.re - b.re, a.im - b.im};
}
template <class E, class W>
VEC_INLINE Point<E> operator*(Point<E> a, Point<W> w) {
  return {a.re * w.re - a.im * w.im, a.re * w.im + a.im * w.re};
}
template <class S, class E>
VEC_INLINE Point<E> operator*(S s, Point<E> a) {
  return {s * a.re, s * a.im};
}
/// -i a
template <class E>
VEC_INLINE Point<E> turned(Point<E> a) {
  return {a.im, -a.re};
}

/// One number from memory, or a vector of them.
template <class E, class T>
VEC_INLINE E load_lanes(const T* p) {
  if constexpr (std::is_same_v<E, T>) {
    return *p;
  } else {
    return E::load(p);
  }
}
template <class E, class T>
VEC_INLINE void store_lanes(E value, T* p) {
  if constexpr (std::is_same_v<E, T>) {
    *p = value;
  } else {
    value.store(p);
  }
}

// ---- butterflies
// ---------------------------------------------------------------------------------------------------------

/// cos(2 pi k / R) and sin(2 pi k / R) for 0 < k <= R / 2.
template <int R>
struct OddRoots;
template <>
struct OddRoots<3> {
  static constexpr double cos[] = {-0.5};
  static constexpr double sin[] = {0.86602540378443864676};
};
template <>
struct OddRoots<5> {
  static constexpr double cos[] = {0.30901699437494742410, -0.80901699437494742410};
  static constexpr double sin[] = {0.95105651629515357212, 0.58778525229247312917};
};
template <>
struct OddRoots<7> {
  static constexpr double cos[] = {0.62348980185873353053, -0.22252093395631440429, -0.90096886790241912624};
  static constexpr double sin[] = {0.78183148246802980871, 0.97492791218182360702, 0.43388373911755812048};
};

template <class T, class E>
VEC_INLINE void butterfly4(Point<E>& a0, Point<E>& a1, Point<E>& a2, Point<E>& a3) {
  const Point<E> even = a0 + a2, odd = a1 + a3, even_difference = a0 - a2, odd_difference = turned(a1 - a3);
  a0 = even + odd;
  a1 = even_difference + odd_difference;
  a2 = even - odd;
  a3 = even_difference - odd_difference;
}

/// a[k] = sum_j a[j] exp(-2 pi i j k / R)
template <class T, int R, class E>
VEC_INLINE void butterfly(Point<E> (&a)[R]) {
  if constexpr (R == 2) {
    const Point<E> sum = a[0] + a[1];
    a[1] = a[0] - a[1];
    a[0] = sum;
  } else if constexpr (R == 4) {
    butterfly4<T>(a[0], a[1], a[2], a[3]);
  } else if constexpr (R == 8) {
    constexpr T kHalfRoot = T(0.70710678118654752440);
    butterfly4<T>(a[0], a[2], a[4], a[6]);
    butterfly4<T>(a[1], a[3], a[5], a[7]);
    const Point<E> odd[4] = {
        a[1], kHalfRoot * Point<E>{a[3].re + a[3].im, a[3].im - a[3].re}, turned(a[5]),
        kHalfRoot * Point<E>{a[7].im - a[7].re, -(a[7].re + a[7].im)}};
    const Point<E> even[4] = {a[0], a[2], a[4], a[6]};
    for (int k = 0; k < 4; ++k) {
      a[k] = even[k] + odd[k];
      a[k + 4] = even[k] - odd[k];
    }
  } else {
    constexpr int kPairs = R / 2;
    Point<E> sum[kPairs], difference[kPairs], first = a[0];
    for (int j = 0; j < kPairs; ++j) {
      sum[j] = a[j + 1] + a[R - 1 - j];
      difference[j] = turned(a[j + 1] - a[R - 1 - j]);
      a[0] = a[0] + sum[j];
    }
    for (int k = 1; k <= kPairs; ++k) {
      Point<E> even = first, odd{};
      for (int j = 1; j <= kPairs; ++j) {
        const int turns = j * k % R;
        const T cos = T(OddRoots<R>::cos[(turns > kPairs ? R - turns : turns) - 1]);
        const T sin = T(OddRoots<R>::sin[(turns > kPairs ? R - turns : turns) - 1]);
        even = even + cos * sum[j - 1];
        odd = j == 1 ? sin * difference[0] : odd + (turns > kPairs ? -sin : sin) * difference[j - 1];
      }
      a[k] = even + odd;
      a[R - k] = even - odd;
    }
  }
}

// ---- passes
// --------------------------------------------------------------------------------------------------------------

/// y[p][k][q] = w^(p k) sum_j x[j][p][q] r^(j k), for p below `rest` and q below `width`.
template <int R, class T>
[[gnu::noinline]] void run_pass(const FftPass& pass, const FftPlan<T>& plan, int64_t width, Planes<T> x, Planes<T> y) {
  using V = vec::Vec<T>;
  const int64_t rest = pass.rest, step = rest * width;
  const T* const w_re = plan.re.data() + pass.first_twiddle;
  const T* const w_im = plan.im.data() + pass.first_twiddle;
  const T* __restrict const x_re = x.re;
  const T* __restrict const x_im = x.im;
  T* __restrict const y_re = y.re;
  T* __restrict const y_im = y.im;
  const auto one = [=]<class E, bool Twiddled>(
      E, int64_t from, int64_t to, const Point<T>* w, std::bool_constant<Twiddled>) __attribute__((always_inline)) {
    Point<E> a[R];
    for (int j = 0; j < R; ++j) {
      a[j] = {load_lanes<E>(x_re + from + j * step), load_lanes<E>(x_im + from + j * step)};
    }
    butterfly<T>(a);
    for (int k = 0; k < R; ++k) {
      const Point<E> result = Twiddled && k > 0 ? a[k] * w[k] : a[k];
      store_lanes(result.re, y_re + to + k * width);
      store_lanes(result.im, y_im + to + k * width);
    }
  };
  if (rest == 1) {
    int64_t q = 0;
    for (; q + V::size() <= width; q += V::size()) {
      one(V(), q, q, nullptr, std::false_type());
    }
#pragma omp simd
    for (int64_t l = q; l < width; ++l) {
      one(T(), l, l, nullptr, std::false_type());
    }
    return;
  }
  const auto twiddles = [=](int64_t p, Point<T> * w) __attribute__((always_inline)) {
    for (int k = 1; k < R; ++k) {
      w[k] = {w_re[p * (R - 1) + k - 1], w_im[p * (R - 1) + k - 1]};
    }
  };
  if (width == 1) {
    // Nothing lies side by side yet: run over the groups instead.
#pragma omp simd
    for (int64_t p = 0; p < rest; ++p) {
      Point<T> w[R];
      twiddles(p, w);
      one(T(), p, p * R, w, std::true_type());
    }
    return;
  }
  for (int64_t p = 0; p < rest; ++p) {
    Point<T> w[R];
    twiddles(p, w);
    const int64_t from = p * width, to = p * R * width;
    int64_t q = 0;
    for (; q + V::size() <= width; q += V::size()) {
      one(V(), from + q, to + q, w, std::true_type());
    }
#pragma omp simd
    for (int64_t l = q; l < width; ++l) {
      one(T(), from + l, to + l, w, std::true_type());
    }
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
      if (k == 0 || p == 0) {
        continue;
      }
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
      case 2:
        run_pass<2>(pass, plan, width, a, b);
        break;
      case 3:
        run_pass<3>(pass, plan, width, a, b);
        break;
      case 4:
        run_pass<4>(pass, plan, width, a, b);
        break;
      case 5:
        run_pass<5>(pass, plan, width, a, b);
        break;
      case 7:
        run_pass<7>(pass, plan, width, a, b);
        break;
      case 8:
        run_pass<8>(pass, plan, width, a, b);
        break;
      default:
        run_any_pass(pass, plan, width, a, b);
        break;
    }
    width *= pass.radix;
    std::swap(a, b);
  }
  return a;
}

// ---- whole transforms
// ------------------------------------------------------------------------------------------------------

/// y[column][row] = x[row][column] w[row][column], in squares of 16 bytes; both sides have whole ones, or the last
/// overlap.
template <class T>
void turn_columns(const FftColumns<T>& columns, int64_t rows, int64_t width, Planes<T> x, Planes<T> y) {
  constexpr int N = 16 / sizeof(T);
  using V = vec::Vec<T, N>;
  for (int64_t r = 0; r < rows; r += N) {
    const int64_t row = std::min(r, rows - N);
    for (int64_t column = 0; column < width; column += N) {
      V re[N], im[N];
      for (int i = 0; i < N; ++i) {
        const int64_t at = (row + i) * width + column;
        const Point<V> product = Point<V>{V::load(x.re + at), V::load(x.im + at)} *
            Point<V>{V::load(columns.re.data() + at), V::load(columns.im.data() + at)};
        re[i] = product.re;
        im[i] = product.im;
      }
      transpose_square(re);
      transpose_square(im);
      for (int i = 0; i < N; ++i) {
        re[i].store(y.re + (column + i) * rows + row);
        im[i].store(y.im + (column + i) * rows + row);
      }
    }
  }
}

/// As run_passes, but a single line goes by columns if it can.
template <class T>
Planes<T> run_lines(const FftPlan<T>& plan, int64_t width, Planes<T> a, Planes<T> b) {
  if (width > 1 || plan.columns == nullptr) {
    return run_passes(plan, width, a, b);
  }
  const FftColumns<T>& columns = *plan.columns;
  const int64_t rows = columns.along->n, lanes = columns.across->n;
  const Planes<T> x = run_passes(*columns.along, lanes, a, b);
  const Planes<T> y = x.re == a.re ? b : a;
  turn_columns(columns, rows, lanes, x, y);
  return run_passes(*columns.across, rows, y, x);
}

template <class T>
void multiply_lines(Planes<T> x, int64_t count, int64_t width, const std::vector<T>& re, const std::vector<T>& im) {
  const auto one = [&](int64_t at, Point<T> w) __attribute__((always_inline)) {
    const Point<T> value = Point<T>{x.re[at], x.im[at]} * w;
    x.re[at] = value.re;
    x.im[at] = value.im;
  };
  if (width == 1) {
#pragma omp simd
    for (int64_t i = 0; i < count; ++i) {
      one(i, {re[i], im[i]});
    }
    return;
  }
  for (int64_t i = 0; i < count; ++i) {
#pragma omp simd
    for (int64_t q = 0; q < width; ++q) {
      one(i * width + q, {re[i], im[i]});
    }
  }
}

/// Transforms `width` lines of plan.n points in `a`; the result is in the planes that come back, `a` or `b`.
template <class T>
Planes<T> transform(const FftPlan<T>& plan, int64_t width, Planes<T> a, Planes<T> b) {
  if (plan.inner == nullptr) {
    return run_lines(plan, width, a, b);
  }
  // Bluestein: x times a chirp, convolved with the opposite chirp, times the chirp again.
  const int64_t n = plan.n, length = plan.inner->n;
  multiply_lines(a, n, width, plan.chirp_re, plan.chirp_im);
  std::fill(a.re + n * width, a.re + length * width, T(0));
  std::fill(a.im + n * width, a.im + length * width, T(0));
  const Planes<T> spectrum = run_lines(*plan.inner, width, a, b);
  multiply_lines(spectrum, length, width, plan.kernel_re, plan.kernel_im);
  // The way back swaps real and imaginary parts before and after.
  const Planes<T> other = spectrum.re == a.re ? b : a;
  Planes<T> result = run_lines(*plan.inner, width, Planes<T>{spectrum.im, spectrum.re}, Planes<T>{other.im, other.re});
  std::swap(result.re, result.im);
  multiply_lines(result, n, width, plan.chirp_re, plan.chirp_im);
  return result;
}

} // namespace CPU_CAPABILITY
} // namespace at::native
