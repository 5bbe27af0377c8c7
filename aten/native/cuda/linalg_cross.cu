#include <aten/native/cuda/linalg_cross.h>

#include <aten/native/cuda/dtype_cases.cuh>
#include <aten/native/cuda/memory_access.cuh>
#include <aten/native/pointwise/math.h>
#include <c10/cuda/CUDAException.h>

namespace at::native::cuda {

namespace {

constexpr int kThreads = 256;

template <class T>
__device__ opmath_type<T> component(const char* vector, std::int64_t step, int k) {
  return widen(*reinterpret_cast<const T*>(vector + k * step));
}

template <class T>
__global__ void __launch_bounds__(kThreads)
    cross_vectors(StridedLaunch<3> walk, std::int64_t to_step, std::int64_t a_step, std::int64_t b_step) {
  const std::uint32_t index = blockIdx.x * kThreads + threadIdx.x;
  if (index >= walk.positions) {
    return;
  }
  const auto place = walk.places.get(index);
  char* const to = walk.data[0] + place.of[0];
  const char* const a = walk.data[1] + place.of[1];
  const char* const b = walk.data[2] + place.of[2];
  using Math = opmath_type<T>;
  Math x[3], y[3];
#pragma unroll
  for (int k = 0; k < 3; ++k) {
    x[k] = component<T>(a, a_step, k);
    y[k] = component<T>(b, b_step, k);
  }
#pragma unroll
  for (int k = 0; k < 3; ++k) {
    const int i = (k + 1) % 3, j = (k + 2) % 3;
    using pointwise::mul, pointwise::sub; // integers wrap
    *reinterpret_cast<T*>(to + k * to_step) = narrow<T>(sub(mul(x[i], y[j]), mul(x[j], y[i])));
  }
}

} // namespace

void launch_cross(
    c10::ScalarType dtype, const StridedLaunch<3>& walk, const std::int64_t (&steps)[3], cudaStream_t stream) {
  OneTypeOf<
      std::uint8_t, std::int8_t, std::int16_t, std::int32_t, std::int64_t, c10::Half, c10::BFloat16, float, double,
      c10::complex<float>, c10::complex<double>>::call(dtype, [&](auto type) {
    using T = decltype(type);
    cross_vectors<T><<<blocks_of(walk.positions, kThreads), kThreads, 0, stream>>>(walk, steps[0], steps[1], steps[2]);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  });
}

} // namespace at::native::cuda
