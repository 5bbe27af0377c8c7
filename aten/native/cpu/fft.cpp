// Fourier transforms along the dimensions of a tensor.
//
// Lines are brought into two planes, of real and of imaginary parts: some lines side by side, or one line alone if it
// is long and its points are neighbours. The transform itself is in fft_passes.h. Real lines of an even number of
// points go as complex ones of half as many: points 2 j and 2 j + 1 are the parts of a complex point.
#include <aten/core/Tensor.h>
#include <aten/core/TensorSpec.h>
#include <aten/core/dtype_dispatch.h>
#include <aten/native/cpu/fft_passes.h>
#include <aten/parallel/Parallel.h>

#include <c10/core/CPUAllocator.h>
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

// ---- lines of tensors
// ------------------------------------------------------------------------------------------------------

/// Where the points of lines are: counted in numbers, real parts `step` apart, imaginary ones `im` behind them. Either
/// may be 0 where one element stands for all of a line.
struct Layout {
  static constexpr int64_t kNone = -1; // no imaginary parts
  int64_t step, im;

  static Layout complex(int64_t stride) {
    return {2 * stride, 1};
  }
  /// Pairs of reals as complex points.
  static Layout pairs(int64_t stride) {
    return {2 * stride, stride};
  }
  static Layout real(int64_t stride) {
    return {stride, kNone};
  }
  bool is_real() const {
    return im == kNone;
  }
  bool interleaved() const {
    return step == 2 && im == 1;
  }
};

/// All lines along one dimension of two tensors that agree in the other dimensions.
class Lines {
 public:
  Lines(const TensorBase& in, const TensorBase& out, int64_t dim) {
    const int64_t in_unit = in.is_complex() ? 2 : 1, out_unit = out.is_complex() ? 2 : 1;
    for (int64_t d = 0; d < in.dim(); ++d) {
      if (d != dim && in.size(d) != 1) {
        dims_.push_back({in.size(d), in.stride(d) * in_unit, out.stride(d) * out_unit});
      }
    }
    // Lines that are neighbours in memory are neighbours in number.
    std::stable_sort(dims_.begin(), dims_.end(), [](const Dim& a, const Dim& b) { return a.in > b.in; });
    for (size_t d = dims_.size(); d-- > 1;) {
      Dim& outer = dims_[d - 1];
      const Dim& inner = dims_[d];
      if (outer.in != inner.size * inner.in || outer.out != inner.size * inner.out) {
        continue;
      }
      outer = {outer.size * inner.size, inner.in, inner.out};
      dims_.erase(dims_.begin() + d);
    }
  }

  int64_t count() const {
    int64_t n = 1;
    for (const Dim& d : dims_) {
      n *= d.size;
    }
    return n;
  }

  /// Offsets of `count` lines from number `first` on, counted in numbers.
  void locate(int64_t first, int64_t count, int64_t* in, int64_t* out) const {
    c10::SmallVector<int64_t, 5> at(dims_.size());
    int64_t from = 0, to = 0;
    for (size_t d = dims_.size(); d-- > 0;) {
      at[d] = first % dims_[d].size;
      first /= dims_[d].size;
      from += at[d] * dims_[d].in;
      to += at[d] * dims_[d].out;
    }
    for (int64_t i = 0; i < count; ++i) {
      in[i] = from;
      out[i] = to;
      for (size_t d = dims_.size(); d-- > 0;) {
        from += dims_[d].in;
        to += dims_[d].out;
        if (++at[d] < dims_[d].size) {
          break;
        }
        from -= dims_[d].in * dims_[d].size;
        to -= dims_[d].out * dims_[d].size;
        at[d] = 0;
      }
    }
  }

 private:
  struct Dim {
    int64_t size, in, out;
  };
  c10::SmallVector<Dim, 5> dims_;
};

/// Which signs elements are read with: the tensor may be a lazy conjugate or negative.
template <class T>
struct Signs {
  T re, im;
  explicit Signs(const TensorBase& t) : re(t.is_neg() ? -1 : 1), im(t.is_neg() != t.is_conj() ? -1 : 1) {}
};

/// Real and imaginary parts of complex numbers that lie one after the other, into planes.
template <class T>
void split(const T* __restrict from, int64_t count, Signs<T> sign, T* __restrict re, T* __restrict im) {
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) {
    re[i] = sign.re * from[2 * i];
    im[i] = sign.im * from[2 * i + 1];
  }
}

/// The way back.
template <class T>
void merge(const T* __restrict re, const T* __restrict im, int64_t count, T scale, T* __restrict to) {
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) {
    to[2 * i] = scale * re[i];
    to[2 * i + 1] = scale * im[i];
  }
}

