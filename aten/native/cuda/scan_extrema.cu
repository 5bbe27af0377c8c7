// logcumsumexp, cummax and cummin.
#include <aten/native/cuda/scan.cuh>

#include <aten/native/cuda/dtype_cases.cuh>
#include <aten/native/cuda/memory_access.cuh>

#include <limits>

namespace at::native::cuda {

namespace {

template <class R>
__device__ R log_add(const R& a, const R& b) {
  const R low = a < b ? a : b, high = a < b ? b : a;
  if (a != a || b != b) {
    return a + b;
  }
  // Equal infinities: their difference would be NaN.
  return low == high && low - low != 0 ? low : high + ::log1p(::exp(low - high));
}
template <class R>
__device__ c10::complex<R> log_add(const c10::complex<R>& a, const c10::complex<R>& b) {
  if (a != a || b != b) {
    const R nan = std::numeric_limits<R>::quiet_NaN();
    return {nan, nan};
  }
  const c10::complex<R> low = a.real() < b.real() ? a : b, high = a.real() < b.real() ? b : a;
  if (low.real() == -std::numeric_limits<R>::infinity()) {
    return high;
  }
  // log(1 + z) by parts, z = exp(low - high).
  const R size = ::exp(low.real() - high.real()), angle = low.imag() - high.imag();
  const R x = 1 + size * ::cos(angle), y = size * ::sin(angle);
  return {static_cast<R>(high.real() + ::log(::hypot(x, y))), static_cast<R>(high.imag() + ::atan2(y, x))};
}

template <class T>
struct RunningLogSum {
  using Acc = opmath_type<T>;

  __device__ Acc identity() const {
    return Acc(-std::numeric_limits<double>::infinity());
  }
  __device__ Acc load(std::int64_t at, std::int64_t) const {
    return widen(in[at]);
  }
  __device__ void store(std::int64_t at, const Acc& total) const {
    out[at] = narrow<T>(total);
  }
  __device__ Acc operator()(const Acc& a, const Acc& b) const {
    return log_add(a, b);
  }

  const T* in;
  T* out;
};

template <class R>
struct PlacedValue {
  R value;
  std::int64_t place; // negative: none yet
};

template <class T>
struct RunningExtremum {
  using Acc = PlacedValue<opmath_type<T>>;

  __device__ Acc identity() const {
    return {0, -1};
  }
  __device__ Acc load(std::int64_t at, std::int64_t place) const {
    return {widen(in[at]), place};
  }
  __device__ void store(std::int64_t at, const Acc& best) const {
    values[at] = narrow<T>(best.value);
    indices[at] = best.place;
  }
  __device__ Acc operator()(const Acc& a, const Acc& b) const {
    if (a.place < 0 || b.place < 0) {
      return a.place < 0 ? b : a;
    }
    const bool later =
        b.value != b.value || (a.value == a.value && (greatest ? b.value >= a.value : b.value <= a.value));
    return later ? b : a;
  }

  const T* in;
  T* values;
  std::int64_t* indices;
  bool greatest;
};

} // namespace

void launch_log_scan(const ScanShape& p, c10::ScalarType dtype, const void* in, void* out) {
  FloatingOrComplexTypes::call(dtype, [&](auto type) {
    using T = decltype(type);
    run_scan(p, RunningLogSum<T>{static_cast<const T*>(in), static_cast<T*>(out)});
  });
}

void launch_running_extremum(
    const ScanShape& p, c10::ScalarType dtype, bool greatest, const void* in, void* values, std::int64_t* indices) {
  RealTypes::call(dtype, [&](auto type) {
    using T = decltype(type);
    run_scan(p, RunningExtremum<T>{static_cast<const T*>(in), static_cast<T*>(values), indices, greatest});
  });
}

} // namespace at::native::cuda
