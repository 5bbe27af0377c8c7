// Vector norms, variance and standard deviation.
#include <aten/native/cuda/reduce_ops.cuh>

#include <cmath>

namespace at::native::cuda {

namespace {

template <class T>
struct RealOf {
  using type = T;
};
template <class T>
struct RealOf<c10::complex<T>> {
  using type = T;
};

enum class NormKind { Zero, One, Two, Infinity, MinusInfinity, Other };

NormKind kind_of(double p) {
  return p == 0                                       ? NormKind::Zero
      : p == 1                                        ? NormKind::One
      : p == 2                                        ? NormKind::Two
      : p == std::numeric_limits<double>::infinity()  ? NormKind::Infinity
      : p == -std::numeric_limits<double>::infinity() ? NormKind::MinusInfinity
                                                      : NormKind::Other;
}

// The kind is the same for all threads: one kernel for all of them.
template <class Math>
struct Norm {
  using Acc = typename RealOf<Math>::type;

  __device__ Acc identity() const {
    return kind == NormKind::MinusInfinity ? std::numeric_limits<Acc>::infinity() : Acc(0);
  }
  __device__ Acc map(Math x, std::int64_t) const {
    if (kind == NormKind::Two) {
      return squared(x);
    }
    const Acc length = magnitude(x);
    return kind == NormKind::Zero ? Acc(length != Acc(0)) : kind == NormKind::Other ? ::pow(length, p) : length;
  }
  __device__ Acc combine(Acc a, Acc b) const {
    if (kind == NormKind::Infinity) {
      return a > b || not_a_number(a) ? a : b;
    }
    if (kind == NormKind::MinusInfinity) {
      return a < b || not_a_number(a) ? a : b;
    }
    return a + b;
  }
  __device__ void store(std::int64_t at, Acc a) const {
    store_as<Acc>(
        out.data, out.dtype, at,
        kind == NormKind::Two         ? ::sqrt(a)
            : kind == NormKind::Other ? ::pow(a, Acc(1) / p)
                                      : a);
  }

  static __device__ Acc magnitude(Math x) {
    if constexpr (is_complex<Math>) {
      return ::hypot(x.real(), x.imag());
    } else {
      return ::fabs(x);
    }
  }
  static __device__ Acc squared(Math x) {
    if constexpr (is_complex<Math>) {
      return x.real() * x.real() + x.imag() * x.imag();
    } else {
      return x * x;
    }
  }

  ReduceOutput out;
  NormKind kind;
  Acc p;
};

// Running mean and sum of squared differences; parts combine as Chan, Golub and LeVeque do.
template <class R>
struct Moments {
  R count, mean, squares;
};

template <class R>
struct Variance {
  using Acc = Moments<R>;
  __device__ Acc identity() const {
    return {R(0), R(0), R(0)};
  }
  __device__ Acc map(R x, std::int64_t) const {
    return {R(1), x, R(0)};
  }
  __device__ Acc combine(const Acc& a, const Acc& b) const {
    const R count = a.count + b.count;
    if (count == R(0)) {
      return a;
    }
    const R delta = b.mean - a.mean, share = b.count / count;
    return {count, a.mean + delta * share, a.squares + b.squares + delta * delta * a.count * share};
  }
  __device__ void store(std::int64_t at, const Acc& a) const {
    const R freedom = a.count - correction;
    const R variance = a.squares / (freedom > R(0) ? freedom : R(0));
    store_as<R>(out.data, out.dtype, at, root ? ::sqrt(variance) : variance);
    if (mean != nullptr) {
      store_as<R>(mean, out.dtype, at, a.mean);
    }
  }
  ReduceOutput out;
  void* mean;
  R correction;
  bool root;
};

} // namespace

void launch_norm(const ReduceRun& run, double p, const ReduceInput& in, void* out) {
  const auto launch = [&](auto elements, auto math) {
    using Math = decltype(math);
    const ReduceOutput output{c10::toRealValueType(in.dtype), out};
    launch_reduce(run, Norm<Math>{output, kind_of(p), static_cast<typename Norm<Math>::Acc>(p)}, elements);
  };
  c10::isComplexType(in.dtype) ? with_complex(in, launch) : with_floating(in, launch);
}

void launch_moments(const ReduceRun& run, bool root, double correction, const ReduceInput& in, void* out, void* mean) {
  with_floating(in, [&](auto elements, auto math) {
    using R = decltype(math);
    launch_reduce(run, Variance<R>{{in.dtype, out}, mean, static_cast<R>(correction), root}, elements);
  });
}

} // namespace at::native::cuda