template <class T>
void copy_scaled(const T* __restrict from, int64_t count, T scale, T* __restrict to) {
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) {
    to[i] = scale * from[i];
  }
}

/// Whether all offsets are `step` apart.
bool evenly(const int64_t* at, int64_t count, int64_t step) {
  for (int64_t q = 1; q < count; ++q) {
    if (at[q] - at[q - 1] != step) {
      return false;
    }
  }
  return true;
}

/// n points of each of `count` lines into planes, side by side.
template <class T>
void load_lines(
    const T* from, const int64_t* at, Layout layout, int64_t n, int64_t count, Signs<T> sign, Planes<T> to) {
  const auto [step, im] = layout;
  if (layout.is_real()) {
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t q = 0; q < count; ++q) {
        to.re[i * count + q] = sign.re * from[at[q] + i * step];
      }
    }
    std::fill_n(to.im, n * count, T(0));
    return;
  }
  if (count == 1 && layout.interleaved()) {
    return split(from + at[0], n, sign, to.re, to.im);
  }
  if (count > 1 && im == 1 && evenly(at, count, 2)) {
    for (int64_t i = 0; i < n; ++i) {
      split(from + at[0] + i * step, count, sign, to.re + i * count, to.im + i * count);
    }
    return;
  }
  if (count > 1 && evenly(at, count, 1)) {
    for (int64_t i = 0; i < n; ++i) {
      copy_scaled(from + at[0] + i * step, count, sign.re, to.re + i * count);
      copy_scaled(from + at[0] + i * step + im, count, sign.im, to.im + i * count);
    }
    return;
  }
  // Squares: N lines each, and the real and imaginary parts of N / 2 points.
  using S = Squares<T>;
  using V = typename S::V;
  constexpr int N = S::kRows;
  const int64_t square_lines = layout.interleaved() ? count / S::kLanes * S::kLanes : 0,
                square_points = n / (N / 2) * (N / 2);
  for (int64_t q = 0; q < square_lines; q += S::kLanes) {
    const T* lines[S::kLanes];
    for (int l = 0; l < S::kLanes; ++l) {
      lines[l] = from + at[q + l];
    }
    for (int64_t i = 0; i < square_points; i += N / 2) {
      V x[N];
      for (int l = 0; l < N; ++l) {
        x[l] = S::join([&](int block)
                           __attribute__((always_inline)) { return S::Row::load(lines[block * N + l] + 2 * i); });
      }
      S::transpose(x);
      for (int j = 0; j < N / 2; ++j) {
        (V(sign.re) * x[2 * j]).store(to.re + (i + j) * count + q);
        (V(sign.im) * x[2 * j + 1]).store(to.im + (i + j) * count + q);
      }
    }
  }
  for (int64_t q = 0; q < count; ++q) {
    for (int64_t i = q < square_lines ? square_points : 0; i < n; ++i) {
      to.re[i * count + q] = sign.re * from[at[q] + i * step];
      to.im[i * count + q] = sign.im * from[at[q] + i * step + im];
    }
  }
}

/// The way back, scaled.
template <class T>
void store_lines(Planes<T> from, int64_t n, int64_t count, T scale, T* to, const int64_t* at, Layout layout) {
  const auto [step, im] = layout;
  if (layout.is_real()) {
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t q = 0; q < count; ++q) {
        to[at[q] + i * step] = scale * from.re[i * count + q];
      }
    }
    return;
  }
  if (count == 1 && layout.interleaved()) {
    return merge(from.re, from.im, n, scale, to + at[0]);
  }
  if (count > 1 && im == 1 && evenly(at, count, 2)) {
    for (int64_t i = 0; i < n; ++i) {
      merge(from.re + i * count, from.im + i * count, count, scale, to + at[0] + i * step);
    }
    return;
  }
  if (count > 1 && evenly(at, count, 1)) {
    for (int64_t i = 0; i < n; ++i) {
      copy_scaled(from.re + i * count, count, scale, to + at[0] + i * step);
      copy_scaled(from.im + i * count, count, scale, to + at[0] + i * step + im);
    }
    return;
  }
  using S = Squares<T>;
  using V = typename S::V;
  constexpr int N = S::kRows;
  const int64_t square_lines = layout.interleaved() ? count / S::kLanes * S::kLanes : 0,
                square_points = n / (N / 2) * (N / 2);
  for (int64_t q = 0; q < square_lines; q += S::kLanes) {
    T* lines[S::kLanes];
    for (int l = 0; l < S::kLanes; ++l) {
      lines[l] = to + at[q + l];
    }
    for (int64_t i = 0; i < square_points; i += N / 2) {
      V x[N];
      for (int j = 0; j < N / 2; ++j) {
        x[2 * j] = V(scale) * V::load(from.re + (i + j) * count + q);
        x[2 * j + 1] = V(scale) * V::load(from.im + (i + j) * count + q);
      }
      S::transpose(x);
      for (int l = 0; l < N; ++l) {
        S::split(
            x[l], [&](int block, typename S::Row row) __attribute__((always_inline)) {
              row.store(lines[block * N + l] + 2 * i);
            });
      }
    }
  }
  for (int64_t q = 0; q < count; ++q) {
    for (int64_t i = q < square_lines ? square_points : 0; i < n; ++i) {
      to[at[q] + i * step] = scale * from.re[i * count + q];
      to[at[q] + i * step + im] = scale * from.im[i * count + q];
    }
  }
}

