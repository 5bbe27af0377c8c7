// A kernel of a program's own, compiled with what find_package(Torch) gives: constexpr functions of the standard
// library and lambdas run on the device. Without a device the caller is told so.
#include <ATen/ATen.h>
#include <ATen/ceil_div.h>
#include <ATen/cuda/CUDAContext.h>
#include <ATen/cuda/detail/KernelUtils.h>
#include <c10/cuda/CUDAGuard.h>
#include <torch/cuda.h>

#include <algorithm>
#include <iostream>

namespace {

template <class scalar_t, class Function>
__global__ void limited(const scalar_t* in, scalar_t* out, int n, Function f) {
  CUDA_KERNEL_LOOP(i, n) {
    out[i] = static_cast<scalar_t>(std::min(f(static_cast<float>(in[i])), 4.f));
  }
}

at::Tensor limited_squares(const at::Tensor& x) {
  TORCH_CHECK(x.is_cuda(), "limited_squares takes a CUDA tensor");
  const c10::cuda::CUDAGuard guard(x.device());
  const at::Tensor in = x.contiguous();
  at::Tensor out = at::empty_like(in);
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, in.scalar_type(), "limited_squares", [&] {
    limited<scalar_t><<<at::ceil_div<int64_t>(in.numel(), 256), 256, 0, at::cuda::getCurrentCUDAStream()>>>(
        in.const_data_ptr<scalar_t>(), out.mutable_data_ptr<scalar_t>(), static_cast<int>(in.numel()),
        [] __device__(float value) { return value * value; });
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  });
  return out;
}

} // namespace

int main() {
  if (torch::cuda::is_available()) {
    const at::Tensor x = at::arange(4, at::kCUDA).to(at::kHalf);
    const bool right = at::equal(limited_squares(x).cpu(), at::tensor({0, 1, 4, 4}, at::kHalf));
    std::cout << (right ? "ok\n" : "wrong numbers\n");
    return right ? 0 : 1;
  }
  try {
    limited_squares(at::ones({4}));
  } catch (const c10::Error& e) {
    std::cout << "ok: " << e.what_without_backtrace() << '\n';
    return 0;
  }
  return 1;
}
