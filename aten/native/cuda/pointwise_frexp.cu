#include <aten/native/cuda/pointwise_frexp.h>

#include <aten/native/cuda/dtype_cases.cuh>
#include <aten/native/cuda/memory_access.cuh>
#include <c10/cuda/CUDAException.h>

namespace at::native::cuda {

namespace {

constexpr int kThreads = 256;

template <class T>
__global__ void __launch_bounds__(kThreads)
    frexp_elements(const T* in, std::int64_t n, T* mantissa, std::int32_t* exponent) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i < n) {
    const auto x = widen(in[i]);
    int power = 0;
    const auto value = ::frexp(x, &power);
    mantissa[i] = narrow<T>(value);
    exponent[i] = x - x == 0 ? power : 0;
  }
}

} // namespace

void launch_frexp(
    c10::ScalarType dtype,
    const void* in,
    std::int64_t n,
    void* mantissa,
    std::int32_t* exponent,
    cudaStream_t stream) {
  FloatingTypes::call(dtype, [&](auto type) {
    using T = decltype(type);
    frexp_elements<<<blocks_of(n, kThreads), kThreads, 0, stream>>>(
        static_cast<const T*>(in), n, static_cast<T*>(mantissa), exponent);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  });
}

} // namespace at::native::cuda
