// var, std, var_mean, std_mean: two passes over each short run while it is in cache, runs combined by the formula of
// Chan, Golub and LeVeque. A large mean must not eat the variance:
//
// Note [Squares of deviations]
// Long runs of float, half and bfloat16 are taken in vectors of float. The first pass gives a shift near the run's
// mean. Deviations from it are small numbers, exact where the mean is large beside them, and the second pass sums them
// (which is how far the shift is from the mean) and their squares, in float for some dozen elements, then in double.
// Everything else is in double, also runs whose squares leave float's range or lose bits at its lower end, and the mean
// where it is a result: one near zero would have the rounding errors of elements far from it.
#include <aten/native/cpu/reduce_arithmetic.h>
#include <aten/native/cpu/row_lanes.h>

#include <aten/core/Tensor.h>
#include <aten/core/TensorSpec.h>

#include <c10/core/Scalar.h>

#include <cmath>
#include <limits>

namespace at::native {
inline namespace CPU_CAPABILITY {

namespace {

template <class T>
struct Components {
  static constexpr int count = 1;
  static double get(auto x, int) {
    return static_cast<double>(x);
  }
};
template <class T>
struct Components<c10::complex<T>> {
  static constexpr int count = 2;
  static double get(c10::complex<T> x, int part) {
    return part == 0 ? x.real() : x.imag();
  }
};

template <int N>
struct Moments {
  double count;
  double mean[N];
  double squares; // sum of |x - mean|^2
};

template <class T>
struct Variance {
  using In = T;
  using Parts = Components<T>;
  static constexpr int kParts = Parts::count;
  using Acc = Moments<kParts>;
  bool mean_wanted; // beside the variance

  Acc identity() const {
    return Acc{};
  }

  Acc combine(const Acc& a, const Acc& b) const {
    if (a.count == 0 || b.count == 0) {
      return a.count == 0 ? b : a;
    }
    Acc joined;
    joined.count = a.count + b.count;
    joined.squares = a.squares + b.squares;
    const double weight = b.count / joined.count;
    for (int part = 0; part < kParts; ++part) {
      const double delta = b.mean[part] - a.mean[part];
      joined.mean[part] = a.mean[part] + delta * weight;
      joined.squares += delta * delta * a.count * weight;
    }
    return joined;
  }

  Acc run(const T* in, int64_t count, int64_t stride) const {
    if constexpr (std::is_same_v<T, float>) {
      if (stride == 1) {
        return run_adjacent(in, count, in + count);
      }
    }
    if constexpr (kInFloat) {
      float adjacent[kRunInputs];
      widen(in, count, stride, adjacent);
      return Variance<float>{mean_wanted}.run_adjacent(adjacent, count, in + count * stride);
    } else {
      return run_in_double(in, count, stride);
    }
  }

  /// A run of adjacent floats; `next` is what is read after it, elements of the same or a shorter type.
  template <class Next>
  Acc run_adjacent(const float* in, int64_t count, const Next* next) const {
    if (count >= kStep) {
      const Acc acc = run_in_float(in, count, next);
      if (acc.squares >= acc.count * kLeastSquare && acc.squares <= kLargest) {
        return acc;
      }
    }
    return run_in_double(in, count, 1);
  }

  void rows(const T* in, int64_t rows, int64_t row_stride, int64_t width, int64_t column_stride, Acc* out) const {
    double mean[kBlockColumns];
    double squares[kBlockColumns];
    for (int part = 0; part < kParts; ++part) {
      if (column_stride != 1) {
        column_moments(in, rows, row_stride, width, column_stride, part, mean, squares);
      } else if (!columns_in_float(in, rows, row_stride, width, mean, squares)) {
        column_moments(in, rows, row_stride, width, std::integral_constant<int64_t, 1>{}, part, mean, squares);
      }
      for (int64_t j = 0; j < width; ++j) {
        out[j].count = static_cast<double>(rows);
        out[j].mean[part] = mean[j];
        out[j].squares = part == 0 ? squares[j] : out[j].squares + squares[j];
      }
    }
  }

 private:
  using V = vec::VecFloat;
  static constexpr bool kInFloat =
      std::is_same_v<T, float> || std::is_same_v<T, c10::Half> || std::is_same_v<T, c10::BFloat16>;
  static constexpr int kChains = 4;
  static constexpr int64_t kStep = kChains * V::size();

  /// Squares of deviations that are exact enough when summed in float: below, they are denormal.
  static constexpr double kLeastSquare = 0x1p-100, kLargest = std::numeric_limits<double>::max();

  /// The sum of chains of float vectors, in double.
  class WideSum {
   public:
    void add(const V* chains) {
      const V joined = (chains[0] + chains[1]) + (chains[2] + chains[3]);
      low_ += vec::convert<double>(vec::detail::low(joined));
      high_ += vec::convert<double>(vec::detail::high(joined));
    }
    double total() const {
      return vec::reduce_add(low_ + high_);
    }

   private:
    vec::Vec<double> low_{0.0}, high_{0.0};
  };

  Acc run_in_double(const T* in, int64_t count, int64_t stride) const {
    Acc acc{static_cast<double>(count), {}, 0};
    for (int part = 0; part < kParts; ++part) {
      const double first = origin(in[0], part);
      const double mean = running_mean(
          first + fold_lanes(PartSum{part, first}, in, count, stride) / acc.count, in, count, stride, part);
      acc.mean[part] = mean;
      acc.squares += fold_lanes(SquareSum{part, mean}, in, count, stride);
    }
    return acc;
  }

  /// At least kStep floats.
  template <class Next>
  Acc run_in_float(const float* in, int64_t count, const Next* next) const {
    const auto n = static_cast<double>(count);
    const int64_t whole = count - count % kStep;
    double mean = 0;
    float shift;
    if (mean_wanted) {
      mean = fold_lanes(Variance<float>::PartSum{0, 0.0}, in, count, 1) / n;
      shift = static_cast<float>(mean);
    } else {
      V sums[kChains] = {V(0.0f), V(0.0f), V(0.0f), V(0.0f)};
      for (int64_t i = 0; i < whole; i += kStep) {
        for (int c = 0; c < kChains; ++c) {
          sums[c] += V::load(in + i + c * V::size());
        }
      }
      shift = vec::reduce_add((sums[0] + sums[1]) + (sums[2] + sums[3])) / static_cast<float>(whole);
    }

    constexpr int64_t kFlush = 8 * kStep;
    WideSum wide_deviations, wide_squares;
    for (int64_t first = 0; first < whole; first += kFlush) {
      V deviations[kChains] = {V(0.0f), V(0.0f), V(0.0f), V(0.0f)},
        squares[kChains] = {V(0.0f), V(0.0f), V(0.0f), V(0.0f)};
      for (int64_t i = first; i < std::min(whole, first + kFlush); i += kStep) {
        prefetch(next + i, kStep);
        for (int c = 0; c < kChains; ++c) {
          const V deviation = V::load(in + i + c * V::size()) - V(shift);
          deviations[c] += deviation;
          squares[c] += deviation * deviation;
        }
      }
      wide_deviations.add(deviations);
      wide_squares.add(squares);
    }
    double deviations = wide_deviations.total(), squares = wide_squares.total();
    for (int64_t i = whole; i < count; ++i) {
      const double deviation = static_cast<double>(in[i]) - shift;
      deviations += deviation;
      squares += deviation * deviation;
    }
    return {n, {mean_wanted ? mean : shift + deviations / n}, std::max(0.0, squares - deviations * deviations / n)};
  }

  /// Adjacent columns of a few rows; false where they are to be computed in double. One pass, with the shift of the
  /// first rows, if that is near enough to the mean, which is known afterwards; else another one.
  bool columns_in_float(
      const T* in, int64_t rows, int64_t row_stride, int64_t width, double* mean, double* squares) const {
    constexpr int kFirstRows = 8;
    if constexpr (!kInFloat) {
      return false;
    } else {
      if (rows < kFirstRows || width < V::size()) {
        return false;
      }
      float shift[kBlockColumns];
      if (mean_wanted) {
        column_means(in, rows, row_stride, width, std::integral_constant<int64_t, 1>{}, 0, mean);
        std::copy(mean, mean + width, shift);
        double near[kBlockColumns];
        return shifted_columns(in, rows, row_stride, width, shift, near, squares);
      }
      std::fill(shift, shift + width, 0.0f);
      add_rows<kFirstRows>(in, row_stride, width, shift);
      for (int64_t j = 0; j < width; ++j) {
        shift[j] *= 1.0f / kFirstRows;
      }
      if (shifted_columns(in, rows, row_stride, width, shift, mean, squares)) {
        return true;
      }
      std::copy(mean, mean + width, shift);
      return shifted_columns(in, rows, row_stride, width, shift, mean, squares);
    }
  }

  /// Gives mean and squares by deviations from `shift`; whether all of them are exact enough.
  static bool shifted_columns(
      const T* in, int64_t rows, int64_t row_stride, int64_t width, const float* shift, double* mean, double* squares) {
    constexpr int64_t kFlushRows = 32;
    constexpr double kFar = 2; // the square of shift - mean over the variance
    const auto count = static_cast<double>(rows), each = 1 / count;
    float sums[2][kBlockColumns];
    std::fill(mean, mean + width, 0.0);
    std::fill(squares, squares + width, 0.0);
    for (int64_t first = 0; first < rows; first += kFlushRows) {
      std::fill(sums[0], sums[0] + width, 0.0f);
      std::fill(sums[1], sums[1] + width, 0.0f);
      const T* from = in + first * row_stride;
      const int64_t some = std::min(kFlushRows, rows - first), fours = some / 4 * 4;
      for (int64_t r = 0; r < fours; r += 4) {
        add_deviations<4>(from + r * row_stride, row_stride, width, shift, sums[0], sums[1]);
      }
      for (int64_t r = fours; r < some; ++r) {
        add_deviations<1>(from + r * row_stride, row_stride, width, shift, sums[0], sums[1]);
      }
      for (int64_t j = 0; j < width; ++j) {
        mean[j] += sums[0][j];
        squares[j] += sums[1][j];
      }
    }
    int64_t inexact = 0;
    for (int64_t j = 0; j < width; ++j) {
      const double deviation = mean[j] * each, excess = mean[j] * deviation;
      squares[j] = std::max(0.0, squares[j] - excess);
      mean[j] = shift[j] + deviation;
      inexact |= int64_t(!(squares[j] >= count * kLeastSquare)) | int64_t(!(squares[j] <= kLargest)) |
          int64_t(!(excess <= kFar * squares[j]));
    }
    return inexact == 0;
  }

  template <int kRows>
  static void add_rows(const T* in, int64_t row_stride, int64_t width, float* sums) {
    for_lanes<T>(width, [&](int64_t j, auto run) {
      V sum = load_run<float>(sums + j, run);
      for (int r = 0; r < kRows; ++r) {
        sum += load_run(in + r * row_stride + j, run);
      }
      store_run<float>(sum, sums + j, run);
    });
  }

  template <int kRows>
  static void add_deviations(
      const T* in, int64_t row_stride, int64_t width, const float* shift, float* deviations, float* squares) {
    for_lanes<T>(width, [&](int64_t j, auto run) {
      const V center = load_run<float>(shift + j, run);
      V sum = load_run<float>(deviations + j, run), square = load_run<float>(squares + j, run);
      for (int r = 0; r < kRows; ++r) {
        const V deviation = load_run(in + r * row_stride + j, run) - center;
        sum += deviation;
        square += deviation * deviation;
      }
      store_run<float>(sum, deviations + j, run);
      store_run<float>(square, squares + j, run);
    });
  }

  /// What sums for a mean count from: of equal elements the mean is then exact, and no deviation is left. Not from
  /// numbers so large that a difference may overflow.
  static double origin(T first, int part) {
    const double value = Parts::get(first, part);
    return std::fabs(value) < std::numeric_limits<double>::max() / 4 ? value : 0.0;
  }

  /// A mean updated element by element, m += (x - m) / n, stays infinite only where the infinity comes last: PyTorch's
  /// is that.
  static double running_mean(double mean, const T* in, int64_t count, int64_t stride, int part) {
    if (!std::isinf(mean)) {
      return mean;
    }
    for (int64_t i = 0; i + 1 < count; ++i) {
      if (!std::isfinite(Parts::get(in[i * stride], part))) {
        return std::numeric_limits<double>::quiet_NaN();
      }
    }
    return mean;
  }

  struct PartSum {
    using In = T;
    using Acc = double;
    int part;
    double origin;
    double map(T x) const {
      return Parts::get(x, part) - origin;
    }
    double combine(double a, double b) const {
      return a + b;
    }
  };
  struct SquareSum {
    using In = T;
    using Acc = double;
    static constexpr bool kLooksAgain = true;
    int part;
    double mean;
    double map(T x) const {
      const double delta = Parts::get(x, part) - mean;
      return delta * delta;
    }
    double combine(double a, double b) const {
      return a + b;
    }
  };

  template <class Stride>
  static void column_means(
      const T* in, int64_t rows, int64_t row_stride, int64_t width, Stride stride, int part, double* __restrict mean) {
    double origins[kBlockColumns];
    for (int64_t j = 0; j < width; ++j) {
      origins[j] = origin(in[j * stride], part);
    }
    std::fill(mean, mean + width, 0.0);
    for (int64_t r = 0; r < rows; ++r) {
      const RowOf<T, Stride> row(in + r * row_stride, width, stride);
      for (int64_t j = 0; j < width; ++j) {
        mean[j] += Parts::get(row.data[j * row.stride], part) - origins[j];
      }
    }
    const double count = static_cast<double>(rows);
    for (int64_t j = 0; j < width; ++j) {
      mean[j] = running_mean(origins[j] + mean[j] / count, in + j * stride, rows, row_stride, part);
    }
  }

  template <class Stride>
  static void column_moments(
      const T* in,
      int64_t rows,
      int64_t row_stride,
      int64_t width,
      Stride stride,
      int part,
      double* __restrict mean,
      double* __restrict squares) {
    column_means(in, rows, row_stride, width, stride, part, mean);
    std::fill(squares, squares + width, 0.0);
    for (int64_t r = 0; r < rows; ++r) {
      const RowOf<T, Stride> row(in + r * row_stride, width, stride);
      for (int64_t j = 0; j < width; ++j) {
        const double delta = Parts::get(row.data[j * row.stride], part) - mean[j];
        squares[j] += delta * delta;
      }
    }
  }
};

template <class T>
struct RealElement {
  using type = T;
};
template <class T>
struct RealElement<c10::complex<T>> {
  using type = T;
};

// Stores the variance or deviation and, where wanted, the mean: then both outputs are contiguous, and one offset
// serves.
template <class T>
class StoreMoments {
 public:
  StoreMoments(const TensorBase& out, const TensorBase& mean, const std::optional<Scalar>& correction, bool root)
      : out_(out.mutable_data_ptr<Real>()),
        mean_(mean.defined() ? mean.mutable_data_ptr<T>() : nullptr),
        subtract_(correction.has_value() ? correction->toDouble() : 1.0),
        root_(root) {}

  void operator()(int64_t offset, const typename Variance<T>::Acc& acc) const {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const double variance = acc.count == 0 ? nan : acc.squares / std::max(0.0, acc.count - subtract_);
    out_[offset] = static_cast<Real>(root_ ? std::sqrt(variance) : variance);
    if (mean_ == nullptr) {
      return;
    }
    const auto part = [&](int i) { return static_cast<Real>(acc.count == 0 ? nan : acc.mean[i]); };
    if constexpr (c10::is_complex<T>::value) {
      mean_[offset] = T(part(0), part(1));
    } else {
      mean_[offset] = part(0);
    }
  }

 private:
  using Real = typename RealElement<T>::type;
  Real* out_;
  T* mean_;
  double subtract_;
  bool root_;
};

// `mean` may be undefined.
void moments(
    const char* name,
    const TensorBase& self,
    OptionalIntArrayRef dim,
    const std::optional<Scalar>& correction,
    bool root,
    const TensorBase& out,
    const TensorBase& mean) {
  if (self.scalar_type() == ScalarType::ComplexHalf) {
    const Tensor wide = at::empty_contiguous(out.sizes(), ScalarType::Float, out.device());
    const Tensor wide_mean =
        mean.defined() ? at::empty_contiguous(mean.sizes(), ScalarType::ComplexFloat, out.device()) : Tensor();
    moments(
        name, self.to(c10::TensorOptions().dtype(ScalarType::ComplexFloat)), dim, correction, root, wide, wide_mean);
    Tensor(out).copy_(wide);
    if (mean.defined()) {
      Tensor(mean).copy_(wide_mean);
    }
    return;
  }
  const ReducePlan plan = plan_reduction(self, reduced_dims(dim, self.dim()), out);
  dispatch(name, self.scalar_type(), kFloating | kComplex, [&]<class T> {
    fold(Variance<T>{mean.defined()}, plan, self.const_data_ptr<T>(), StoreMoments<T>(out, mean, correction, root));
  });
}

} // namespace

void var_kernel(
    const TensorBase& self,
    OptionalIntArrayRef dim,
    const std::optional<Scalar>& correction,
    bool,
    const TensorBase& out) {
  moments("var_cpu", self, dim, correction, /*root=*/false, out, TensorBase());
}

void std_kernel(
    const TensorBase& self,
    OptionalIntArrayRef dim,
    const std::optional<Scalar>& correction,
    bool,
    const TensorBase& out) {
  moments("std_cpu", self, dim, correction, /*root=*/true, out, TensorBase());
}

void var_mean_kernel(
    const TensorBase& self,
    OptionalIntArrayRef dim,
    const std::optional<Scalar>& correction,
    bool,
    const TensorBase& out,
    const TensorBase& mean) {
  moments("var_mean_cpu", self, dim, correction, /*root=*/false, out, mean);
}

void std_mean_kernel(
    const TensorBase& self,
    OptionalIntArrayRef dim,
    const std::optional<Scalar>& correction,
    bool,
    const TensorBase& out,
    const TensorBase& mean) {
  moments("std_mean_cpu", self, dim, correction, /*root=*/true, out, mean);
}

} // namespace CPU_CAPABILITY
} // namespace at::native
