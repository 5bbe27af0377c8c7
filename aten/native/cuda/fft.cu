#include <aten/native/cuda/fft.h>

#include <aten/native/cuda/dtype_cases.cuh>
#include <c10/cuda/CUDAException.h>

namespace at::native::cuda {

namespace {

constexpr int kThreads = 256;

template <class T>
struct alignas(2 * sizeof(T)) Complex {
  T real, imag;
};

template <class T>
__global__ void __launch_bounds__(kThreads) fft_mirror(FftMirror p, std::int64_t count) {
  std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= count) {
    return;
  }
  const std::int64_t there = p.size[2] / 2 + 1, missing = p.size[2] - there;
  const std::int64_t z = there + i % missing;
  i /= missing;
  const std::int64_t y = i % p.size[1];
  i /= p.size[1];
  const std::int64_t x = i % p.size[0];
  Complex<T>* spectrum = static_cast<Complex<T>*>(p.data) + i / p.size[0] * p.distance;
  const std::int64_t mirror_x = x == 0 ? 0 : p.size[0] - x, mirror_y = y == 0 ? 0 : p.size[1] - y,
                     mirror_z = p.size[2] - z;
  const Complex<T> image = spectrum[mirror_x * p.stride[0] + mirror_y * p.stride[1] + mirror_z * p.stride[2]];
  spectrum[x * p.stride[0] + y * p.stride[1] + z * p.stride[2]] = {image.real, -image.imag};
}

} // namespace

void launch_fft_mirror(const FftMirror& p) {
  const std::int64_t count = p.batch * p.size[0] * p.size[1] * (p.size[2] - p.size[2] / 2 - 1);
  if (count == 0) {
    return;
  }
  OneTypeOf<c10::Half, float, double>::call(p.dtype, [&](auto type) {
    using T = decltype(type);
    fft_mirror<T><<<blocks_of(count, kThreads), kThreads, 0, p.stream>>>(p, count);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  });
}

} // namespace at::native::cuda