// ---- groups of lines
// -------------------------------------------------------------------------------------------------------

constexpr int64_t kMostLines = 64;

/// Lines to take at once: whole vectors of them, many short ones. One is enough if it can be laid out by columns.
template <class T>
int64_t lines_at_once(const FftPlan<T>& plan, int64_t lines, bool neighbours) {
  const FftPlan<T>& passes = plan.inner != nullptr ? *plan.inner : plan;
  if (neighbours && passes.columns != nullptr) {
    return 1;
  }
  constexpr int64_t kLanes = vec::Vec<T>::size();
  const int64_t fit = 2048 / passes.n / kLanes * kLanes;
  return std::min(lines, std::clamp(fit, std::max<int64_t>(kLanes, 8), kMostLines));
}

/// Memory of one thread: two pairs of planes, and where the lines are.
template <class T>
struct Workspace {
  int64_t in[kMostLines], out[kMostLines];
  Planes<T> a, b;

  explicit Workspace(int64_t numbers) {
    // Planes begin at lines of the cache, which do not compete for the same sets.
    constexpr int64_t kLine = 64 / sizeof(T);
    const int64_t plane = (numbers + 3 * kLine) / kLine * kLine;
    memory_ = c10::GetCPUAllocator()->allocate(static_cast<size_t>(4 * plane + kLine) * sizeof(T));
    T* const p = static_cast<T*>(memory_.get()) + (64 - reinterpret_cast<uintptr_t>(memory_.get()) % 64) / sizeof(T);
    a = {p, p + plane};
    b = {p + 2 * plane, p + 3 * plane};
  }

 private:
  c10::DataPtr memory_;
};

/// Calls f(workspace, count) on groups of lines, with planes for `points` points of each.
template <class T, class F>
void for_line_groups(const FftPlan<T>& plan, const Lines& lines, int64_t points, bool neighbours, const F& f) {
  const int64_t count = lines.count(), width = lines_at_once(plan, count, neighbours);
  points = std::max(points, plan.inner != nullptr ? plan.inner->n : plan.n);
  at::parallel_for(
      0, (count + width - 1) / width, std::max<int64_t>(1, 16384 / (points * width)), [&](int64_t begin, int64_t end) {
        Workspace<T> work(points * width);
        for (int64_t group = begin; group < end; ++group) {
          const int64_t first = group * width, here = std::min(width, count - first);
          lines.locate(first, here, work.in, work.out);
          f(work, here);
        }
      });
}

template <class T>
std::shared_ptr<const FftPlan<T>> plan_of(int64_t n) {
  return fft_plan<T>(n, vec::Vec<T>::size());
}

template <class T>
const T* numbers_of(const TensorBase& t) {
  return static_cast<const T*>(t.const_data_ptr());
}
template <class T>
T* mutable_numbers_of(const TensorBase& t) {
  return static_cast<T*>(t.mutable_data_ptr());
}

template <class T>
Planes<T> swapped(Planes<T> x) {
  return {x.im, x.re};
}

template <class T>
void complex_lines(const TensorBase& in, const TensorBase& out, int64_t dim, bool forward, T scale) {
  const int64_t n = in.size(dim);
  const auto plan = plan_of<T>(n);
  const T* const from = numbers_of<T>(in);
  T* const to = mutable_numbers_of<T>(out);
  const Signs<T> sign(in);
  const auto in_layout = Layout::complex(in.stride(dim)), out_layout = Layout::complex(out.stride(dim));
  for_line_groups<T>(*plan, Lines(in, out, dim), n, in_layout.interleaved(), [&](Workspace<T>& work, int64_t count) {
    // A backward transform is a forward one with real and imaginary parts swapped.
    load_lines(from, work.in, in_layout, n, count, sign, forward ? work.a : swapped(work.a));
    const Planes<T> result = transform(*plan, count, work.a, work.b);
    store_lines(forward ? result : swapped(result), n, count, scale, to, work.out, out_layout);
  });
}

