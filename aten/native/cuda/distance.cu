#include <aten/native/cuda/distance.h>

#include <aten/native/cuda/dtype_cases.cuh>
#include <aten/native/cuda/thread_group.cuh>
#include <c10/cuda/CUDAException.h>

namespace at::native::cuda {

namespace {

constexpr int kThreads = 128;

using DistanceTypes = OneTypeOf<float, double>;

/// The kinds of norm: each sums up its own function of a difference.
enum class Norm : int { Zero, One, Two, Infinity, Other };

Norm norm_of(double p) {
  return p == 0 ? Norm::Zero : p == 1 ? Norm::One : p == 2 ? Norm::Two : p - p != 0 ? Norm::Infinity : Norm::Other;
}

struct GreaterOrNan {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return a != a || a > b ? a : b;
  }
};

template <class T>
__device__ T term(Norm norm, T p, T difference) {
  const T size = ::fabs(difference);
  switch (norm) {
    case Norm::Zero:
      return difference != 0 ? T(1) : T(0);
    case Norm::Two:
      return difference * difference;
    case Norm::Other:
      return ::pow(size, p);
    default:
      return size;
  }
}

// A warp takes one pair of rows.
template <class T>
__global__ void __launch_bounds__(kThreads) distances(Distances d, Norm norm, T* out) {
  using Warp = ThreadGroup<false>;
  const std::int64_t pair = Warp::row();
  if (pair >= d.batch * d.rows * d.others) {
    return;
  }
  const std::int64_t row = pair / d.others, matrix = row / d.rows;
  const T* a = static_cast<const T*>(d.a) + row * d.cols;
  const T* b = static_cast<const T*>(d.b) + (matrix * d.others + pair % d.others) * d.cols;
  const T p = static_cast<T>(d.p);
  T sum = 0;
  for (std::int64_t i = Warp::rank(); i < d.cols; i += 32) {
    const T x = term(norm, p, a[i] - b[i]);
    sum = norm == Norm::Infinity ? GreaterOrNan()(sum, x) : sum + x;
  }
  sum = norm == Norm::Infinity ? Warp::reduce(sum, GreaterOrNan()) : Warp::reduce(sum, Add());
  if (Warp::rank() == 0) {
    out[pair] = norm == Norm::Two ? ::sqrt(sum) : norm == Norm::Other ? ::pow(sum, 1 / p) : sum;
  }
}

template <class T>
__device__ T slope(Norm norm, T p, T distance, T difference) {
  const T sign = difference > 0 ? T(1) : difference < 0 ? T(-1) : T(0);
  switch (norm) {
    case Norm::Zero:
      return 0;
    case Norm::One:
      return sign;
    case Norm::Two:
      return distance == 0 ? T(0) : difference / distance;
    case Norm::Infinity:
      return ::fabs(difference) == distance ? sign : T(0);
    default:
      // For p below one the slope at zero is infinite, and none is given.
      return distance == 0 || difference == 0 ? T(0) : sign * ::pow(::fabs(difference), p - 1) / ::pow(distance, p - 1);
  }
}

template <class T>
__global__ void __launch_bounds__(kThreads)
    distances_backward(Distances d, Norm norm, const T* grad, const T* distances, T* grad_a) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= d.batch * d.rows * d.cols) {
    return;
  }
  const std::int64_t row = i / d.cols, column = i - row * d.cols;
  const T a = static_cast<const T*>(d.a)[i], p = static_cast<T>(d.p);
  const T* b = static_cast<const T*>(d.b) + row / d.rows * d.others * d.cols + column;
  T sum = 0;
  for (std::int64_t j = 0; j < d.others; ++j) {
    sum += grad[row * d.others + j] * slope(norm, p, distances[row * d.others + j], a - b[j * d.cols]);
  }
  grad_a[i] = sum;
}

} // namespace

void launch_distances(const Distances& d, void* out) {
  const Norm norm = norm_of(d.p);
  DistanceTypes::call(d.dtype, [&](auto type) {
    using T = decltype(type);
    distances<T><<<blocks_of(d.batch * d.rows * d.others, kThreads / 32), kThreads, 0, d.stream>>>(
        d, norm, static_cast<T*>(out));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  });
}

void launch_distances_backward(const Distances& d, const void* grad, const void* distances, void* grad_a) {
  const Norm norm = norm_of(d.p);
  DistanceTypes::call(d.dtype, [&](auto type) {
    using T = decltype(type);
    distances_backward<T><<<blocks_of(d.batch * d.rows * d.cols, kThreads), kThreads, 0, d.stream>>>(
        d, norm, static_cast<const T*>(grad), static_cast<const T*>(distances), static_cast<T*>(grad_a));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  });
}

} // namespace at::native::cuda
