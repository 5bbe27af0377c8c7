#include <aten/native/cpu/generic/fft_plan.h>

#include <cmath>
#include <complex>
#include <limits>
#include <list>
#include <mutex>
#include <utility>

namespace at::native {
namespace {

constexpr int64_t kLargestRadix = 31;
constexpr int64_t kNoColumns = std::numeric_limits<int64_t>::max(); // more lanes than a line has points
constexpr double kPi = 3.14159265358979323846;

/// exp(-2 pi i k / n). The angle is brought to the first octant, where sine and cosine are most exact.
std::complex<double> root(int64_t k, int64_t n) {
  k %= n;
  const __int128 eight = __int128(8) * k;
  const int octant = static_cast<int>(eight / n);
  const auto angle = [n](__int128 numerator, int64_t parts) {
    return 2 * kPi * double(numerator) / (double(n) * double(parts));
  };
  // Distance from the nearest multiple of a quarter turn, in quarters of n.
  const __int128 quarter = (octant + 1) / 2;
  const double a = angle(__int128(4) * k - quarter * n, 4);
  const double c = std::cos(a), s = std::sin(a);
  switch (static_cast<int>(quarter % 4)) {
    case 0:
      return {c, -s};
    case 1:
      return {-s, -c};
    case 2:
      return {-c, s};
    default:
      return {s, c};
  }
}

/// The radices of n, large ones first in use; empty when a prime is too large for a pass.
std::vector<int64_t> radices(int64_t n) {
  std::vector<int64_t> result;
  while (n % 8 == 0 && n % 32 != 16) {
    result.push_back(8);
    n /= 8;
  }
  while (n % 4 == 0) {
    result.push_back(4);
    n /= 4;
  }
  for (int64_t r = 2; r <= kLargestRadix; ++r) {
    while (n % r == 0) {
      result.push_back(r);
      n /= r;
    }
  }
  return n == 1 ? result : std::vector<int64_t>();
}

/// The smallest length from n on that has only the factors 2, 3 and 5, and can be a matrix of `lanes` columns if it is
/// long.
int64_t smooth_length(int64_t n, int64_t lanes) {
  if (n / lanes >= lanes) {
    return lanes * smooth_length((n + lanes - 1) / lanes, kNoColumns);
  }
  int64_t best = 1;
  while (best < n) {
    best *= 2;
  }
  for (int64_t five = 1; five < best; five *= 5) {
    for (int64_t three = five; three < best; three *= 3) {
      int64_t length = three;
      while (length < n) {
        length *= 2;
      }
      best = std::min(best, length);
    }
  }
  return best;
}

template <class T>
void add_passes(FftPlan<T>& plan, const std::vector<int64_t>& factors) {
  int64_t left = plan.n;
  const auto add_root = [&](int64_t k, int64_t n) {
    const auto w = root(k, n);
    plan.re.push_back(static_cast<T>(w.real()));
    plan.im.push_back(static_cast<T>(w.imag()));
  };
  for (const int64_t radix : factors) {
    FftPass pass{radix, left / radix, static_cast<int64_t>(plan.re.size()), 0};
    for (int64_t p = 0; p < pass.rest; ++p) {
      for (int64_t k = 1; k < radix; ++k) {
        add_root(p * k, left);
      }
    }
    pass.first_root = static_cast<int64_t>(plan.re.size());
    for (int64_t k = 0; k < radix; ++k) {
      add_root(k, radix);
    }
    plan.passes.push_back(pass);
    left = pass.rest;
  }
}

/// A plain transform in double, by halves where it can: only for making plans.
std::vector<std::complex<double>> slow_transform(const std::vector<std::complex<double>>& x) {
  const int64_t n = static_cast<int64_t>(x.size());
  if (n == 1) {
    return x;
  }
  int64_t radix = 2;
  while (n % radix != 0) {
    ++radix;
  }
  const int64_t m = n / radix;
  std::vector<std::vector<std::complex<double>>> parts;
  for (int64_t j = 0; j < radix; ++j) {
    std::vector<std::complex<double>> part(m);
    for (int64_t i = 0; i < m; ++i) {
      part[i] = x[i * radix + j];
    }
    parts.push_back(slow_transform(part));
  }
  std::vector<std::complex<double>> y(n);
  for (int64_t k = 0; k < n; ++k) {
    for (int64_t j = 0; j < radix; ++j) {
      y[k] += parts[j][k % m] * root(j * k % n, n);
    }
  }
  return y;
}

template <class T>
void add_columns(FftPlan<T>& plan, int64_t lanes) {
  const int64_t n = plan.n, rows = n / lanes;
  if (n % lanes != 0 || rows < lanes) {
    return;
  }
  plan.columns = std::make_unique<FftColumns<T>>();
  FftColumns<T>& columns = *plan.columns;
  columns.along = fft_plan<T>(rows, kNoColumns);
  columns.across = fft_plan<T>(lanes, kNoColumns);
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t column = 0; column < lanes; ++column) {
      const auto w = root(row * column, n);
      columns.re.push_back(static_cast<T>(w.real()));
      columns.im.push_back(static_cast<T>(w.imag()));
    }
  }
}