// ---- real lines
// ------------------------------------------------------------------------------------------------------------

// Note [Real lines as complex ones]
// Points 2 j and 2 j + 1 of a real line of n = 2 h points are the parts of point j of a complex line z of h points.
// With E and O the transforms of the even and the odd points, and w = exp(-2 pi i / n),
//
//     Z[k] = E[k] + i O[k],  E[h - k] = conj(E[k]),  O[h - k] = conj(O[k]),   so E and O come from Z[k] and Z[h - k];
//     X[k] = E[k] + w^k O[k],  X[h - k] = conj(E[k] - w^k O[k]).
//
// The way back goes the same way. A line of an odd number of points is transformed as a complex one.

/// f(k, w, here, there) for each k from 1 to h / 2 and each line, with the offsets of point k and point h - k.
template <class T, class F>
void for_mirrored(const FftPlan<T>& plan, int64_t width, const F& f) {
  const int64_t h = plan.n;
  const T* const w_re = plan.half_re.data();
  const T* const w_im = plan.half_im.data();
  if (width == 1) {
#pragma omp simd
    for (int64_t k = 1; k <= h / 2; ++k) {
      f(Point<T>{w_re[k], w_im[k]}, k, h - k);
    }
    return;
  }
  for (int64_t k = 1; k <= h / 2; ++k) {
    const Point<T> w{w_re[k], w_im[k]};
#pragma omp simd
    for (int64_t q = 0; q < width; ++q) {
      f(w, k * width + q, (h - k) * width + q);
    }
  }
}

/// Z[0 .. h) to X[0 .. h], in place.
template <class T>
void spectra_of_pairs(const FftPlan<T>& plan, int64_t width, Planes<T> z) {
  T* const re = z.re;
  T* const im = z.im;
  const int64_t last = plan.n * width;
  for_mirrored(
      plan, width, [=](Point<T> w, int64_t here, int64_t there) __attribute__((always_inline)) {
        const Point<T> even{T(0.5) * (re[here] + re[there]), T(0.5) * (im[here] - im[there])};
        const Point<T> odd = Point<T>{T(0.5) * (im[here] + im[there]), T(0.5) * (re[there] - re[here])} * w;
        re[here] = even.re + odd.re;
        im[here] = even.im + odd.im;
        re[there] = even.re - odd.re;
        im[there] = odd.im - even.im;
      });
#pragma omp simd
  for (int64_t q = 0; q < width; ++q) {
    re[last + q] = re[q] - im[q];
    re[q] = re[q] + im[q];
    im[q] = im[last + q] = 0;
  }
}

/// X[0 .. h] to Z[0 .. h), in place. What the first and the last point say of imaginary parts is ignored.
template <class T>
void pairs_of_spectra(const FftPlan<T>& plan, int64_t width, Planes<T> x) {
  T* const re = x.re;
  T* const im = x.im;
  const int64_t last = plan.n * width;
#pragma omp simd
  for (int64_t q = 0; q < width; ++q) {
    im[q] = re[q] - re[last + q];
    re[q] = re[q] + re[last + q];
  }
  for_mirrored(
      plan, width, [=](Point<T> w, int64_t here, int64_t there) __attribute__((always_inline)) {
        const Point<T> even{re[here] + re[there], im[here] - im[there]};
        const Point<T> odd = Point<T>{re[here] - re[there], im[here] + im[there]} * Point<T>{w.re, -w.im};
        re[here] = even.re - odd.im;
        im[here] = even.im + odd.re;
        re[there] = even.re + odd.im;
        im[there] = odd.re - even.im;
      });
}

/// The second half of whole spectra of real lines of n points, from the first n / 2 + 1 points.
template <class T>
void mirror(Planes<T> x, int64_t n, int64_t width) {
  for (int64_t k = n / 2 + 1; k < n; ++k) {
#pragma omp simd
    for (int64_t q = 0; q < width; ++q) {
      x.re[k * width + q] = x.re[(n - k) * width + q];
      x.im[k * width + q] = -x.im[(n - k) * width + q];
    }
  }
}

/// Real lines to half spectra, or whole ones. See Note [Real lines as complex ones].
template <class T>
void real_to_complex_lines(const TensorBase& in, const TensorBase& out, int64_t dim, T scale) {
  const int64_t n = in.size(dim), points = out.size(dim);
  const bool even = n % 2 == 0;
  const auto plan = plan_of<T>(even ? n / 2 : n);
  const T* const from = numbers_of<T>(in);
  T* const to = mutable_numbers_of<T>(out);
  const auto in_layout = even ? Layout::pairs(in.stride(dim)) : Layout::real(in.stride(dim));
  const auto out_layout = Layout::complex(out.stride(dim));
  Signs<T> sign(in);
  sign.im = sign.re;
  for_line_groups<T>(*plan, Lines(in, out, dim), points, in.stride(dim) == 1, [&](Workspace<T>& work, int64_t count) {
    load_lines(from, work.in, in_layout, plan->n, count, sign, work.a);
    const Planes<T> result = transform(*plan, count, work.a, work.b);
    if (even) {
      spectra_of_pairs(*plan, count, result);
    } else {
      std::fill_n(result.im, count, T(0));
    }
    if (points == n) {
      mirror(result, n, count);
    }
    store_lines(result, points, count, scale, to, work.out, out_layout);
  });
}

/// Half spectra to real lines. See Note [Real lines as complex ones].
template <class T>
void complex_to_real_lines(const TensorBase& in, const TensorBase& out, int64_t dim, T scale) {
  const int64_t n = out.size(dim), points = n / 2 + 1;
  const bool even = n % 2 == 0;
  const auto plan = plan_of<T>(even ? n / 2 : n);
  const T* const from = numbers_of<T>(in);
  T* const to = mutable_numbers_of<T>(out);
  const auto in_layout = Layout::complex(in.stride(dim));
  const auto out_layout = even ? Layout::pairs(out.stride(dim)) : Layout::real(out.stride(dim));
  const Signs<T> sign(in);
  for_line_groups<T>(
      *plan, Lines(in, out, dim), points, in_layout.interleaved(), [&](Workspace<T>& work, int64_t count) {
        // Planes are swapped for the backward transform.
        const Planes<T> x = swapped(work.a);
        load_lines(from, work.in, in_layout, points, count, sign, x);
        if (even) {
          pairs_of_spectra(*plan, count, x);
        } else {
          std::fill_n(x.im, count, T(0));
          mirror(x, n, count);
        }
        store_lines(swapped(transform(*plan, count, work.a, work.b)), plan->n, count, scale, to, work.out, out_layout);
      });
}

// ---- all dimensions
// --------------------------------------------------------------------------------------------------------

double scale_of(int64_t normalization, double points) {
  return normalization == 0 ? 1.0 : normalization == 1 ? 1.0 / std::sqrt(points) : 1.0 / points;
}

c10::DimVector wrapped(const TensorBase& self, IntArrayRef dim) {
  c10::DimVector dims;
  for (const int64_t d : dim) {
    dims.push_back(c10::maybe_wrap_dim(d, self.dim()));
  }
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

void fft_c2c_kernel(
    const TensorBase& self, IntArrayRef dim, int64_t normalization, bool forward, const TensorBase& out) {
  if (out.numel() == 0) {
    return;
  }
  const auto dims = wrapped(self, dim);
  if (dims.empty()) {
    Tensor(out).copy_(Tensor(self));
    return;
  }
  double points = 1;
  for (const int64_t d : dims) {
    points *= double(self.size(d));
  }
  dispatch("fft_c2c", out.scalar_type(), kComplex, [&]<class C> {
    using T = typename C::value_type;
    complex_dims<T>(self, out, dims, forward, scale_of(normalization, points));
  });
}

void fft_r2c_kernel(const TensorBase& self, IntArrayRef dim, int64_t normalization, bool, const TensorBase& out) {
  if (out.numel() == 0) {
    return;
  }
  auto dims = wrapped(self, dim);
  double points = 1;
  for (const int64_t d : dims) {
    points *= double(self.size(d));
  }
  const int64_t last = dims.back();
  dims.pop_back();
  dispatch("fft_r2c", self.scalar_type(), kFloatDouble, [&]<class T> {
    real_to_complex_lines<T>(self, out, last, static_cast<T>(scale_of(normalization, points)));
    complex_dims<T>(out, out, dims, /*forward=*/true, 1);
  });
}

void fft_c2r_kernel(
    const TensorBase& self, IntArrayRef dim, int64_t normalization, int64_t last_dim_size, const TensorBase& out) {
  if (out.numel() == 0) {
    return;
  }
  auto dims = wrapped(self, dim);
  const int64_t last = dims.back();
  dims.pop_back();
  double points = double(last_dim_size);
  for (const int64_t d : dims) {
    points *= double(self.size(d));
  }
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