template <class T>
void add_convolution(FftPlan<T>& plan, int64_t lanes) {
  const int64_t n = plan.n, length = smooth_length(2 * n - 1, lanes);
  plan.inner = fft_plan<T>(length, lanes);
  std::vector<std::complex<double>> kernel(length);
  for (int64_t k = 0; k < n; ++k) {
    // k^2 modulo 2 n, which double precision alone would not know for large k.
    const auto w = root(static_cast<int64_t>(__int128(k) * k % (2 * n)), 2 * n);
    plan.chirp_re.push_back(static_cast<T>(w.real()));
    plan.chirp_im.push_back(static_cast<T>(w.imag()));
    kernel[k] = std::conj(w);
    if (k > 0) {
      kernel[length - k] = std::conj(w);
    }
  }
  for (const auto& value : slow_transform(kernel)) {
    plan.kernel_re.push_back(static_cast<T>(value.real() / double(length)));
    plan.kernel_im.push_back(static_cast<T>(value.imag() / double(length)));
  }
}

template <class T>
std::shared_ptr<const FftPlan<T>> make_plan(int64_t n, int64_t lanes) {
  auto plan = std::make_shared<FftPlan<T>>();
  plan->n = n;
  const auto factors = radices(n);
  if (n > 1 && factors.empty()) {
    add_convolution(*plan, lanes);
  } else {
    add_passes(*plan, factors);
    add_columns(*plan, lanes);
  }
  for (int64_t k = 0; 2 * k <= n; ++k) {
    const auto w = root(k, 2 * n);
    plan->half_re.push_back(static_cast<T>(w.real()));
    plan->half_im.push_back(static_cast<T>(w.imag()));
  }
  return plan;
}

/// The last plans in use, bounded by the number of points they are for.
template <class T>
class PlanCache {
 public:
  std::shared_ptr<const FftPlan<T>> get(int64_t n, int64_t lanes) {
    {
      const std::lock_guard lock(mutex_);
      for (auto it = plans_.begin(); it != plans_.end(); ++it) {
        if (it->plan->n == n && it->lanes == lanes) {
          plans_.splice(plans_.begin(), plans_, it);
          return plans_.front().plan;
        }
      }
    }
    auto plan = make_plan<T>(n, lanes); // not under the lock: it may ask for an inner plan
    const std::lock_guard lock(mutex_);
    plans_.push_front({lanes, plan});
    points_ += n;
    while (points_ > kMostPoints && plans_.size() > 1) {
      points_ -= plans_.back().plan->n;
      plans_.pop_back();
    }
    return plan;
  }

 private:
  static constexpr int64_t kMostPoints = 1 << 18;
  struct Known {
    int64_t lanes;
    std::shared_ptr<const FftPlan<T>> plan;
  };
  std::mutex mutex_;
  std::list<Known> plans_;
  int64_t points_ = 0;
};

} // namespace

template <class T>
std::shared_ptr<const FftPlan<T>> fft_plan(int64_t n, int64_t lanes) {
  static PlanCache<T>& cache = *new PlanCache<T>;
  return cache.get(n, lanes);
}

template std::shared_ptr<const FftPlan<float>> fft_plan<float>(int64_t n, int64_t lanes);
template std::shared_ptr<const FftPlan<double>> fft_plan<double>(int64_t n, int64_t lanes);

} // namespace at::native
